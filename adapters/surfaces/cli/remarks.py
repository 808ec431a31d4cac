"""What a person should know about an answer, as sentences for stderr."""

from collections.abc import Iterator

from notewell.adapters.surfaces.cli.output import Output
from notewell.adapters.surfaces.cli.quantity import counted
from notewell.adapters.surfaces.cli.visible import one_line
from notewell.adapters.surfaces.steps import step_down
from notewell.types import Freshness, SearchAnswer


def remark(answer: SearchAnswer, output: Output) -> None:
    """Say every step down, warning and weakness of an answer."""
    for sentence in remarks(answer):
        output.note(one_line(sentence))


def remarks(answer: SearchAnswer) -> Iterator[str]:
    """Return the sentences, the weightiest first."""
    for step in answer.fallbacks:
        yield f"note: {step_down(step)}"
    if answer.local_to_remote:
        yield "warning: text left this machine because a local choice had failed"
    if answer.degraded:
        yield "note: this answer is weaker than the configuration asks for"
    for warning in answer.warnings:
        yield f"warning: {warning}"
    # builtin never looks before an answer, and a command of its own always afterwards.
    if answer.freshness.stale is not None or answer.backend != "builtin":
        yield from _behind(answer.freshness)


def _behind(freshness: Freshness) -> Iterator[str]:
    if freshness.stale is None:
        yield "note: it was not checked whether notes have changed since they were indexed"
    elif freshness.pending:
        verb = "has" if freshness.pending == 1 else "have"
        count = counted(freshness.pending, "note")
        yield f"note: {count} {verb} changed since the index was made"
    elif freshness.stale:
        yield "note: some notes have changed since they were indexed"
