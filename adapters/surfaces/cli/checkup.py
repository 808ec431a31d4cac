"""What notewell finds in its own places: configuration, folders, workspaces, indexes."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.adapters.surfaces.cli import machine
from notewell.adapters.surfaces.cli.agents import agents_of, home_folder, settings_of
from notewell.adapters.surfaces.cli.check import Check, guarded
from notewell.adapters.surfaces.cli.opening import memory_of
from notewell.adapters.surfaces.cli.options import Call
from notewell.adapters.surfaces.cli.overview import indexed_files
from notewell.adapters.surfaces.cli.probe import lost_cause
from notewell.adapters.surfaces.sentences import number_of
from notewell.errors import ConfigError, EmbeddingError, NotewellError
from notewell.types import VECTOR_SEARCH, ProviderProbe, StatusReport

if TYPE_CHECKING:
    from notewell.config import Settings


def checkup(call: Call) -> Iterator[Check]:
    """Look at everything that depends on the configuration."""
    settings, check = _configuration(call)
    yield check
    if settings is not None:
        yield from _lacking(settings)
    for name, folder in _folders(settings).items():
        yield guarded(name, partial(machine.folder, name, folder))
    yield guarded("disk", lambda: machine.disk(_state_folder()))
    if settings is not None:
        yield from _memories(call)


def _configuration(call: Call) -> "tuple[Settings | None, Check]":
    name = "configuration"
    try:
        settings = settings_of(call)
    except ConfigError as error:
        return None, _failed(name, error)
    file = str(settings.file) if settings.file else "no file, defaults"
    if settings.warnings:
        detail = "; ".join([file, *settings.warnings])
        remedy = "see to that; `notewell config` shows every setting"
        check = Check(name=name, status="warning", detail=detail, remedy=remedy)
        return settings, check
    return settings, Check(name=name, status="ok", detail=file)


def _lacking(settings: "Settings") -> Iterator[Check]:
    """What the configuration asks for and this version does not do."""
    from notewell.backends.registry import policy_of

    said = [
        text for agent in settings.agents for text in policy_of(settings, agent).remarks
    ]
    if said:
        yield Check(
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

    return state_folder(os.environ, home_folder())


def _memories(call: Call) -> Iterator[Check]:
    agents = agents_of(call)
    for agent in agents:
        suffix = f" of {agent}" if len(agents) > 1 else ""
        yield from _memory(call, agent, suffix)


def _memory(call: Call, agent: str | None, suffix: str) -> Iterator[Check]:
    name = f"workspace{suffix}"
    try:
        with memory_of(call, agent=agent) as memory:
            name = f"index{suffix}"
            report = memory.status()
            cause = lost_cause(memory, report)
            tried = memory.probe_providers(embed=False) if report.enabled else ()
    except NotewellError as error:
        yield _failed(name, error)
        return
    yield _workspace(f"workspace{suffix}", report)
    yield from _engine(f"engine{suffix}", report)
    yield from _vector_search(f"vector search{suffix}", report)
    yield from (_provider(f"embedding{suffix}", provider) for provider in tried)
    if report.enabled and not tried:
        yield from _none(f"embedding{suffix}", report)
    if cause is None or report.index.location:
        yield _index(f"index{suffix}", report)
    if cause is not None:
        yield _lost(f"search{suffix}", cause)


def _workspace(name: str, report: StatusReport) -> Check:
    count = number_of(report.disk_files, "file")
    problems = [
        f"{extra.path}: {extra.problem}"
        for extra in report.extra_paths
        if extra.problem
    ]
    if problems:
        return Check(
            name=name,
            status="warning",
            detail="; ".join([f"{report.workspace}, {count}", *problems]),
            remedy="correct memorySearch.extraPaths",
        )
    return Check(name=name, status="ok", detail=f"{report.workspace}, {count}")


def _engine(name: str, report: StatusReport) -> Iterator[Check]:
    """An engine of somebody else's: where it is, or why another one stands in."""
    for step in report.fallbacks:
        detail, _, remedy = step.message.rpartition("; ")
        yield Check(
            name=name,
            status="warning",
            detail=f"{step.to} stands in for {step.from_}: {detail}",
            remedy=remedy,
        )
    details = report.index.details.items()
    said = [f"{key} {value}" for key, value in details if key != VECTOR_SEARCH]
    if said:
        yield Check(name=name, status="ok", detail="; ".join(said))


def _vector_search(name: str, report: StatusReport) -> Iterator[Check]:
    """By what vectors are compared; that it is not what was asked for has a remedy."""
    said = report.index.details.get(VECTOR_SEARCH)
    if said is None:
        return
    detail, _, remedy = said.rpartition("; ")
    if remedy and detail:
        yield Check(name=name, status="warning", detail=detail, remedy=remedy)
    else:
        yield Check(name=name, status="ok", detail=said)


def _provider(name: str, tried: ProviderProbe) -> Check:
    """A provider of vectors: whether what it needs is here. Nothing is sent."""
    if tried.problem is None:
        role = "stands in, " if tried.stands_in else ""
        where = "remote" if tried.remote else "on this machine"
        detail = (
            f"{tried.provider}, {tried.model}, {role}{where}; `status --deep` asks it"
        )
        return Check(name=name, status="ok", detail=detail)
    detail, _, remedy = tried.problem.rpartition("; ")
    return Check(name=name, status="warning", detail=detail, remedy=remedy)


def _none(name: str, report: StatusReport) -> Iterator[Check]:
    """Why there is no provider, where nobody said that there should be none."""
    from notewell.adapters.embeddings.static import open_package
    from notewell.backends.registry import policy_class

    embeds = policy_class(report.requested_backend).embeds
    if report.requested_provider is not None or not embeds:
        return
    try:
        open_package()
    except EmbeddingError as error:
        yield Check(
            name=name,
            status="warning",
            detail=f"{error.message}: notes are found by words alone",
            remedy=error.remedy,
        )


def _index(name: str, report: StatusReport) -> Check:
    index = report.index
    if not report.enabled:
        return Check(name=name, status="ok", detail="memory is switched off")
    if index.last_error is not None:
        remedy = "notewell index --force"
        detail = f"{index.location}: {index.last_error}"
        return Check(name=name, status="problem", detail=detail, remedy=remedy)
    if index.indexed_at is None:
        detail = "not built yet; the first search builds it"
        return Check(name=name, status="ok", detail=detail)
    counts = indexed_files(report)
    pending = [f"{index.pending:,} pending"] if index.pending else []
    said = "; ".join([f"{index.location}, {counts}", *pending, *index.warnings])
    if index.pending or index.warnings:
        remedy = "notewell index"
        return Check(name=name, status="warning", detail=said, remedy=remedy)
    return Check(name=name, status="ok", detail=said)


def _lost(name: str, cause: str) -> Check:
    """A cause says what to do behind its last semicolon, as failures are written."""
    detail, _, remedy = cause.rpartition("; ")
    return Check(
        name=name,
        status="problem",
        detail=f"no search is answered: {detail or cause}",
        remedy=remedy if detail else "notewell index --force",
    )


def _failed(name: str, error: NotewellError) -> Check:
    return Check(name=name, status="problem", detail=error.message, remedy=error.remedy)
