"""QMD's home for one agent and workspace: its configuration, its index, our record.

    <state>/qmd/models/              models, shared by all agents
    <state>/qmd/compiled/            what Node has compiled of QMD
    <state>/qmd/<agent>[.<mark>]/    one home; the lock of its one writer
      record.json  notes.json        what we know of it
      <n>/config  <n>/cache          one generation of its index

An index is never repaired: the next generation is built beside it and takes its
place in one step, so searches always meet a whole one. Nothing of the user's own QMD
is read or written, but for the models that it has fetched: they are linked into ours.
A model is always a file on this machine, never one to be downloaded on the way to an
answer.
"""

import asyncio
import os
import re
import shutil
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import orjson

from notewell.backends.base import SILENT, Listener, Site
from notewell.backends.qmd.paths import Collection
from notewell.backends.qmd.program import BACKEND, Abilities
from notewell.errors import BackendUnavailable
from notewell.files import create_folder, private_lock, replace_file, take_lock

if TYPE_CHECKING:
    from filelock import FileLock


_Signature = tuple[int, int, int]
_ASK_AGAIN: Final = 0.05
"""Seconds after which a lock that is taken is tried again."""

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


class IndexRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What we know of an index of QMD's.

    Attributes:
        generation: The one that answers; 0 when none was ever completed.
        version: The QMD that wrote it last.
        collections: What it reads.
        unfinished: A writer began and did not end: the index may lack notes for good.
        indexed_at: Seconds since 1970 when it last agreed with the notes.
        seconds: What the last update took.
        file: How its file was when it was last counted; see `drift.database_state`.
        digest: What it held then; empty if that cannot be counted.
        documents: Documents in it.
        counts: The same by collection.
        embedded_at: When an embedding run last ended well.
        model: The model that the vectors are of.
        vectors: Some documents have vectors.
        pending_vectors: Documents without vectors, as last counted.
        last_error: What the last writer failed with.
        not_read: Notes that QMD does not read, with the reason.
    """

    generation: int = 0
    version: str = ""
    collections: tuple[Collection, ...] = ()
    unfinished: bool = False
    indexed_at: float | None = None
    seconds: float = 0.0
    file: tuple[int, ...] = ()
    digest: str = ""
    documents: int = 0
    counts: dict[str, int] = {}
    embedded_at: float | None = None
    model: str = ""
    vectors: bool = False
    pending_vectors: int | None = None
    last_error: str | None = None
    not_read: dict[str, str] = {}


class QmdHome:
    """The folder of one index of QMD's.

    Attributes:
        folder: The folder.
        models: The folder of models that all agents share.
        compiled: Where Node keeps QMD's own code as it has compiled it.
    """

    def __init__(self, site: Site) -> None:
        top = site.state_dir / "qmd"
        self.models = top / "models"
        self.compiled = top / "compiled"
        self.folder = top / _folder_name(site)
        self._record = self.folder / "record.json"
        self._notes = self.folder / "notes.json"

    def create(self) -> None:
        """Make the folders, private to this user.

        Raises:
            BackendUnavailable: they cannot be made.
        """
        try:
            for folder in (self.models, self.folder):
                create_folder(folder)
        except OSError as exc:
            raise BackendUnavailable(
                BACKEND,
                f"its home cannot be made: {exc.strerror}: {self.folder}",
                remedy="see the permissions of the state folder",
            ) from exc

    def record(self) -> IndexRecord:
        """Return what we know; nothing if that cannot be read."""
        try:
            return msgspec.json.decode(self._record.read_bytes(), type=IndexRecord)
        except (OSError, msgspec.MsgspecError):
            return IndexRecord()

    def write(self, record: IndexRecord) -> None:
        """Remember what we know."""
        replace_file(self._record, msgspec.json.encode(record))

    def notes(self) -> dict[str, _Signature]:
        """Return size, mtime and ctime of every note as it was last indexed."""
        try:
            raw = self._notes.read_bytes()
            return msgspec.json.decode(raw, type=dict[str, _Signature])
        except (OSError, msgspec.MsgspecError):
            return {}

    def write_notes(self, notes: Mapping[str, _Signature]) -> None:
        """Remember how the notes were when they were indexed."""
        replace_file(self._notes, orjson.dumps(dict(notes)))

    def generation(self, number: int) -> Path:
        """Return the folder of a generation."""
        return self.folder / str(number)

    def database(self, number: int) -> Path:
        """Return the file of an index."""
        return self.generation(number) / "cache" / "qmd" / "index.sqlite"

    def configuration(self, number: int) -> Path:
        """Return QMD's configuration file of a generation."""
        return self.generation(number) / "config" / "qmd" / "index.yml"

    def doubt(self, number: int) -> None:
        """Remember that QMD found a generation damaged: it has to be built anew."""
        with suppress(OSError):
            self._doubtful(number).touch(mode=0o600)

    def is_doubtful(self, number: int) -> bool:
        """Say whether QMD found a generation damaged."""
        return self._doubtful(number).exists()

    def _doubtful(self, number: int) -> Path:
        return self.generation(number) / "doubtful"

    def environment(self, number: int, environ: Mapping[str, str]) -> dict[str, str]:
        """Return an environment in which QMD sees this generation alone.

        Older and newer versions look at different ones of these variables.
        """
        top = self.generation(number)
        return {
            **environ,
            "XDG_CONFIG_HOME": str(top / "config"),
            "XDG_CACHE_HOME": str(top / "cache"),
            "QMD_CONFIG_DIR": str(top / "config" / "qmd"),
            "INDEX_PATH": str(self.database(number)),
            "PWD": str(self.folder),
            # Node then keeps what it compiled: a tenth less for each command.
            "NODE_COMPILE_CACHE": str(self.compiled),
        }

    def configure(
        self,
        number: int,
        collections: Sequence[Collection],
        environ: Mapping[str, str],
        abilities: Abilities,
        *,
        unnamed: Sequence[str] = (),
    ) -> None:
        """Write a generation's configuration; JSON is YAML.

        Args:
            unnamed: Files that this version fails at, for want of a name for them.
        """
        top = self.generation(number)
        for folder in (top / "config" / "qmd", top / "cache" / "qmd"):
            create_folder(folder)
        models = top / "cache" / "qmd" / "models"
        if not models.is_symlink():
            models.symlink_to(self.models, target_is_directory=True)
        shape: dict[str, object] = {
            "collections": {
                each.name: {
                    "path": each.folder,
                    "pattern": each.pattern,
                    "ignore": each.without(unnamed),
                }
                for each in collections
            }
        }
        if abilities.configured_models:
            shape["models"] = configured_models(environ, self.models)
        replace_file(self.configuration(number), orjson.dumps(shape))

    def discard(self, number: int) -> None:
        """Remove a generation."""
        shutil.rmtree(self.generation(number), ignore_errors=True)

    def discard_others(self, number: int) -> None:
        """Remove every generation but this one."""
        for folder in self.folder.iterdir():
            if folder.name.isdecimal() and folder.name != str(number):
                self.discard(int(folder.name))

    @asynccontextmanager
    async def only_writer(
        self, *, patient: bool, listener: Listener = SILENT
    ) -> AsyncGenerator[bool]:
        """Hold the lock of this home; give False if it is taken and we do not wait."""
        lock = self._lock()
        mine = take_lock(lock)
        if not mine and patient:
            listener.waiting()
            # Another process tells nobody that it lets go.
            while not (mine := take_lock(lock)):  # noqa: ASYNC110
                await asyncio.sleep(_ASK_AGAIN)
        try:
            yield mine
        finally:
            if mine:
                lock.release()

    def _lock(self) -> "FileLock":
        self.create()
        try:
            return private_lock(self.folder / "lock")
        except OSError as exc:
            raise BackendUnavailable(
                BACKEND,
                f"its home cannot be written: {exc.strerror}: {self.folder}",
                remedy="see the permissions of the state folder",
            ) from exc


def _folder_name(site: Site) -> str:
    """Return the agent's id, with a mark when the workspace is not its own."""
    root = os.path.realpath(site.workspace.root)
    if root == os.path.realpath(site.agent.workspace):
        return site.agent.id
    return f"{site.agent.id}.{sha256(os.fsencode(root)).hexdigest()[:12]}"


def model_of(variable: str, environ: Mapping[str, str]) -> str:
    """Return the model that a variable names, or QMD's own choice."""
    return environ.get(variable) or _DEFAULTS[variable]


def embedding_model(environ: Mapping[str, str]) -> str:
    """Return the embedding model that QMD will use."""
    return model_of(EMBED, environ)


def is_local_model(model: str, models: Path) -> bool:
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


def link_models_of_user(environ: Mapping[str, str], models: Path) -> None:
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
