"""The provider `sentence-transformers`: any such model, run on this machine.

A model is a folder, whose files say what it is without loading it: see
https://sbert.net/docs/sentence_transformer/usage/custom_models.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, cast

from notewell.adapters.embeddings.base import (
    EmbeddingIdentity,
    FetchProgress,
    Provider,
    Role,
)
from notewell.adapters.embeddings.local.disk import ModelOnDisk, fingerprint
from notewell.adapters.embeddings.local.hub import endpoint_of, home_of
from notewell.adapters.embeddings.prefixes import Prefixes, describe, prefixes_for
from notewell.errors import EmbeddingError, without_logins
from notewell.foreign import well_formed
from notewell.installing import install_extra

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from notewell.adapters.embeddings.base import EmbeddingSettings, Matrix

_BATCH: Final = 32

_USUAL: Final = "sentence-transformers/all-MiniLM-L6-v2"

NAME: Final = "sentence-transformers"

_WEIGHTS: Final = ("*.safetensors", "*.bin", "*.onnx")

_WIDTHS: Final = ("hidden_size", "d_model", "dim", "n_embd")


def provider(settings: EmbeddingSettings) -> Provider:
    """Describe the provider."""
    named = is_folder_path(_name(settings))
    return Provider(
        name=NAME,
        remote=False,
        host="",
        open=partial(_open, settings),
        fetch=None if named else partial(_fetch, settings),
    )


def folder_on_disk(settings: EmbeddingSettings) -> ModelOnDisk:
    """Say where the configured model is, or will be."""
    name = _name(settings)
    path = folder_of(name, settings.environ)
    if is_folder_path(name):
        return ModelOnDisk(model=name, path=path, licence=None)
    model = without_logins(repository_of(name))
    page = without_logins(f"{endpoint_of(settings.environ)}/{repository_of(name)}")
    return ModelOnDisk(model=model, path=path, licence=page)


class SentenceTransformersEmbedder:
    """Vectors by a model in a folder, which is loaded for the first text."""

    batch_size = _BATCH

    def __init__(
        self, name: str, folder: ModelFolder, dimensionality: int | None
    ) -> None:
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
            rows = self._encode([well_formed(text) for text in texts], role)
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


def _name(settings: EmbeddingSettings) -> str:
    return settings.model or _USUAL


def _open(settings: EmbeddingSettings) -> SentenceTransformersEmbedder:
    _need_package()
    name = _name(settings)
    folder = ModelFolder(folder_of(name, settings.environ))
    if not folder.there():
        empty = is_folder_path(name) and folder.path.is_dir()
        raise EmbeddingError(
            NAME,
            f"the folder {name} holds no model: it has no config.json with weights"
            if empty
            else f"the model {name} is not on this disk",
            reason="model-missing",
            remedy="name a folder that is there in memorySearch.model"
            if is_folder_path(name)
            else "get it once: notewell models pull",
        )
    return SentenceTransformersEmbedder(name, folder, settings.dimensionality)


def _fetch(settings: EmbeddingSettings, fetched: FetchProgress) -> None:
    from notewell.adapters.embeddings.local.download import fetch_snapshot

    _need_package()
    environ = settings.environ
    fetch_snapshot(
        repository_of(_name(settings)),
        cache=hub_cache(environ),
        environ=environ,
        offline=settings.offline,
        onnx=onnx_installed(),
        fetched=fetched,
    )


def _need_package() -> None:
    if find_spec("sentence_transformers") is None:
        raise EmbeddingError(
            NAME,
            "sentence-transformers is not installed",
            reason="missing",
            remedy=f"install it: {install_extra(NAME)}",
        )


def is_folder_path(name: str) -> bool:
    """Whether a model is named by the path of its folder, which looks like one.

    A folder of that name where somebody happens to be must not stand in for a model.
    """
    return name.startswith(("/", "~", "./", "../"))


def repository_of(name: str) -> str:
    """Return the repository that a model's name means.

    >>> repository_of("all-MiniLM-L6-v2")
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
    if is_folder_path(name):
        return Path(name).expanduser()
    place = hub_cache(environ) / f"models--{repository_of(name).replace('/', '--')}"
    try:
        commit = (place / "refs" / "main").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return place
    return place / "snapshots" / commit


class ModelFolder:
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
        if not is_folder_path(name):
            return repository_of(name)
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
        from notewell.adapters.embeddings.local.disk import quiet

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
                    remedy=f"install it: {install_extra(NAME)}",
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
