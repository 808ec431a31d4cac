"""`notewell watch`: keep the index up to date until somebody ends it."""

from datetime import datetime
from typing import TYPE_CHECKING, Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall
from notewell.adapters.surfaces.cli.entry import TerminationSignal
from notewell.adapters.surfaces.cli.options import Command, CommandUsageError
from notewell.adapters.surfaces.cli.output import CommandOutput
from notewell.adapters.surfaces.cli.progress import VectorProgress
from notewell.adapters.surfaces.plain_text import one_line
from notewell.adapters.surfaces.sentences import changes_text, number_of

if TYPE_CHECKING:
    from notewell.adapters.surfaces.cli.serving import CommandServer
    from notewell.errors import BackendError
    from notewell.types import IndexReport

_TEXT: Final = """Keep the index up to date, vectors included, until it is ended.

Runs in the foreground and writes a line whenever something has changed. Notes are
looked at again when their folders report a change and are quiet for
memorySearch.sync.watchDebounceMs, and every memorySearch.sync.intervalMinutes. Searches
of other processes go on meanwhile, and use its open engine. Ctrl-C and SIGTERM end
it cleanly; what was finished is kept.
"""
_EXAMPLES: Final = (
    ("notewell watch", "the configured workspace"),
    ("notewell watch --workspace ~/notes", "any folder"),
    ("notewell watch --agent tea", "another agent than the default one"),
)


@click.command("watch", cls=Command, help=_TEXT, examples=_EXAMPLES)
@click.pass_context
def watch_command(context: click.Context) -> int:
    """Watch one agent's memory, and write what happens."""
    call = CommandCall.of(context)
    if call.output.json:
        raise CommandUsageError(
            "`watch` writes lines without end and no JSON",
            remedy="leave --json out; `notewell status --json` has the numbers",
        )
    log = _Log(call.output)
    try:
        _watch(call, log)
    except (KeyboardInterrupt, TerminationSignal):
        log.stopped()
    return 0


def _watch(call: CommandCall, log: "_Log") -> None:
    from notewell.adapters.surfaces.cli.serving import CommandServer
    from notewell.errors import BackendError
    from notewell.memory.keeper import Keeper  # late: `--help` needs none of it

    with (
        Keeper(
            workspace=call.workspace,
            agent=call.agent,
            config=call.config,
            backend=call.backend,
        ) as keeper,
        CommandServer(keeper.setup) as server,
        VectorProgress(call.output) as vectors,
    ):
        log.server = server
        log.line(f"watching {one_line(str(keeper.memory.workspace.root))}")
        for outcome in keeper.runs(warn=log.warn, vectors=vectors.work):
            if isinstance(outcome, BackendError):
                log.failure(outcome)
            else:
                log.report(outcome)


class _Log:
    """Lines with the time of day; what was said last is not said again."""

    def __init__(self, output: CommandOutput) -> None:
        self._output = output
        self._told: set[str] = set()
        self._first = True
        self.server: CommandServer | None = None

    def line(self, text: str) -> None:
        """Write a line."""
        self._output.text(f"{datetime.now():%H:%M:%S}  {text}\n")

    def stopped(self) -> None:
        """Say that it has ended, and how many commands of others it has run."""
        served = self.server.served if self.server else 0
        self.line(
            f"stopped, {number_of(served, 'command')} served" if served else "stopped"
        )

    def warn(self, text: str) -> None:
        """Write a warning, once."""
        if text not in self._told:
            self._told.add(text)
            self.line(f"warning: {one_line(text)}")

    def failure(self, error: "BackendError") -> None:
        """Write what stopped a run; it is tried again."""
        self.line(f"failed: {one_line(error.message)}; {one_line(error.remedy)}")

    def report(self, report: "IndexReport") -> None:
        """Write what a run has done, if it has done anything."""
        for warning in report.warnings:
            self.warn(warning)
        if report.changed or report.pending or self._first:
            self._first = False
            self.line(_sentence(report))


def _sentence(report: "IndexReport") -> str:
    parts = [
        changes_text(report) or "up to date",
        number_of(report.files, "file"),
        number_of(report.chunks, "passage"),
    ]
    if report.embedded:
        parts.append(f"{report.embedded:,} with a vector")
    if report.pending:
        parts.append(f"{report.pending:,} pending")
    return ", ".join(parts)
