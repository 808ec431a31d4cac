"""The answer of a search: for a terminal, as lines of JSON, as Markdown."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from notewell.adapters.surfaces.cli.highlight import Span, find_matches
from notewell.adapters.surfaces.cli.output import CommandOutput
from notewell.adapters.surfaces.cli.screen import Screen, cell_count, shortened, wrapped
from notewell.adapters.surfaces.plain_text import one_line, visible
from notewell.adapters.surfaces.sentences import (
    answered_by,
    duration_text,
    empty_answer,
    number_of,
    plural,
)
from notewell.types import Hit, SearchAnswer

_MARK: Final = "▸"
_GAP: Final = "  "


def draw_answer(answer: SearchAnswer, screen: Screen) -> str:
    """Draw an answer. Where a hit says in which line it begins, lines have numbers."""
    parts = [
        _passage(number, hit, answer, screen)
        for number, hit in enumerate(answer.results, start=1)
    ]
    if answer.reason is not None and not answer.results:
        said, advice = empty_answer(answer)
        parts.append(f"{said}\n{_waiting(answer)}{screen.paint(advice, 'dim')}\n")
    return "\n".join([*parts, screen.paint(_footer(answer), "dim") + "\n"])


def _waiting(answer: SearchAnswer) -> str:
    """What may be found once the index has caught up with the notes."""
    pending, stale = answer.freshness.pending, answer.freshness.stale
    if not pending and not stale:
        return ""
    count = number_of(pending, "note") if pending else "Some notes"
    verb = "waits" if pending == 1 else "wait"
    return f"{count} {verb} to be indexed: run `notewell index`, then search again.\n"


def _passage(number: int, hit: Hit, answer: SearchAnswer, screen: Screen) -> str:
    told = f"{hit.score:.2f}"
    if hit.date and not answer.query.strip():  # the newest, of which none is better
        told = hit.date.isoformat()
    head = _head(number, hit, screen, Path(answer.workspace), told)
    return "".join(f"{line}\n" for line in [head, *_body(hit, answer, screen)])


def _head(number: int, hit: Hit, screen: Screen, root: Path, told: str) -> str:
    """The citation and heading of a passage, and what is told of it: score or day."""
    ordinal = f"{number}."
    citation, heading = one_line(hit.citation), one_line(hit.heading)
    if screen.columns is not None:
        used = cell_count(f"{ordinal} {citation}{_GAP}{_GAP}{told}")
        free = screen.columns - used
        heading = shortened(heading, free) if free > 3 else ""
    named = screen.paint(citation, "bold")
    if hit.source == "memory":
        named = screen.link(named, Path(root, hit.path))
    parts = [f"{screen.paint(ordinal, 'dim')} {named}"]
    parts += [screen.paint(text, "dim") for text in (heading, told) if text]
    return _GAP.join(parts)


def _body(hit: Hit, answer: SearchAnswer, screen: Screen) -> Iterator[str]:
    """The snippet's lines, each behind a gutter with its number and the mark."""
    width, first = len(str(hit.end_line)), hit.snippet_line
    for offset, raw in _snippet_lines(hit.snippet):
        number = None if first is None else first + offset
        gutter = _gutter(number, width, hit, screen)
        indent = " " * (width + 6) if number is not None else " " * 4
        yield from _wrapped_lines(raw, answer.query, screen, gutter, indent)
    more = 0 if first is None else hit.end_line - _last_line(hit, first)
    if more > 0:
        said = f"… {more} more {plural(more, 'line')}, to L{hit.end_line}"
        yield " " * (width + 6) + screen.paint(said, "dim")
    yield from _elsewhere(hit, width, screen)


def _elsewhere(hit: Hit, width: int, screen: Screen) -> Iterator[str]:
    """The other places of the same text."""
    if hit.also_in:
        named = ", ".join(map(one_line, hit.also_in))
        yield " " * (width + 6) + screen.paint(f"also in {named}", "dim")


def _last_line(hit: Hit, first: int) -> int:
    return first + hit.snippet.removesuffix("\n").count("\n")


def _snippet_lines(snippet: str) -> Iterator[tuple[int, str]]:
    """The lines from the first to the last that is not blank."""
    lines = [visible(line.removesuffix("\r")) for line in snippet.split("\n")]
    filled = [place for place, line in enumerate(lines) if line.strip()]
    for place in range(filled[0], filled[-1] + 1) if filled else ():
        yield place, lines[place].rstrip()


def _gutter(number: int | None, width: int, hit: Hit, screen: Screen) -> str:
    if number is None:
        return " " * 4
    if number == hit.match_line:
        return screen.paint(f"  {_MARK} {number:>{width}}", "bold") + _GAP
    return screen.paint(f"    {number:>{width}}", "dim") + _GAP


def _wrapped_lines(
    line: str, query: str, screen: Screen, gutter: str, indent: str
) -> Iterator[str]:
    text = line.expandtabs(4) if screen.terminal else line
    spans = find_matches(text, query) if screen.coloured else []
    room = None if screen.columns is None else screen.columns - len(indent)
    for place, (start, end) in enumerate(wrapped(text, room)):
        shown = painted(text[start:end], within(spans, (start, end)), screen)
        yield ((indent if place else gutter) + shown).rstrip()


def painted(text: str, spans: Sequence[Span], screen: Screen) -> str:
    """Give the spans of a text the look of a match."""
    parts: list[str] = []
    last = 0
    for start, end in spans:
        parts.append(text[last:start])
        parts.append(screen.paint(text[start:end], "match"))
        last = end
    return "".join(parts) + text[last:]


def within(spans: Sequence[Span], piece: Span) -> list[Span]:
    """Return the parts of the spans that lie in a piece, counted from its start."""
    first, last = piece
    return [
        (max(start, first) - first, min(end, last) - first)
        for start, end in spans
        if start < last and end > first
    ]


def _footer(answer: SearchAnswer) -> str:
    count = len(answer.results)
    found = f"{count} {plural(count, 'passage')}"
    return f"{found} · {answered_by(answer)} · {duration_text(answer.took_ms)}"


def write_json_lines(answer: SearchAnswer, output: CommandOutput) -> None:
    """Write one JSON object for each passage, best first."""
    from notewell.adapters.surfaces import wire

    for hit in answer.results:
        output.value(wire.hit_json(hit))


def answer_markdown(answer: SearchAnswer) -> str:
    """Write the passages as quotations, each below a link to its note.

    The links are relative to the workspace.
    """
    return "\n".join(_quotation(hit) for hit in answer.results)


def _quotation(hit: Hit) -> str:
    target = one_line(hit.path).replace("<", "%3C").replace(">", "%3E")
    head = f"[{_escaped(one_line(hit.citation))}](<{target}>)"
    if hit.heading:
        head += f" · {_escaped(one_line(hit.heading))}"
    lines = [f"**{head}**", "", *_quoted(hit.snippet)]
    if hit.also_in:
        named = ", ".join(_escaped(one_line(place)) for place in hit.also_in)
        lines += ["", f"Also in {named}."]
    return "".join(f"{line}\n" for line in lines)


def _quoted(snippet: str) -> Iterator[str]:
    for line in visible(snippet).strip("\n").split("\n"):
        yield f"> {line}".rstrip()


def _escaped(text: str) -> str:
    """Escape what Markdown would read as emphasis, a link or code."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>" else sign for sign in text)
