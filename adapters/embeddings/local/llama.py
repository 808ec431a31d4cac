"""The provider `local`: a GGUF model on this machine, run by llama.cpp."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from notewell.adapters.embeddings.base import (
    EmbeddingIdentity,
    FetchProgress,
    Provider,
    Role,
)
from notewell.adapters.embeddings.local.disk import ModelOnDisk, fingerprint
from notewell.adapters.embeddings.local.gguf import BadGguf, GgufHead, read_head
from notewell.adapters.embeddings.local.hub import (
    BadHubName,
    HubFile,
    endpoint_of,
    home_of,
    models_folder,
)
from notewell.adapters.embeddings.prefixes import PLAIN, describe, prefixes_for
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from notewell.adapters.embeddings.base import EmbeddingSettings, Matrix
    from notewell.adapters.embeddings.local.llama_model import LlamaModel
    from notewell.adapters.embeddings.prefixes import Prefixes

_NAME_A_FILE: Final = "name the file of a GGUF model in memorySearch.local.modelPath"
_BATCH: Final = 16  # they go in one by one; a batch is what is saved at once

# Architectures whose models read and do not write: without a word on pooling they
# are meant to be averaged, as llama.cpp's own converter has it.
_READERS: Final = (
    *("bert", "eurobert", "gemma-embedding", "jina-bert-v2", "jina-bert-v3"),
    *("modern-bert", "neo-bert", "nomic-bert", "nomic-bert-moe", "t5encoder"),
)


def provider(settings: EmbeddingSettings) -> Provider:
    """Describe the provider."""
    named = is_model_path(settings.local.model_path)
    return Provider(
        name="local",
        remote=False,
        host="",
        open=partial(_open, settings),
        fetch=None if named else partial(_fetch, settings),
    )


def gguf_on_disk(settings: EmbeddingSettings) -> ModelOnDisk:
    """Say where the configured model is, or will be.

    Raises:
        EmbeddingError: its name is neither a path nor one of a file on the hub.
    """
    reference = settings.local.model_path
    if is_model_path(reference):
        path = Path(reference).expanduser()
        return ModelOnDisk(model=path.name, path=path, licence=None)
    file = hub_file(reference)
    folder = models_folder(settings.local.model_cache_dir, home_of(settings.environ))
    return ModelOnDisk(
        model=reference,
        path=folder / file.local_name,
        licence=file.page(endpoint_of(settings.environ)),
    )


def hub_file(reference: str) -> HubFile:
    """Read the name of a file on the hub.

    Raises:
        EmbeddingError: it is none.
    """
    try:
        return HubFile.parse(reference)
    except BadHubName as exc:
        raise EmbeddingError(
            "local",
            "local.modelPath names no model",
            reason="model-missing",
            remedy=f"{exc}, or the path of a GGUF file",
        ) from exc


class LlamaEmbedder:
    """Vectors by a model on this disk, which is loaded for the first text."""

    batch_size = _BATCH

    def __init__(
        self, path: Path, head: GgufHead, dimension: int, *, remedy: str
    ) -> None:
        self.model = path.name
        self._path = path
        self._remedy = remedy
        self._head = head
        self._dimension = dimension
        self._pooling = pooling_of(head, path)
        self._prefixes = _prefixes(head, path)
        self._identity: EmbeddingIdentity | None = None
        self._loaded: LlamaModel | None = None
        self._lock = Lock()

    def identity(self) -> EmbeddingIdentity:
        """Return what the vectors depend on: the file's content, not its place.

        Raises:
            EmbeddingError: the file has gone since it was opened.
        """
        if self._identity is None:
            label = self._head.name or self._head.architecture
            try:
                content = fingerprint([self._path])
            except OSError as exc:
                raise _unusable(self._path, _why(exc), self._remedy) from exc
            self._identity = EmbeddingIdentity(
                provider="local",
                model=f"{label}@{content}",
                endpoint="",
                dimension=self._dimension,
                prefixes=describe(self._prefixes, pooling=self._pooling),
            )
        return self._identity

    def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        """Return one unit vector per text; a long text's is the mean of its pieces.

        Raises:
            EmbeddingError: the package or the file is missing, or cannot be used.
        """
        from notewell.adapters.embeddings.vectors import unit_rows  # loads numpy

        if not texts:
            return unit_rows([], self._dimension)
        model = self._model()
        prefix = self._prefixes.before("", role)
        found = [self._mean(model, text, prefix) for text in texts]
        return unit_rows(found, self._dimension)

    def close(self) -> None:
        """Free the model's memory. The next text would load it again."""
        with self._lock:
            loaded, self._loaded = self._loaded, None
        if loaded is not None:
            loaded.close()

    def _model(self) -> LlamaModel:
        from notewell.adapters.embeddings.local.llama_model import load_model

        with self._lock:
            if self._loaded is None:
                self._loaded = load_model(
                    self._path, self._head, self._pooling, remedy=self._remedy
                )
            return self._loaded

    def _mean(self, model: LlamaModel, text: str, prefix: str) -> object:
        """Return the vector of a text, shortened to the dimension; None without any."""
        import numpy as np

        found = model.vectors(text, prefix)
        if not found:
            return None
        weights = [tokens for tokens, _ in found]
        rows = np.array([vector for _, vector in found], dtype=np.float64)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        mean = np.average(
            rows / np.where(lengths > 0, lengths, 1), axis=0, weights=weights
        )
        return mean[: self._dimension]


def pooling_of(head: GgufHead, path: Path) -> str:
    """Return how the vectors of a model's tokens become one.

    Raises:
        EmbeddingError: it is a model that writes, or one that scores pairs.
    """
    if head.pooling in ("mean", "cls", "last"):
        return head.pooling
    if head.pooling == "rank":
        raise _unfit(path, "scores pairs of texts and gives no vectors")
    if head.architecture in _READERS or not head.causal:
        return "mean"
    if "embed" in f"{head.name} {path.name}".lower():
        return "last"  # made from a model that writes: its last token has seen them all
    raise _unfit(path, f"writes text ({head.architecture}) and gives no vectors")


def _open(settings: EmbeddingSettings) -> LlamaEmbedder:
    if find_spec("llama_cpp") is None:
        from notewell.adapters.embeddings.local.llama_model import not_installed

        raise not_installed()
    path = gguf_on_disk(settings).path
    named = is_model_path(settings.local.model_path)
    remedy = _NAME_A_FILE if named else f"delete {path}, then: notewell models pull"
    try:
        head = read_head(path)
    except FileNotFoundError as exc:
        raise EmbeddingError(
            "local",
            f"the model is not on this disk: {path}",
            reason="model-missing",
            remedy=_NAME_A_FILE if named else "get it once: notewell models pull",
        ) from exc
    except (OSError, BadGguf) as exc:
        raise _unusable(path, _why(exc), remedy) from exc
    return LlamaEmbedder(path, head, _dimension(settings, head, path), remedy=remedy)


def _fetch(settings: EmbeddingSettings, fetched: FetchProgress) -> None:
    from notewell.adapters.embeddings.local.download import Download

    file = hub_file(settings.local.model_path)
    endpoint = endpoint_of(settings.environ)
    download = Download(
        file.address(endpoint),
        page=file.page(endpoint),
        environ=settings.environ,
        offline=settings.offline,
    )
    download.run(gguf_on_disk(settings).path, fetched)


def _dimension(settings: EmbeddingSettings, head: GgufHead, path: Path) -> int:
    wanted = settings.dimensionality or head.dimension
    if wanted > head.dimension:
        raise EmbeddingError(
            "local",
            f"the vectors of {path.name} have {head.dimension} numbers, not {wanted}",
            reason="bad-vector",
            remedy="remove memorySearch.outputDimensionality, or take another model",
        )
    return wanted


def _prefixes(head: GgufHead, path: Path) -> Prefixes:
    # The maker's name counts first: it stays when somebody renames the file.
    found = (prefixes_for(name) for name in (head.name, str(path)))
    return next((prefixes for prefixes in found if prefixes != PLAIN), PLAIN)


def is_model_path(reference: str) -> bool:
    """Whether a model is named by its path, and not by where it is fetched from."""
    return not reference.startswith(("hf:", "huggingface:", "http:", "https:"))


def _unusable(path: Path, why: str, remedy: str) -> EmbeddingError:
    return EmbeddingError(
        "local", f"{path} cannot be used: {why}", reason="corrupt", remedy=remedy
    )


def _unfit(path: Path, why: str) -> EmbeddingError:
    return EmbeddingError(
        "local",
        f"{path.name} is no embedding model: it {why}",
        reason="model-missing",
        remedy="name an embedding model in memorySearch.local.modelPath",
    )


def _why(error: Exception) -> str:
    return (
        error.strerror or "it cannot be read"
        if isinstance(error, OSError)
        else str(error)
    )
