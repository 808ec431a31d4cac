"""`notewell index`: make the index agree with the notes."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall, agents_of, memory_of
from notewell.adapters.surfaces.cli.entry import error_lines
from notewell.adapters.surfaces.cli.options import Command
from notewell.adapters.surfaces.cli.overview import skip_lines
from notewell.adapters.surfaces.cli.progress import IndexProgress, VectorProgress
from notewell.adapters.surfaces.plain_text import one_line
from notewell.adapters.surfaces.sentences import changes_text, number_of
from notewell.errors import NotewellError
from notewell.types import IndexReport

if TYPE_CHECKING:
    from notewell.memory import SyncMemory

_TEXT: Final = """Make the index agree with the notes.

Only what has changed is read again, and with an embedding provider only passages
without a vector are embedded. Notes are never written. Finished work is
kept, so an interrupted run can be continued. Without --agent all configured agents
are brought up to date.

The exit code is 0 when every text is searchable, else 1.
"""
_EXAMPLES: Final = (
    ("notewell index", "bring all configured agents up to date"),
    ("notewell index --workspace ~/notes", "index one folder"),
    ("notewell index --force", "build everything anew; searches go on meanwhile"),
)


_REMEDY: Final = "run `notewell index` again; `notewell status` shows the last error"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexOutcome:
    """What became of one agent's index: a report, or the error that stopped it."""

    agent: str
    report: IndexReport | None = None
    error: NotewellError | None = None
    seconds: float = 0.0

    @property
    def complete(self) -> bool:
        """Whether every text is searchable."""
        return self.report is not None and self.report.pending == 0


@click.command("index", cls=Command, help=_TEXT, examples=_EXAMPLES)
@click.option("--force", is_flag=True, help="Build the whole index anew.")
@click.option(
    "--yes",
    is_flag=True,
    help="Agree to what is sent to a provider of vectors elsewhere. Without a terminal that is"
    " needed once for each host.",
)
@click.pass_context
def index_command(context: click.Context, force: bool, yes: bool) -> int:
    """Index every agent that the call names."""
    call = CommandCall.of(context)
    agents, agrees = agents_of(call), yes or _on_terminal()
    if len(agents) == 1:
        outcomes = [_indexed(call, agents[0], force, agrees)]
    else:
        outcomes = [_guarded(call, str(agent), force, agrees) for agent in agents]
    if call.output.json:
        call.output.value(_shape(outcomes))
    else:
        for outcome in outcomes:
            _show(outcome, call, named=len(outcomes) > 1)
    return 0 if all(outcome.complete for outcome in outcomes) else 1


def _on_terminal() -> bool:
    """Whether a person reads what is said, and can break it off."""
    streams = (sys.stdin, sys.stderr)
    return all(stream is not None and stream.isatty() for stream in streams)


def _indexed(
    call: CommandCall, agent: str | None, force: bool, agrees: bool
) -> IndexOutcome:
    title = f"Indexing {agent}" if agent else "Indexing"
    with memory_of(call, agent=agent) as memory:
        with (
            IndexProgress(call.output, one_line(title)) as progress,
            VectorProgress(call.output, agrees=agrees) as vectors,
        ):
            for line in _phases(memory) if call.output.verbose else ():
                call.output.note(line)
            try:
                report = memory.refresh(
                    force=force,
                    progress=progress,
                    waiting=progress.wait,
                    vectors=vectors.work,
                )
            except BaseException:
                if progress.ran or vectors.ran:
                    vectors.stop()
                    progress.stop()
                    call.output.note("what was finished is kept; run it again to go on")
                raise
        return IndexOutcome(agent=memory.agent, report=report, seconds=progress.seconds)


def _phases(memory: "SyncMemory") -> Iterator[str]:
    """Say what a run will go through: what is read, by which engine, who makes vectors."""
    status = memory.status()
    yield f"engine: {one_line(status.backend)}"
    yield f"sources: {', '.join(status.sources)}; {number_of(status.disk_files, 'note')}"
    for each in memory.probe_providers(embed=False):
        role = "stands in" if each.stands_in else "makes the vectors"
        model = f", {one_line(each.model)}" if each.model else ""
        problem = f": {one_line(each.problem)}" if each.problem else ""
        yield f"provider: {one_line(each.provider)}{model}, {role}{problem}"


def _guarded(call: CommandCall, agent: str, force: bool, agrees: bool) -> IndexOutcome:
    """One agent of several: what is wrong with it does not stop the others."""
    try:
        return _indexed(call, agent, force, agrees)
    except NotewellError as error:
        return IndexOutcome(agent=agent, error=error)


def _shape(outcomes: Sequence[IndexOutcome]) -> dict[str, object]:
    from notewell.adapters.surfaces import wire

    several = len(outcomes) > 1
    shapes: list[wire.Json] = []
    for outcome in outcomes:
        shape: wire.Json = {"agent": outcome.agent} if several else {}
        if outcome.report is not None:
            shape |= wire.index_json(outcome.report)
        if outcome.error is not None:
            shape |= wire.failure_json(outcome.error)
        elif not outcome.complete:
            shape |= wire.error_json("unavailable", _what_is_left(outcome), _REMEDY)
        shapes.append(shape)
    return wire.agents_json(shapes)


def _show(outcome: IndexOutcome, call: CommandCall, *, named: bool) -> None:
    prefix = f"{one_line(outcome.agent)}: " if named else ""
    if outcome.error is not None:
        call.output.note(prefix + "\n  ".join(error_lines(outcome.error)))
        return
    report = outcome.report
    assert report is not None, "an outcome is a report or an error"
    call.output.text(f"{prefix}{_sentence(report, outcome.seconds)}\n")
    for line in skip_lines(report.skipped, everything=call.output.verbose):
        call.output.note(f"skipped: {line}")
    for warning in report.warnings:
        call.output.note(f"warning: {one_line(warning)}")
    if not outcome.complete:
        call.output.note(f"{prefix}{_what_is_left(outcome)}\n  {_REMEDY}")


def _sentence(report: IndexReport, seconds: float) -> str:
    files = number_of(report.files, "file")
    chunks = number_of(report.chunks, "passage")
    vectors = f", {report.embedded:,} with a vector" if report.embedded else ""
    changed = changes_text(report) or "nothing changed"
    return f"{files}, {chunks}{vectors}; {changed}; {seconds:.1f} s"


def _what_is_left(outcome: IndexOutcome) -> str:
    pending = outcome.report.pending if outcome.report else 0
    return f"{number_of(pending, 'file')} could not be indexed"
