"""The provider `sentence-transformers`: any such model, run on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Final

from notewell.adapters.embeddings.base import (
    EmbeddingIdentity,
    Fetched,
    Provider,
    Role,
)
from notewell.adapters.embeddings.disk import ModelOnDisk
from notewell.adapters.embeddings.fingerprint import fingerprint
from notewell.adapters.embeddings.hub import endpoint_of
from notewell.adapters.embeddings.model_folder import (
    NAME,
    Folder,
    folder_of,
    hub_cache,
    is_path,
    onnx_installed,
    repository,
)
from notewell.adapters.embeddings.prefixes import describe
from notewell.errors import EmbeddingError, without_logins

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from notewell.adapters.embeddings.base import Matrix
    from notewell.adapters.embeddings.request import Request

_BATCH: Final = 32
_USUAL: Final = "sentence-transformers/all-MiniLM-L6-v2"


def provider(request: Request) -> Provider:
    """Describe the provider for a request."""
    named = is_path(_name(request))
    return Provider(
        name=NAME,
        remote=False,
        host="",
        open=partial(_open, request),
        fetch=None if named else partial(_fetch, request),
    )


def on_disk(request: Request) -> ModelOnDisk:
    """Say where the model of a request is, or will be."""
    name = _name(request)
    path = folder_of(name, request.environ)
    if is_path(name):
        return ModelOnDisk(model=name, path=path, licence=None)
    model = without_logins(repository(name))
    page = without_logins(f"{endpoint_of(request.environ)}/{repository(name)}")
    return ModelOnDisk(model=model, path=path, licence=page)


class SentenceTransformersEmbedder:
    """Vectors by a model in a folder, which is loaded for the first text."""

    batch_size = _BATCH

    def __init__(self, name: str, folder: Folder, dimensionality: int | None) -> None:
        self.model = name
        self._folder = folder
        self._prefixes = folder.prefixes(name)
        self._wanted = dimensionality
        self._identity: EmbeddingIdentity | None = None
        self._loaded: SentenceTransformer | None = None
        self._lock = Lock()

    def identity(self) -> EmbeddingIdentity:
        """Return what the vectors depend on: the folder's content, not its place.

        Raises:
            EmbeddingError: only the model knows its dimension, and it fails.
        """
        if self._identity is None:
            dimension = self._folder.dimension() or self._asked_dimension()
            self._identity = EmbeddingIdentity(
                provider=NAME,
                model=f"{self._folder.label(self.model)}@{self._fingerprint()}",
                endpoint="",
                dimension=self._shortened(dimension),
                prefixes=describe(self._prefixes),
            )
        return self._identity

    def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        """Return one unit vector per text; a text is cut where the model stops reading.

        Raises:
            EmbeddingError: the package or the model is missing, or cannot be used.
        """
        from notewell.adapters.embeddings.vectors import unit_rows  # loads numpy

        dimension = self.identity().dimension
        if not texts:
            return unit_rows([], dimension)
        with self._lock:  # the tokenizers of several models refuse two threads
            rows = self._encode([_sound(text) for text in texts], role)
        return unit_rows([row[:dimension] for row in rows], dimension)

    def close(self) -> None:
        """Release the model. The next text would load it again."""
        with self._lock:
            self._loaded = None

    def _encode(self, texts: list[str], role: Role) -> Matrix:
        model = self._model()
        query = role == "query"
        # Models with a way of their own for each role have it behind these names.
        encode = getattr(model, f"encode_{role}", model.encode)
        prompt = self._prefixes.query if query else self._prefixes.document
        try:
            rows: Matrix = encode(
                texts, prompt=prompt, batch_size=_BATCH, show_progress_bar=False
            )
        except (RuntimeError, ValueError, IndexError) as exc:
            raise EmbeddingError(
                NAME,
                f"{self.model} failed on {len(texts)} texts: {type(exc).__name__}",
                reason="exit",
                remedy="try it with another model, or with less in the memory",
            ) from exc
        return rows

    def _model(self) -> SentenceTransformer:
        if self._loaded is None:
            self._loaded = self._folder.load()
        return self._loaded

    def _asked_dimension(self) -> int:
        with self._lock:
            model = self._model()
            return len(model.encode(["."], show_progress_bar=False)[0])

    def _shortened(self, dimension: int) -> int:
        wanted = self._wanted or dimension
        if wanted > dimension:
            raise EmbeddingError(
                NAME,
                f"the vectors of {self.model} have {dimension} numbers, not {wanted}",
                reason="bad-vector",
                remedy="remove memorySearch.outputDimensionality, or take another model",
            )
        return wanted

    def _fingerprint(self) -> str:
        try:
            return fingerprint(self._folder.weights())
        except OSError as exc:
            raise self._folder.broken() from exc


def _name(request: Request) -> str:
    return request.model or _USUAL


def _sound(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")  # lone surrogates


def _open(request: Request) -> SentenceTransformersEmbedder:
    _need_package()
    name = _name(request)
    folder = Folder(folder_of(name, request.environ))
    if not folder.there():
        empty = is_path(name) and folder.path.is_dir()
        raise EmbeddingError(
            NAME,
            f"the folder {name} holds no model: it has no config.json with weights"
            if empty
            else f"the model {name} is not on this disk",
            reason="model-missing",
            remedy="name a folder that is there in memorySearch.model"
            if is_path(name)
            else "get it once: notewell models pull",
        )
    return SentenceTransformersEmbedder(name, folder, request.dimensionality)


def _fetch(request: Request, fetched: Fetched) -> None:
    from notewell.adapters.embeddings.snapshot import fetch_snapshot

    _need_package()
    environ = request.environ
    fetch_snapshot(
        repository(_name(request)),
        cache=hub_cache(environ),
        environ=environ,
        offline=request.offline,
        onnx=onnx_installed(),
        fetched=fetched,
    )


def _need_package() -> None:
    if find_spec("sentence_transformers") is None:
        raise EmbeddingError(
            NAME,
            "sentence-transformers is not installed",
            reason="missing",
            remedy='install it: pip install "notewell[sentence-transformers]"',
        )
