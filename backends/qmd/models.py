"""The models that QMD uses here: files on this machine, and never one to be downloaded
on the way to an answer.

They lie in a folder of ours that all agents share. Those that the user's own QMD has
fetched are linked into it and only read.
"""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

NO_MODEL: Final = "/nonexistent/notewell-downloads-no-model.gguf"
"""A model that is not there fails at once; one to be downloaded hangs for minutes."""

EMBED: Final = "QMD_EMBED_MODEL"
_DEFAULTS: Final[Mapping[str, str]] = {
    EMBED: "hf:ggml-org/embeddinggemma-300M-GGUF/embeddinggemma-300M-Q8_0.gguf",
    "QMD_GENERATE_MODEL": "hf:tobil/qmd-query-expansion-1.7B-gguf/"
    "qmd-query-expansion-1.7B-q4_k_m.gguf",
    "QMD_RERANK_MODEL": "hf:ggml-org/Qwen3-Reranker-0.6B-Q8_0-GGUF/"
    "qwen3-reranker-0.6b-q8_0.gguf",
}
"""The variables that name a model, and QMD's own choice without them."""

FOR_QUERY: Final = ("QMD_GENERATE_MODEL", "QMD_RERANK_MODEL")
_REFERENCE: Final = re.compile(r"hf:(?:.*/)?([^/]+)")


def model_of(variable: str, environ: Mapping[str, str]) -> str:
    """Return the model that a variable names, or QMD's own choice."""
    return environ.get(variable) or _DEFAULTS[variable]


def embedding_model(environ: Mapping[str, str]) -> str:
    """Return the embedding model that QMD will use."""
    return model_of(EMBED, environ)


def is_here(model: str, models: Path) -> bool:
    """Say whether a model is a file, or a reference whose file was fetched before."""
    return _file_of(model, models) is not None


def configured_models(environ: Mapping[str, str], models: Path) -> dict[str, str]:
    """Return the models of QMD's configuration, which there beats its environment.

    By the names of their files: for a reference QMD asks the network whether there is a
    newer one, and without a network waits for minutes. Those that expand and rerank are
    used only as files that are here.
    """
    generate, rerank = (
        _file_of(model_of(name, environ), models) or NO_MODEL for name in FOR_QUERY
    )
    embed = _file_of(embedding_model(environ), models) or environ.get(EMBED)
    chosen = {"generate": generate, "rerank": rerank}
    return {**chosen, "embed": embed} if embed else chosen


def _file_of(model: str, models: Path) -> str | None:
    """Return the file of a model, None if it is not on this machine."""
    reference = _REFERENCE.fullmatch(model)
    if reference is None:
        file = os.path.expanduser(model)
        return file if os.path.isfile(file) else None
    name = reference[1].partition("#")[0]
    return next(
        (
            str(file)
            for file in sorted(models.glob("*.gguf"))
            if file.name.endswith(name) and file.is_file()
        ),
        None,
    )


def borrow(environ: Mapping[str, str], models: Path) -> None:
    """Link what the user's own QMD has fetched into our folder of models."""
    home = environ.get("HOME") or os.path.expanduser("~")
    cache = environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    with suppress(OSError):
        for ours in models.glob("*.gguf"):
            if ours.is_symlink() and not ours.exists():
                ours.unlink()  # QMD would take it for the file
    with suppress(OSError):
        for theirs in Path(cache, "qmd", "models").glob("*.gguf"):
            if not os.path.lexists(models / theirs.name):
                (models / theirs.name).symlink_to(theirs)
