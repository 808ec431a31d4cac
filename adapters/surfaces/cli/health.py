"""The checks of `notewell doctor`: this machine, the configuration, each memory."""

import locale
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from notewell.adapters.surfaces.cli.call import (
    CommandCall,
    agents_of,
    memory_of,
    settings_of,
    user_home,
)
from notewell.adapters.surfaces.cli.overview import (
    PROBE_QUERY,
    indexed_files,
    pending_files,
    textless_files,
)
from notewell.adapters.surfaces.sentences import number_of, size_text
from notewell.errors import ConfigError, EmbeddingError, NotewellError
from notewell.installing import install_command, install_extra
from notewell.types import VECTOR_SEARCH, ProviderProbe, StatusReport

if TYPE_CHECKING:
    from notewell.config import Settings
    from notewell.memory import SyncMemory

Verdict: TypeAlias = Literal["ok", "warning", "problem"]

_OLDEST_PYTHON: Final = (3, 11)
_OTHERS_WRITE: Final = 0o022
_LITTLE_SPACE: Final = 200_000_000  # an index takes about the size of the notes, twice


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCheck:
    """What was looked at, what was found, and what to do about it.

    Attributes:
        name: What was looked at.
        status: `problem` when something does not work, `warning` when it works
            less well than it could.
        detail: What was found, one sentence.
        remedy: What to do; None when nothing needs doing.
    """

    name: str
    status: Verdict
    detail: str
    remedy: str | None = None


def _guarded(name: str, look: Callable[[], HealthCheck]) -> HealthCheck:
    """Make a check; one that breaks is a problem, and the next is made all the same."""
    try:
        return look()
    except Exception as error:  # noqa: BLE001 - whatever it is, the rest goes on
        return HealthCheck(
            name=name,
            status="problem",
            detail=f"could not be looked at: {type(error).__name__}: {error}",
            remedy="this is a fault of notewell: report it",
        )


def check_machine() -> Iterator[HealthCheck]:
    """Look at what does not depend on any configuration."""
    yield _guarded("python", _python)
    yield _guarded("sqlite", _sqlite)
    yield _guarded("full text", _full_text)
    yield _guarded("mcp", _mcp)
    yield _guarded("terminal", _encoding)


def _python() -> HealthCheck:
    """Look at the version of Python."""
    detail = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info >= _OLDEST_PYTHON:
        return HealthCheck(name="python", status="ok", detail=detail)
    remedy = "install Python 3.11 or newer"
    return HealthCheck(name="python", status="problem", detail=detail, remedy=remedy)


def _sqlite() -> HealthCheck:
    """Look for apsw, which brings its own SQLite."""
    try:
        import apsw
    except ImportError as error:
        return HealthCheck(
            name="sqlite",
            status="problem",
            detail=f"apsw cannot be loaded: {error}",
            remedy=install_command("apsw", again=True),
        )
    versions = f"SQLite {apsw.sqlite_lib_version()}, apsw {apsw.apsw_version()}"
    return HealthCheck(name="sqlite", status="ok", detail=versions)


def _full_text() -> HealthCheck:
    """Try FTS5, the index of words."""
    import apsw

    connection: Any = apsw.Connection(":memory:")  # its own types have gaps
    try:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
    except apsw.Error as error:
        return HealthCheck(
            name="full text",
            status="warning",
            detail=f"FTS5 is missing ({error}): searches read the files, slowly",
            remedy=install_command("apsw", again=True),
        )
    finally:
        connection.close()
    return HealthCheck(name="full text", status="ok", detail="FTS5 works")


def _mcp() -> HealthCheck:
    """Look for the package that `notewell mcp` needs; it is not loaded."""
    try:
        found = version("mcp")
    except PackageNotFoundError:
        detail = f"optional and not installed; `notewell mcp` needs it: {install_extra('mcp')}"
        return HealthCheck(name="mcp", status="ok", detail=detail)
    return HealthCheck(
        name="mcp", status="ok", detail=f"mcp {found} for `notewell mcp`"
    )


def _encoding() -> HealthCheck:
    """Look whether the locale can say every character."""
    codec = locale.getencoding()
    if codec.lower().replace("-", "") == "utf8":
        return HealthCheck(name="terminal", status="ok", detail=codec)
    return HealthCheck(
        name="terminal",
        status="warning",
        detail=f"the locale says {codec}; notewell writes UTF-8 all the same",
        remedy="export LC_ALL=C.UTF-8",
    )


def check_configured(call: CommandCall) -> Iterator[HealthCheck]:
    """Look at everything that depends on the configuration."""
    settings, check = _configuration(call)
    yield check
    if settings is not None:
        yield from _lacking(settings)
    for name, folder in _folders(settings).items():
        yield _guarded(name, partial(_folder, name, folder))
    yield _guarded("disk", lambda: _disk(_state_folder()))
    if settings is not None:
        yield from _memories(call)


def _configuration(call: CommandCall) -> "tuple[Settings | None, HealthCheck]":
    name = "configuration"
    try:
        settings = settings_of(call)
    except ConfigError as error:
        return None, _failed(name, error)
    read = [str(file) for file in (settings.file, settings.own_file) if file]
    file = ", and over it ".join(read) or "no file, defaults"
    if settings.warnings:
        detail = "; ".join([file, *settings.warnings])
        remedy = "see to that; `notewell config` shows every setting"
        check = HealthCheck(name=name, status="warning", detail=detail, remedy=remedy)
        return settings, check
    return settings, HealthCheck(name=name, status="ok", detail=file)


def _lacking(settings: "Settings") -> Iterator[HealthCheck]:
    """What the configuration asks for and this version does not do."""
    from notewell.backends.registry import policy_of

    said = [
        text for agent in settings.agents for text in policy_of(settings, agent).remarks
    ]
    if said:
        yield HealthCheck(
            name="features",
            status="warning",
            detail=" ".join(dict.fromkeys(said)),
            remedy="`notewell config` shows which settings ask for it",
        )


def _folders(settings: "Settings | None") -> dict[str, Path]:
    """The folder for derived data, and folders of indexes that lie elsewhere."""
    state = _state_folder()
    folders = {"state folder": state}
    for agent in settings.agents if settings else ():
        place = Path(agent.search.store.path).parent
        if not place.is_relative_to(state):
            folders[f"index folder of {agent.id}"] = place
    return folders


def _state_folder() -> Path:
    """Found without the configuration, which may be what is broken."""
    from notewell.config.file import state_folder

    return state_folder(os.environ, user_home())


def _folder(name: str, path: Path) -> HealthCheck:
    """Look whether a folder for derived data can be written, and by whom else."""
    there = _nearest_folder(path)
    if not there.is_dir():
        remedy = "set OPENCLAW_STATE_DIR to a folder, or move that file away"
        detail = f"{there} is no folder"
        return HealthCheck(name=name, status="problem", detail=detail, remedy=remedy)
    if not os.access(there, os.W_OK | os.X_OK):
        return HealthCheck(
            name=name,
            status="problem",
            detail=f"{there} cannot be written",
            remedy=f"chmod u+rwx {there}, or set OPENCLAW_STATE_DIR to another folder",
        )
    if there != path:
        return HealthCheck(
            name=name, status="ok", detail=f"{path} is made on first use"
        )
    mode = path.stat().st_mode & 0o777
    if mode & _OTHERS_WRITE:
        return HealthCheck(
            name=name,
            status="warning",
            detail=f"{path} can be written by others (mode {mode:o})",
            remedy=f"chmod 700 {path}",
        )
    return HealthCheck(name=name, status="ok", detail=f"{path}, mode {mode:o}")


def _disk(path: Path) -> HealthCheck:
    """Look for free space where the index goes."""
    there = _nearest_folder(path)
    free = shutil.disk_usage(there).free
    detail = f"{size_text(free)} free at {there}"
    if free >= _LITTLE_SPACE:
        return HealthCheck(name="disk", status="ok", detail=detail)
    remedy = "make room: an index takes about twice the size of the notes"
    return HealthCheck(name="disk", status="warning", detail=detail, remedy=remedy)


def _nearest_folder(path: Path) -> Path:
    """The path itself, or the closest parent that exists."""
    for place in (path, *path.parents):
        if place.exists():
            return place
    return Path("/")


def _memories(call: CommandCall) -> Iterator[HealthCheck]:
    agents = agents_of(call)
    for agent in agents:
        suffix = f" of {agent}" if len(agents) > 1 else ""
        yield from _memory(call, agent, suffix)


def _memory(call: CommandCall, agent: str | None, suffix: str) -> Iterator[HealthCheck]:
    name = f"workspace{suffix}"
    try:
        with memory_of(call, agent=agent) as memory:
            name = f"index{suffix}"
            report = memory.status()
            cause = _search_failure(memory, report)
            tried = memory.probe_providers(embed=False) if report.enabled else ()
    except NotewellError as error:
        yield _failed(name, error)
        return
    yield _workspace(f"workspace{suffix}", report)
    if report.switch:
        state = "on" if report.enabled else "switched off"
        said = f"{state}: {report.switch}"
        yield HealthCheck(name=f"memory{suffix}", status="ok", detail=said)
    yield from _engine(f"engine{suffix}", report)
    yield from _vector_search(f"vector search{suffix}", report)
    yield from _vectors(f"vectors{suffix}", report)
    yield from (_provider(f"embedding{suffix}", provider) for provider in tried)
    if report.key_hint:
        yield HealthCheck(name=f"key{suffix}", status="ok", detail=report.key_hint)
    if report.enabled and not tried:
        yield from _no_provider(f"embedding{suffix}", report)
    if cause is None or report.index.location:
        yield _index(f"index{suffix}", report)
    if cause is not None:
        yield _lost(f"search{suffix}", cause)


def _search_failure(memory: "SyncMemory", report: StatusReport) -> str | None:
    """Return why every search fails, in one sentence; None when none is known to.

    Nothing is built for this: without an index only a missing engine is a cause.
    """
    if not report.enabled:
        return None
    if report.index.location and report.index.indexed_at is None:
        return None
    answer = memory.search(PROBE_QUERY, max_results=1)
    if answer.reason != "unavailable":
        return None
    return answer.warnings[-1] if answer.warnings else "no engine could answer"


def _workspace(name: str, report: StatusReport) -> HealthCheck:
    count = number_of(report.disk_files, "file")
    problems = [
        f"{extra.path}: {extra.problem}"
        for extra in report.extra_paths
        if extra.problem
    ]
    if problems:
        return HealthCheck(
            name=name,
            status="warning",
            detail="; ".join([f"{report.workspace}, {count}", *problems]),
            remedy="correct memorySearch.extraPaths",
        )
    return HealthCheck(name=name, status="ok", detail=f"{report.workspace}, {count}")


def _engine(name: str, report: StatusReport) -> Iterator[HealthCheck]:
    """An engine of somebody else's: where it is, or why another one stands in."""
    for step in report.fallbacks:
        detail, _, remedy = step.message.rpartition("; ")
        yield HealthCheck(
            name=name,
            status="warning",
            detail=f"{step.to} stands in for {step.from_}: {detail}",
            remedy=remedy,
        )
    details = report.index.details.items()
    said = [f"{key} {value}" for key, value in details if key != VECTOR_SEARCH]
    if said:
        yield HealthCheck(name=name, status="ok", detail="; ".join(said))


def _vector_search(name: str, report: StatusReport) -> Iterator[HealthCheck]:
    """By what vectors are compared; that it is not what was asked for has a remedy."""
    said = report.index.details.get(VECTOR_SEARCH)
    if said is None:
        return
    detail, _, remedy = said.rpartition("; ")
    if remedy and detail:
        yield HealthCheck(name=name, status="warning", detail=detail, remedy=remedy)
    else:
        yield HealthCheck(name=name, status="ok", detail=said)


def _vectors(name: str, report: StatusReport) -> Iterator[HealthCheck]:
    """Whether each passage has a vector of those who should make them."""
    if not report.enabled:
        return
    for provider, why in report.index.vector_problems.items():
        detail, _, remedy = why.rpartition("; ")
        yield HealthCheck(
            name=name,
            status="warning",
            detail=f"{provider}: {detail or why}",
            remedy=remedy if detail else "notewell index",
        )
    for kept in report.index.vectors:
        if kept.used and kept.provider not in report.index.vector_problems:
            refused = f", {kept.refused:,} refused by the model" if kept.refused else ""
            said = f"{kept.provider}: {number_of(kept.passages, 'passage')}{refused}"
            yield HealthCheck(name=name, status="ok", detail=said)


def _provider(name: str, tried: ProviderProbe) -> HealthCheck:
    """A provider of vectors: whether what it needs is here. Nothing is sent."""
    if tried.problem is None:
        role = "stands in, " if tried.stands_in else ""
        where = "remote" if tried.remote else "on this machine"
        detail = (
            f"{tried.provider}, {tried.model}, {role}{where}; `status --deep` asks it"
        )
        return HealthCheck(name=name, status="ok", detail=detail)
    detail, _, remedy = tried.problem.rpartition("; ")
    return HealthCheck(name=name, status="warning", detail=detail, remedy=remedy)


def _no_provider(name: str, report: StatusReport) -> Iterator[HealthCheck]:
    """Why there is no provider: somebody said so, or its package is not here."""
    from notewell.adapters.embeddings.local.static import open_package
    from notewell.backends.registry import policy_class

    if not policy_class(report.requested_backend).embeds:
        return
    if report.requested_provider == "none":
        detail = "none, as memorySearch.provider says: notes are found by words alone"
        yield HealthCheck(name=name, status="ok", detail=detail)
    if report.requested_provider is not None:
        return
    try:
        open_package()
    except EmbeddingError as error:
        yield HealthCheck(
            name=name,
            status="warning",
            detail=f"{error.message}: notes are found by words alone",
            remedy=error.remedy,
        )


def _index(name: str, report: StatusReport) -> HealthCheck:
    index = report.index
    if not report.enabled:
        return HealthCheck(name=name, status="ok", detail="memory is switched off")
    if index.last_error is not None:
        remedy = "notewell index --force"
        detail = f"{index.location}: {index.last_error}"
        return HealthCheck(name=name, status="problem", detail=detail, remedy=remedy)
    if index.indexed_at is None:
        detail = "not built yet; the first search builds it"
        return HealthCheck(name=name, status="ok", detail=detail)
    counts = indexed_files(report)
    pending = [pending_files(index)] if index.pending else []
    if left := textless_files(report):
        pending.append(f"{left:,} without text: `notewell status` names them")
    said = "; ".join([f"{index.location}, {counts}", *pending, *index.warnings])
    if index.pending or index.warnings:
        remedy = "notewell index"
        return HealthCheck(name=name, status="warning", detail=said, remedy=remedy)
    return HealthCheck(name=name, status="ok", detail=said)


def _lost(name: str, cause: str) -> HealthCheck:
    """A cause says what to do behind its last semicolon, as failures are written."""
    detail, _, remedy = cause.rpartition("; ")
    return HealthCheck(
        name=name,
        status="problem",
        detail=f"no search is answered: {detail or cause}",
        remedy=remedy if detail else "notewell index --force",
    )


def _failed(name: str, error: NotewellError) -> HealthCheck:
    return HealthCheck(
        name=name, status="problem", detail=error.message, remedy=error.remedy
    )
