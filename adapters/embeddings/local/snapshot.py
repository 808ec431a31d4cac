"""Fetches a model for sentence-transformers, by the library that knows how."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Final

from notewell.adapters.embeddings.base import FetchProgress
from notewell.adapters.embeddings.local.disk import quiet
from notewell.adapters.embeddings.local.hub import endpoint_of
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_NAME: Final = "sentence-transformers"
_FOREIGN: Final = ("openvino/*", "*.h5", "*.ot", "*.msgpack", "*.tflite", "*.gguf")


def fetch_snapshot(
    repository: str,
    *,
    cache: Path,
    environ: Mapping[str, str],
    offline: bool,
    onnx: bool,
    fetched: FetchProgress,
) -> None:
    """Fetch a model into the cache of the Hugging Face libraries.

    What is there already is not fetched again, and a broken run goes on.

    Args:
        repository: The model, as `owner/name`.
        cache: The folder in which the libraries keep what they fetch.
        environ: For HF_ENDPOINT and HF_TOKEN.
        offline: Nothing may be fetched.
        onnx: Files of ONNX are of use.
        fetched: Told how far it is.

    Raises:
        EmbeddingError: it cannot be fetched.
    """
    from urllib.parse import urlsplit

    endpoint = endpoint_of(environ)
    host = urlsplit(endpoint).hostname or ""
    if offline:  # the library follows redirects and proxies of its own
        raise EmbeddingError(
            _NAME,
            f"the model would come from {host} or where that leads, and "
            "memory.offline forbids it",
            reason="offline",
            remedy="pull it without memory.offline, or copy its folder here",
        )
    try:
        api = _hub(endpoint, environ.get("HF_TOKEN"))
        _fetch_files(api, repository, cache, onnx, fetched)
    except Exception as exc:
        # The library has changed its HTTP client before, and its errors with it.
        raise _failed(exc, repository, host) from exc


def _hub(endpoint: str, token: str | None) -> HfApi:
    from huggingface_hub import HfApi

    return HfApi(endpoint=endpoint, token=token or None)


def _fetch_files(
    api: HfApi, repository: str, cache: Path, onnx: bool, fetched: FetchProgress
) -> None:
    with quiet():
        info = api.model_info(repository, files_metadata=True)
    files = _wanted({f.rfilename: f.size or 0 for f in info.siblings or ()}, onnx)
    have, total = 0, sum(files.values())
    for name, size in files.items():
        fetched(have, total)
        with quiet():  # it has a bar of its own
            api.hf_hub_download(repository, name, cache_dir=cache)
        have += size
    fetched(total, total)


def _wanted(files: Mapping[str, int], onnx: bool) -> dict[str, int]:
    """Leave out the same numbers in the formats of other programs."""
    foreign: list[str] = [*_FOREIGN]
    if any(name.endswith(".safetensors") for name in files):
        foreign.append("*.bin")
    if not onnx:
        foreign.append("*.onnx")
    return {
        name: size
        for name, size in files.items()
        if not any(fnmatch(name, pattern) for pattern in foreign)
    }


def _failed(error: Exception, repository: str, host: str) -> EmbeddingError:
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status in (401, 403):
        return EmbeddingError(
            _NAME,
            f"{host} does not give {repository} to everybody",
            reason="auth",
            remedy=f"look at https://{host}/{repository}; accept its terms, set HF_TOKEN",
        )
    if status == 404:
        return EmbeddingError(
            _NAME,
            f"{host} has no model {repository}",
            reason="model-missing",
            remedy="check the name in memorySearch.model",
        )
    return EmbeddingError(
        _NAME,
        f"{repository} could not be fetched from {host} ({type(error).__name__})",
        reason="network",
        remedy="run it again: what has come is kept",
    )
