"""A folder with a model for sentence-transformers: what its files say, loading it.

https://sbert.net/docs/sentence_transformer/usage/custom_models.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from notewell.adapters.embeddings.hub import home_of
from notewell.adapters.embeddings.prefixes import Prefixes, prefixes_for
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

NAME: Final = "sentence-transformers"

_WEIGHTS: Final = ("*.safetensors", "*.bin", "*.onnx")
_WIDTHS: Final = ("hidden_size", "d_model", "dim", "n_embd")


def is_path(name: str) -> bool:
    """Whether a model is named by the path of its folder, which looks like one.

    A folder of that name where somebody happens to be must not stand in for a model.
    """
    return name.startswith(("/", "~", "./", "../"))


def repository(name: str) -> str:
    """Return the repository that a model's name means.

    >>> repository("all-MiniLM-L6-v2")
    'sentence-transformers/all-MiniLM-L6-v2'
    """
    return name if "/" in name else f"{NAME}/{name}"


def onnx_installed() -> bool:
    """Whether sentence-transformers can run a model by ONNX, which is quicker."""
    return all(find_spec(name) is not None for name in ("onnxruntime", "optimum"))


def hub_cache(environ: Mapping[str, str]) -> Path:
    """Return the folder where the Hugging Face libraries keep what they fetch."""
    for variable, inside in (
        ("SENTENCE_TRANSFORMERS_HOME", ""),
        ("HF_HUB_CACHE", ""),
        ("HF_HOME", "hub"),
        ("XDG_CACHE_HOME", "huggingface/hub"),
    ):
        if environ.get(variable):
            return Path(environ[variable]).expanduser() / inside
    return home_of(environ) / ".cache" / "huggingface" / "hub"


def folder_of(name: str, environ: Mapping[str, str]) -> Path:
    """Return the folder of a model, which need not be there."""
    if is_path(name):
        return Path(name).expanduser()
    place = hub_cache(environ) / f"models--{repository(name).replace('/', '--')}"
    try:
        commit = (place / "refs" / "main").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return place
    return place / "snapshots" / commit


class Folder:
    """A model's folder. Its files are read when they are asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def there(self) -> bool:
        """Whether there is a model, as far as that shows without loading it."""
        described = (self.path / "config.json", self.path / "modules.json")
        return any(p.is_file() for p in described) and bool(self.weights())

    def weights(self) -> list[Path]:
        """Return the files with the model's numbers, of one kind."""
        for pattern in _WEIGHTS:
            if found := sorted(self.path.rglob(pattern)):
                return found
        return []

    def label(self, name: str) -> str:
        """Return what to call the model: a name on the hub, or its family."""
        if not is_path(name):
            return repository(name)
        return str(self._json("config.json").get("model_type", "model"))

    def prefixes(self, name: str) -> Prefixes:
        """Return the model's own prompts, or those that its family is known for."""
        prompts = self._json("config_sentence_transformers.json").get("prompts")
        own = cast("dict[str, object]", prompts) if isinstance(prompts, dict) else {}
        document = own.get("document") or own.get("passage") or ""
        found = Prefixes(str(own.get("query") or ""), str(document))
        return found if found.query or found.document else prefixes_for(name)

    def dimension(self) -> int | None:
        """Return the length of the vectors; None if only the model knows."""
        modules = self._modules()
        if not modules:
            return None
        size: object = None
        for kind, place in modules:
            settings = self._json(f"{place}/config.json" if place else "config.json")
            if kind == "Transformer":
                size = next((settings[key] for key in _WIDTHS if key in settings), None)
            elif kind == "Pooling":
                size = _pooled(settings) or size
            elif kind == "Dense":
                size = settings.get("out_features")
            elif kind != "Normalize":
                return None
        return size if isinstance(size, int) and size > 0 else None

    def load(self) -> SentenceTransformer:
        """Load the model; nothing is fetched.

        Raises:
            EmbeddingError: the package or the model cannot be loaded.
        """
        from notewell.adapters.embeddings.quiet import quiet

        with quiet():  # they print bars, and warnings of their own making
            try:
                from sentence_transformers import SentenceTransformer

                _hush()
                return SentenceTransformer(
                    str(self.path), backend=self._backend(), local_files_only=True
                )
            except ImportError as exc:
                raise EmbeddingError(
                    NAME,
                    f"sentence-transformers cannot be loaded: {exc}",
                    reason="missing",
                    remedy='install it: pip install "notewell[sentence-transformers]"',
                ) from exc
            except Exception as exc:
                # Nothing is promised about what a damaged folder raises.
                raise self.broken() from exc

    def broken(self) -> EmbeddingError:
        """Return the error that says that the folder cannot be used."""
        return EmbeddingError(
            NAME,
            f"the model in {self.path} cannot be loaded",
            reason="corrupt",
            remedy="delete the folder and get it again: notewell models pull",
        )

    def _backend(self) -> str:
        return (
            "onnx" if onnx_installed() and list(self.path.rglob("*.onnx")) else "torch"
        )

    def _modules(self) -> list[tuple[str, str]]:
        """Return (kind, sub-folder) of the steps from text to vector."""
        found = self._read("modules.json")
        items = cast("list[object]", found) if isinstance(found, list) else []
        steps = [cast("dict[str, str]", i) for i in items if isinstance(i, dict)]
        return [
            (s.get("type", "").rpartition(".")[2], s.get("path", "")) for s in steps
        ]

    def _json(self, name: str) -> dict[str, object]:
        found = self._read(name)
        return cast("dict[str, object]", found) if isinstance(found, dict) else {}

    def _read(self, name: str) -> object:
        try:
            return json.loads((self.path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None


def _pooled(settings: Mapping[str, object]) -> int | None:
    """Return what pooling makes: each way that is switched on adds a vector."""
    size = settings.get("word_embedding_dimension")
    ways = sum(settings[k] is True for k in settings if k.startswith("pooling_mode_"))
    return size * max(ways, 1) if isinstance(size, int) else None


def _hush() -> None:
    """Stop the progress bars and the hints that the libraries print later on."""
    import logging

    for name in ("sentence_transformers", "transformers", "huggingface_hub"):
        logging.getLogger(name).setLevel(logging.ERROR)
