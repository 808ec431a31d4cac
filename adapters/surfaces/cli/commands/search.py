"""`notewell search`: ask, and get passages with the lines they come from."""

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall, memory_of, screen_of
from notewell.adapters.surfaces.cli.entry import CommandFailure
from notewell.adapters.surfaces.cli.filters import filter_of, filter_options, narrows
from notewell.adapters.surfaces.cli.options import (
    Command,
    CommandUsageError,
    fraction,
    whole_number,
)
from notewell.adapters.surfaces.cli.output import CommandOutput
from notewell.adapters.surfaces.cli.progress import IndexProgress
from notewell.adapters.surfaces.plain_text import decode_argument, one_line
from notewell.adapters.surfaces.sentences import answer_remarks
from notewell.types import SearchAnswer, Source

if TYPE_CHECKING:
    from notewell.memory import SyncMemory

_REFRESH_SECONDS: Final = 2.0
_MOST_RESULTS: Final = 10_000
_FORMATS: Final = ("json", "jsonl", "markdown", "plain")
_TEXT: Final = """Find the passages that answer a question, best first.

QUERY is plain text: no sign in it has a meaning of its own. Several words need no
quotes. Each passage is cited as path#L<first>-L<last>, which `notewell get` reads.
Notes of a day that it names (yesterday, 3 March) are lifted, and none is hidden.

Options narrow where the best are looked for; --path, --exclude, --tag, --where, --phrase
and --without may be given several times. Without QUERY they show the newest first.

The index is built on first use. Later, one process in the background looks for
changed notes after the answer, and nobody waits for it.
"""
_EXAMPLES: Final = (
    ("notewell search gateway port", "ask the configured workspace"),
    ('notewell search "what did we decide?" --workspace ~/notes', "ask any folder"),
    (
        "notewell search --max-results 20 --json invoice",
        "one JSON object, for programs",
    ),
    ("notewell search invoice --format markdown", "quotations to paste"),
    (
        "notewell search gateway --since 2026-03 --path projects --tag work",
        "look only there, only then, only in those",
    ),
    ('notewell search --on yesterday ""', "what was written then"),
    ("notewell search -- --force", "words that begin with a dash"),
)

max_results_option: Final = click.option(
    "--max-results",
    callback=whole_number(_MOST_RESULTS),
    metavar="N",
    help="The most passages.",
)
source_option: Final = click.option(
    "--source",
    "sources",
    type=click.Choice(["memory", "sessions"]),
    multiple=True,
    metavar="SOURCE",
    help="Only memory, or only sessions.",
)
format_option: Final = click.option(
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    metavar="FORMAT",
    help="json: the same as --json. jsonl: one object for each passage. markdown: "
    "quotations with links. plain: as on a terminal, without colours.",
)


@click.command("search", cls=Command, help=_TEXT, examples=_EXAMPLES)
@click.argument("words", nargs=-1, metavar="QUERY")
@click.option("--query", metavar="Q", help="The query, instead of the argument.")
@max_results_option
@click.option(
    "--min-score",
    callback=fraction,
    metavar="X",
    help="Leave out what scores less, 0 to 1; by default a threshold that fits the "
    "model. Passages that hold a word of the query as it is written are never left "
    "out.",
)
@source_option
@filter_options
@format_option
@click.pass_context
def search_command(
    context: click.Context,
    /,
    words: Sequence[str],
    query: str | None,
    max_results: int | None,
    min_score: float | None,
    sources: Sequence[Source],
    form: str | None,
    **filters: object,
) -> int:
    """Answer a query, then bring the index up to date."""
    call = CommandCall.of(context)
    form = answer_form(call, form)
    return answer_query(
        call,
        _query(words, query, narrowed=narrows(filters)),
        form,
        max_results=max_results,
        min_score=min_score,
        sources=sources,
        filters=filters,
    )


def answer_query(
    call: CommandCall,
    asked: str,
    form: str | None,
    *,
    max_results: int | None = None,
    min_score: float | None = None,
    sources: Sequence[Source] = (),
    filters: Mapping[str, object] = {},
    up_to_now: bool = False,
) -> int:
    """Answer a query, then bring the index up to date; return the exit code.

    Args:
        up_to_now: What is dated in the future is not wanted.
    """
    with memory_of(call) as memory:
        if up_to_now:
            # A file's own day is this machine's, which may be ahead of the user's.
            filters = {**filters, "until": f"{max(memory.today, date.today())}"}
        chosen = filter_of(filters, memory.today)
        with IndexProgress(call.output, "First use: indexing") as progress:
            answer = memory.search(
                asked,
                max_results=max_results,
                min_score=min_score,
                sources=sources or None,
                filter=chosen,
                progress=progress,
                waiting=progress.wait,
            )
        if call.output.host:
            call.output.host.require_complete(not answer.fallbacks)
        write_answer(answer, call, form)
        if call.output.host:
            return 0  # who keeps the index up to date is the host
        call.output.finish()
        looked = not sources and _is_up_to_date(answer)
        if not progress.ran and not looked and _wants_refresh(answer, memory):
            _refresh(memory, call)
    return 1 if answer.reason == "unavailable" else 0


def answer_form(call: CommandCall, form: str | None) -> str | None:
    """Return the form that is wanted; None is what suits where stdout goes."""
    if call.output.json and form not in (None, "json"):
        raise CommandUsageError(
            "the answer cannot have two forms", remedy="use either --json or --format"
        )
    call.output.json = call.output.json or form in ("json", "jsonl")
    return "json" if call.output.json and form is None else form


def write_answer(answer: SearchAnswer, call: CommandCall, form: str | None) -> None:
    """Write an answer in the form that is wanted."""
    if form == "json" or (form == "jsonl" and answer.reason == "unavailable"):
        from notewell.adapters.surfaces import wire

        shape = wire.answer_json(answer)
        if answer.reason == "unavailable":
            lost = _unavailable(answer)
            shape |= wire.error_json(lost.kind, lost.message, lost.remedy)
        call.output.value(shape)
        return
    from notewell.adapters.surfaces.cli import results
    from notewell.adapters.surfaces.cli.screen import Screen

    for sentence in answer_remarks(answer):
        call.output.note(one_line(sentence))
    if form == "jsonl":
        results.write_json_lines(answer, call.output)
        return
    if form == "markdown":
        call.output.text(results.answer_markdown(answer))
        return
    screen = Screen() if form == "plain" else screen_of(call)
    call.output.text(results.draw_answer(answer, screen))


def _query(words: Sequence[str], option: str | None, *, narrowed: bool) -> str:
    if option is not None and words:
        raise CommandUsageError(
            "the query is given twice", remedy="use either QUERY or --query, not both"
        )
    if option is None and not words and narrowed:
        return ""
    if option is None and not words:
        raise CommandUsageError(
            "what should be searched for?",
            remedy='give a query: notewell search "gateway port"',
        )
    return decode_argument(" ".join(words) if option is None else option)


def _wants_refresh(answer: SearchAnswer, memory: "SyncMemory") -> bool:
    """Whether to look for changed notes now; one may want only `index` to do that."""
    if answer.reason in ("memory-disabled", "unavailable"):
        return False
    return memory.settings.agent(memory.agent).search.sync.on_search


def _is_up_to_date(answer: SearchAnswer) -> bool:
    """Whether an engine has just compared all notes with its index.

    To compare them again would take a fifth of the command. Where another engine had to
    help, its index is looked at; an engine that does not look first may have more to do
    than notes that changed.
    """
    from notewell.backends.registry import policy_class

    return (
        policy_class(answer.backend).reports_staleness
        and not answer.fallbacks
        and answer.freshness.pending == 0
        and answer.freshness.stale is False
    )


def _refresh(memory: "SyncMemory", call: CommandCall) -> None:
    """Have indexed what has changed. The answer is out: nothing here may spoil it."""
    try:
        if memory.refresh_later() is None:
            memory.refresh(within=_REFRESH_SECONDS)
    except Exception as error:  # noqa: BLE001 - see above
        if call.output.verbose:
            call.output.note(f"note: the index was not refreshed: {error!r}")


def _unavailable(answer: SearchAnswer) -> CommandFailure:
    causes = [step.message for step in answer.fallbacks] + list(answer.warnings)
    return CommandFailure(
        kind="unavailable",
        message=causes[-1] if causes else "no engine could answer",
        remedy="run `notewell doctor`",
        code=1,
    )


def cold_search() -> int:
    """Answer the query of the second argument, as a benchmark runs it: a whole process.

    The place comes by standard input. What differs from `notewell search --json` is that
    no options are read and that no changed notes are looked for afterwards.
    """
    import msgspec

    from notewell.bench.contenders import Workplace, open_workplace

    place = msgspec.json.decode(sys.stdin.buffer.read(), type=Workplace)
    call = CommandCall(output=CommandOutput(json=True))
    with open_workplace(place, os.environ) as memory:
        answer = memory.search(
            decode_argument(sys.argv[2]), max_results=place.limit, sources={"memory"}
        )
        write_answer(answer, call, "json")
    return 1 if answer.reason == "unavailable" else 0
