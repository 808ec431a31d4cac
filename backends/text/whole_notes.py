"""Answers of engines that read whole notes: what every engine owes a query, once.

A filter, days that are asked for, copies, and a query without words, of which the newest notes
are the answer. The engine says which line of a note fits the words best.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

from notewell.backends.base import Findings, Query, in_order
from notewell.backends.text.filtering import (
    FilterTest,
    PhraseTest,
    ReadNote,
    any_passes,
    filter_warnings,
)
from notewell.backends.text.listing import list_hits
from notewell.backends.text.passages import Passage
from notewell.backends.text.query import wants_newest
from notewell.backends.text.ranking import lifted_score
from notewell.backends.text.redundancy import join_equal_hits
from notewell.filters import NO_FILTER
from notewell.types import Hit
from notewell.workspace.metadata import day_of_note

BestLine: TypeAlias = Callable[[ReadNote, PhraseTest], Hit | None]
"""Returns the best line of a note among those that the phrases let pass, if one fits.

Its snippet is that line, or a part of it."""


def find_in_notes(query: Query, notes: Iterable[ReadNote], best: BestLine) -> Findings:
    """Answer a query from notes that were read.

    Args:
        query: What is asked.
        notes: All of them, also what the query hides.
        best: Says which line of a note is the answer.
    """
    newest = wants_newest(query)
    if not query.text.split() and not newest:
        return Findings(hits=(), mode="keyword", reason="empty-query")
    kept = list(notes)
    if not kept:
        return Findings(hits=(), mode="keyword", reason="nothing-indexed")
    seen = [each for each in kept if not query.hides(each.path)]
    test = FilterTest(query.filter or NO_FILTER)
    passing = [each for each in seen if test.note(*each)]
    if newest:
        hits = list_hits(map(_passage_of, passing), query)
    else:
        found = (best(each, test.text) for each in passing)
        hits = _ranked((hit for hit in found if hit is not None), query)
    return Findings(
        hits=hits,
        mode="keyword",
        reason=None if hits else "no-match",
        warnings=()
        if hits or not query.filter
        else filter_warnings(query.filter, lambda part: any_passes(part, seen)),
    )


def _ranked(found: Iterable[Hit], query: Query) -> list[Hit]:
    lifted = (
        replace(hit, score=lifted_score(hit.score, hit.path, "", query.dates))
        for hit in found
    )
    joined = join_equal_hits((hit.snippet, hit) for hit in lifted)
    return in_order(joined)[: query.limit]


def _passage_of(note: ReadNote) -> Passage:
    day = day_of_note(*note)
    return Passage(
        id=0,
        path=note.path,
        signature=(0, note.mtime_ns, 0),
        start_line=1,
        end_line=max(1, len(note.lines)),
        heading="",
        length=1,
        text="\n".join(note.lines),
        day=day.isoformat() if day else None,
    )
