"""Names of files on the Hugging Face hub, and where they are kept on this disk."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self
from urllib.parse import quote

from notewell.errors import without_logins

HUB: Final = "https://huggingface.co"
_SCHEME: Final = re.compile(r"(?:hf|huggingface):(?://)?")
_PART: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_ACCEPTED: Final = "hf:<owner>/<repository>/<file>.gguf"


class BadHubName(ValueError):
    """A text names no file on the hub; the message says what would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFile:
    """One GGUF file of a repository.

    Attributes:
        owner: Whose repository.
        repository: Its name.
        file: The path in it, POSIX.
        revision: A branch, a tag or a commit.
    """

    owner: str
    repository: str
    file: str
    revision: str = "main"

    @classmethod
    def parse(cls, reference: str) -> Self:
        """Read `hf:owner/repository/file.gguf`, with `#revision` where one is meant.

        Raises:
            BadHubName: it is something else, or leads out of a repository.
        """
        scheme = _SCHEME.match(reference)
        if scheme is None:
            raise BadHubName(f"accepted: {_ACCEPTED}")
        path, _, revision = reference[scheme.end() :].partition("#")
        parts = path.split("/")
        if len(parts) == 2:
            raise BadHubName(f"name the file in that repository: {_ACCEPTED}")
        sound = all(map(_PART.fullmatch, parts)) and len(parts) > 2
        if not sound or not path.lower().endswith(".gguf"):
            raise BadHubName(f"accepted: {_ACCEPTED}")
        if revision and not all(map(_PART.fullmatch, revision.split("/"))):
            raise BadHubName(f"accepted: {_ACCEPTED}, or the same with #<revision>")
        owner, repository, *rest = parts
        file = "/".join(rest)
        return cls(
            owner=owner, repository=repository, file=file, revision=revision or "main"
        )

    def address(self, endpoint: str) -> str:
        """Return where the file is fetched from."""
        repository = f"{endpoint}/{self.owner}/{self.repository}"
        revision = quote(self.revision, safe="")
        return f"{repository}/resolve/{revision}/{quote(self.file)}"

    def page(self, endpoint: str) -> str:
        """Return the page of the model, which states its licence, for people."""
        return without_logins(f"{endpoint}/{self.owner}/{self.repository}")

    @property
    def local_name(self) -> str:
        """The name under which OpenClaw's runtime (node-llama-cpp) keeps the file.

        >>> HubFile.parse("hf:ggml-org/gemma-GGUF/gemma-Q8_0.gguf").local_name
        'hf_ggml-org_gemma-Q8_0.gguf'
        >>> HubFile.parse("hf:me/zoo/small/cat.gguf#v2").local_name
        'hf_me_zoo_v2_small_cat.gguf'
        """
        *folders, name = self.file.split("/")
        words = ["hf", self.owner]
        plain = self.revision == "main"
        if not (plain and _tells_the_model(name, self.repository)):
            words.append(self.repository)
        if not plain:
            words.append(self.revision.replace("/", "!"))
        if folders and folders[-1].lower() == name[: -len(".gguf")].lower():
            folders = folders[:-1]
        if folders:
            words.append("__".join(folders))
        return "_".join([*words, name])


def _tells_the_model(name: str, repository: str) -> bool:
    """Whether a file is called like its repository, `-GGUF` aside."""
    model = repository.lower().removesuffix("-gguf")
    return model != repository.lower() and name.lower().startswith(model)


def endpoint_of(environ: Mapping[str, str]) -> str:
    """Return the hub's address; HF_ENDPOINT names another."""
    return (environ.get("HF_ENDPOINT") or HUB).rstrip("/")


def models_folder(configured: Path | None, home: Path) -> Path:
    """Return where GGUF files are kept: OpenClaw's folder, so that both share them."""
    return configured or home / ".node-llama-cpp" / "models"


def home_of(environ: Mapping[str, str]) -> Path:
    """Return the home folder as the environment has it."""
    return Path(environ.get("HOME") or Path.home())
