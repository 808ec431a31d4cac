"""Fetches a model for sentence-transformers, by the library that knows how."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from notewell.adapters.embeddings.address import is_loopback
from notewell.adapters.embeddings.base import Fetched
from notewell.adapters.embeddings.hub import endpoint_of
from notewell.adapters.embeddings.model_folder import NAME
from notewell.adapters.embeddings.quiet import quiet
from notewell.errors import EmbeddingError

# The same numbers in the formats of other programs.
_FOREIGN: Final = ("openvino/*", "*.h5", "*.ot", "*.msgpack", "*.tflite", "*.gguf")


def fetch_snapshot(
    repository: str,
    *,
    cache: Path,
    environ: Mapping[str, str],
    offline: bool,
    fetched: Fetched,
) -> None:
    """Fetch a model into the cache of the Hugging Face libraries.

    What is there already is not fetched again, and a broken run goes on.

    Raises:
        EmbeddingError: it cannot be fetched.
    """
    from urllib.parse import urlsplit

    endpoint = endpoint_of(environ)
    host = urlsplit(endpoint).hostname or ""
    if offline and not is_loopback(host):
        raise EmbeddingError(
            NAME,
            f"the model would come from {host}, and memory.offline forbids that",
            reason="offline",
            remedy="pull it without memory.offline, or copy its folder here",
        )
    from huggingface_hub import HfApi

    api = HfApi(endpoint=endpoint, token=environ.get("HF_TOKEN") or None)
    try:
        with quiet():
            info = api.model_info(repository, files_metadata=True)
            names = {f.rfilename: f.size or 0 for f in info.siblings or ()}
            ignored = _ignored(names)
            api.snapshot_download(
                repository, cache_dir=cache, ignore_patterns=list(ignored)
            )
    except OSError as exc:
        raise _failed(exc, repository, host) from exc
    total = sum(names.values())
    fetched(total, total)


def _ignored(names: Mapping[str, int]) -> tuple[str, ...]:
    """Return patterns of the files that are of no use here."""
    ignored = _FOREIGN
    if any(name.endswith(".safetensors") for name in names):
        ignored += ("*.bin",)
    if not (find_spec("onnxruntime") and find_spec("optimum")):
        ignored += ("*.onnx",)
    return ignored


def _failed(error: OSError, repository: str, host: str) -> EmbeddingError:
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status in (401, 403):
        return EmbeddingError(
            NAME,
            f"{host} does not give {repository} to everybody",
            reason="auth",
            remedy=f"look at https://{host}/{repository}; accept its terms, set HF_TOKEN",
        )
    if status == 404:
        return EmbeddingError(
            NAME,
            f"{host} has no model {repository}",
            reason="model-missing",
            remedy="check the name in memorySearch.model",
        )
    return EmbeddingError(
        NAME,
        f"{repository} could not be fetched from {host} ({type(error).__name__})",
        reason="network",
        remedy="run it again: what has come is kept",
    )
