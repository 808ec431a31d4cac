"""Answers of a search for other programs than a terminal: lines of JSON, Markdown."""

from collections.abc import Iterator
from typing import Final

from notewell.adapters.surfaces.cli.output import Output
from notewell.adapters.surfaces.visible import one_line, visible
from notewell.types import Hit, SearchAnswer

FORMATS: Final = ("json", "jsonl", "markdown", "plain")


def show_lines(answer: SearchAnswer, output: Output) -> None:
    """Write one JSON object for each passage, best first."""
    from notewell.adapters.surfaces import wire

    for hit in answer.results:
        output.value(wire.hit(hit))


def markdown(answer: SearchAnswer) -> str:
    """Write the passages as quotations, each below a link to its note.

    The links are relative to the workspace.
    """
    return "\n".join(_quotation(hit) for hit in answer.results)


def _quotation(hit: Hit) -> str:
    target = one_line(hit.path).replace("<", "%3C").replace(">", "%3E")
    head = f"[{_plain(one_line(hit.citation))}](<{target}>)"
    if hit.heading:
        head += f" · {_plain(one_line(hit.heading))}"
    return "".join(f"{line}\n" for line in (f"**{head}**", "", *_quoted(hit.snippet)))


def _quoted(snippet: str) -> Iterator[str]:
    for line in visible(snippet).strip("\n").split("\n"):
        yield f"> {line}".rstrip()


def _plain(text: str) -> str:
    """Escape what Markdown would read as emphasis, a link or code."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>" else sign for sign in text)
