"""The state of one agent's memory, tried by a search, as lines for people."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from notewell.adapters.surfaces.cli.screen import Screen
from notewell.adapters.surfaces.plain_text import one_line
from notewell.adapters.surfaces.sentences import number_of, plural, size_text, time_text
from notewell.errors import NotewellError
from notewell.types import (
    ExtraPath,
    IndexStatus,
    ProviderProbe,
    Skipped,
    StatusReport,
    VectorStatus,
)

if TYPE_CHECKING:
    from notewell.memory import SyncMemory

PROBE_QUERY: Final = "notewell"
"""What a search is made with that only shows whether an index answers."""

_LABEL: Final = 14
"""Columns of a label."""

_SHOWN: Final = 10
"""Of a long list, unless everything is wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchProbe:
    """How a probe search went.

    Attributes:
        ok: Whether the configured engine answered, at full strength.
        detail: The same for a person.
        mode: How it searched; None when it did not.
        took_ms: Wall time of the search.
    """

    ok: bool
    detail: str
    mode: str | None = None
    took_ms: float | None = None


def probe_search(memory: "SyncMemory", report: StatusReport) -> SearchProbe:
    """Search for a word, unless there is nothing that could answer.

    A search would build a missing index; a status must not.
    """
    if not report.enabled:
        return SearchProbe(ok=True, detail="memory is switched off")
    if report.index.indexed_at is None:
        return SearchProbe(
            ok=False, detail="the index was never built: run `notewell index`"
        )
    try:
        answer = memory.search(PROBE_QUERY, max_results=1)
    except NotewellError as error:
        return SearchProbe(ok=False, detail=error.message)
    weak = answer.degraded or answer.reason == "unavailable"
    causes = [step.message for step in answer.fallbacks]
    said = f"{answer.backend} answered, {answer.mode}, {answer.took_ms:,.0f} ms"
    return SearchProbe(
        ok=not weak,
        detail="; ".join([said, *causes]),
        mode=answer.mode,
        took_ms=answer.took_ms,
    )


def draw_status(
    report: StatusReport,
    screen: Screen,
    *,
    everything: bool,
    probe: SearchProbe | None,
    providers: Sequence[ProviderProbe] = (),
) -> str:
    """Draw a report.

    Args:
        report: What was counted.
        screen: Where it will be seen.
        everything: Whether long lists are shown whole.
        probe: How the probe search went, if there was one.
        providers: How the embedding providers did, if they were tried.
    """
    title = screen.paint(f"agent {one_line(report.agent)}", "bold")
    lines = [title]
    rows = _rows(report, everything=everything, probe=probe)
    tried = ("embedding", [_tried(provider) for provider in providers])
    for label, values in (*rows, tried):
        for place, value in enumerate(values):
            name = screen.paint(f"{'' if place else label:<{_LABEL}}", "dim")
            lines.append(f"  {name}{one_line(value)}")
    return "\n".join(lines) + "\n"


def _serving(path: str, commands: int) -> str:
    return f"{path}, {number_of(commands, 'command')} served"


def indexed_files(report: StatusReport) -> str:
    """Say how many files are in the index, and of how many notes unless it has more.

    The more are transcripts, which nobody counts on disk.
    """
    held, here = report.index.files, report.disk_files
    of = f" of {here:,}" if held <= here else ""
    return f"{held:,}{of} {plural(max(held, here), 'file')}"


def textless_files(report: StatusReport) -> int:
    """Count the files on disk that hold no text, so that no index has them."""
    return sum(each.reason == "not-text" for each in report.skipped)


def _rows(
    report: StatusReport, *, everything: bool, probe: SearchProbe | None
) -> Iterator[tuple[str, Sequence[str]]]:
    yield "workspace", [report.workspace]
    files = number_of(report.disk_files, "file")
    yield "on disk", [f"{files}, {size_text(report.disk_bytes)}"]
    yield "memory", _switch(report)
    yield "engine", [_engine(report)]
    yield "sources", [" and ".join(report.sources)]
    if report.sockets:
        yield "serving", [_serving(*each) for each in report.sockets.items()]
    if report.index.location:
        yield "index", [report.index.location, *_index(report)]
        yield "last indexed", [_last(report)]
    yield "vectors", list(_vectors(report))
    yield (
        "left out",
        [_ignored(report, everything=everything)] if report.ignored else [],
    )
    yield "key", [report.key_hint] if report.key_hint else []
    for name, value in report.index.details.items():
        yield name, [value]
    yield "last error", [report.index.last_error] if report.index.last_error else []
    yield "built with", [_identity(report)] if everything else []
    yield "probe", [] if probe is None else [_probed(probe)]
    yield "extra paths", [_extra(path) for path in report.extra_paths]
    yield "skipped", list(skip_lines(report.skipped, everything=everything))
    yield (
        "notes",
        [
            f"{step.to} instead of {step.from_}: {step.message}"
            for step in report.fallbacks
        ],
    )
    yield "warnings", list(dict.fromkeys(report.warnings))


def _switch(report: StatusReport) -> list[str]:
    """Whether memory is on, where something has decided that."""
    if report.enabled:
        return [f"on: {report.switch}"] if report.switch else []
    return [f"switched off: {report.switch}" if report.switch else "switched off"]


def _engine(report: StatusReport) -> str:
    """Who answers, and how."""
    if report.enabled and not report.index.location:
        return f"none: {report.backend} does not answer"
    asked = report.requested_backend
    instead = "" if asked == report.backend else f" instead of {asked}"
    if "mode" in report.index.details:  # where an engine says how it searches
        return f"{report.backend}{instead}"
    provider = _provider(report)
    meaning = f" and by meaning ({provider})" if provider else ""
    return f"{report.backend}{instead}, by words{meaning}"


def _provider(report: StatusReport) -> str | None:
    """Who should turn text into vectors; None when nobody should."""
    provider = report.requested_provider
    return None if provider == "none" else provider


def _index(report: StatusReport) -> Iterator[str]:
    """Derived from the counts of this moment, never from a flag."""
    index = report.index
    chunks = number_of(index.chunks, "passage")
    yield f"{indexed_files(report)}, {chunks}, {size_text(index.bytes)}"
    if index.pending:
        yield f"{pending_files(index)}: run `notewell index`"
    elif index.files + (left := textless_files(report)) >= report.disk_files:
        yield (
            f"up to date; {number_of(left, 'file')} without text"
            if left
            else "up to date"
        )


def pending_files(index: IndexStatus) -> str:
    """Count what waits; what is gone was removed, and not changed."""
    counts = ((index.pending - index.gone, "pending"), (index.gone, "removed"))
    return ", ".join(f"{count:,} {word}" for count, word in counts if count)


def _vectors(report: StatusReport) -> Iterator[str]:
    """The sets that there are, and what is missing of those that are wanted."""
    index = report.index
    yield from map(_vector_set, index.vectors)
    if not report.enabled:
        return
    for name, why in index.vector_problems.items():
        yield f"{name}: {why}"


def _vector_set(kept: VectorStatus) -> str:
    passages = number_of(kept.passages, "passage")
    named = f"{kept.provider} {kept.model}, {kept.dimension} numbers: {passages}"
    if not kept.used:
        return f"{named}, kept from before: the configuration asks for others"
    lacking = f", {kept.lacking:,} to do" if kept.lacking else ""
    refused = f", {kept.refused:,} refused by the model" if kept.refused else ""
    return f"{named}{lacking}{refused}, search: {kept.search}{_apart(kept)}"


def _ignored(report: StatusReport, *, everything: bool) -> str:
    """Say what a `.notewellignore` leaves out."""
    shown = report.ignored if everything else report.ignored[:_SHOWN]
    left = len(report.ignored) - len(shown)
    more = f" and {left:,} more; --verbose shows all" if left else ""
    return f"by .notewellignore: {', '.join(shown)}{more}"


def _apart(kept: VectorStatus) -> str:
    """Say how well the model tells the notes apart, where that was measured."""
    if not kept.apart:
        return ""
    known = ", ".join(f"{script} {how}" for script, how in sorted(kept.apart.items()))
    return f"; tells these notes apart: {known}"


def _last(report: StatusReport) -> str:
    when = report.index.indexed_at
    return "never" if when is None else time_text(when)


def _identity(report: StatusReport) -> str:
    identity = report.index.identity
    return ", ".join(f"{name} {identity[name]}" for name in sorted(identity))


def _probed(probe: SearchProbe) -> str:
    return f"{'ok' if probe.ok else 'problem'}: {probe.detail}"


def _tried(provider: ProviderProbe) -> str:
    role = " (stands in)" if provider.stands_in else ""
    if provider.problem:  # which begins with the provider's name
        return f"problem{role}: {provider.problem}"
    where = "sends text away" if provider.remote else "on this machine"
    return (
        f"ok{role}: {provider.provider}, {provider.model}, {provider.dimension} numbers,"
        f" {provider.took_ms:,.0f} ms, {where}"
    )


def _extra(path: ExtraPath) -> str:
    count = number_of(path.files, "file")
    return f"{path.path}: {path.problem or count}"


def skip_lines(skipped: Sequence[Skipped], *, everything: bool) -> Iterator[str]:
    """Return one line for each, the first ten unless everything is wanted."""
    shown = skipped if everything else skipped[:_SHOWN]
    for skip in shown:
        yield one_line(f"{skip.path} ({skip.reason}): {skip.detail}")
    left = len(skipped) - len(shown)
    if left:
        yield f"and {left:,} more; --verbose shows all"
