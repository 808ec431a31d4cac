"""Passages that nothing was asked of: the newest first, as `recent` shows them."""

from collections.abc import Iterable
from datetime import date
from typing import Final

from notewell.backends.base import Query
from notewell.backends.text.filtering import PhraseTest
from notewell.backends.text.passages import Passage, ScoredPassage
from notewell.backends.text.scoring import Scorer
from notewell.backends.text.snippets import hit_of
from notewell.types import Hit

NOTHING_ASKED: Final = Scorer((), {}, passages=1, mean_length=1.0)
"""Weighs passages where no word was asked for."""

_UNDATED: Final = 1_000_000
"""Days behind the newest, of what has no day."""


def newest_first(passages: Iterable[Passage]) -> list[Passage]:
    """Return passages by day, the newest first, then by path and line."""
    by_place = sorted(passages, key=lambda one: (one.path, one.start_line, one.id))
    return sorted(by_place, key=lambda one: one.day or "", reverse=True)


def score_newest(
    passages: Iterable[Passage], phrases: PhraseTest
) -> list[ScoredPassage]:
    """Return passages for an answer, in their order, no line in two of them.

    The newest day scores 1, a day `n` days before it `1 / (1 + n)`. The best line is the
    one on which a phrase begins, else the first with text.

    Args:
        passages: As `newest_first` gives them.
        phrases: What has to stand in each.
    """
    listed: list[ScoredPassage] = []
    shown: dict[str, list[Passage]] = {}
    newest: date | None = None
    for passage in passages:
        rest = _not_shown(passage, shown.get(passage.path, ()))
        if rest is None or not rest.text.strip() or not phrases(rest.text):
            continue
        shown.setdefault(passage.path, []).append(rest)
        newest = newest or passage.written
        listed.append(
            ScoredPassage(
                passage=rest,
                score=_score(passage.written, newest),
                match_line=rest.start_line + _best_line(rest.text, phrases),
                exact=True,
            )
        )
    return listed


def _not_shown(passage: Passage, shown: Iterable[Passage]) -> Passage | None:
    """Return the lines of a passage that are in none of those before it."""
    first, last = passage.start_line, passage.end_line
    for other in shown:
        if other.start_line <= first <= other.end_line:
            first = other.end_line + 1
        elif first < other.start_line <= last:
            last = other.start_line - 1
    if first > last:
        return None
    whole = (first, last) == (passage.start_line, passage.end_line)
    return passage if whole else passage.lines(first, last)


def _score(day: date | None, newest: date | None) -> float:
    behind = _UNDATED if day is None or newest is None else (newest - day).days
    return 1 / (1 + behind)


def _best_line(text: str, phrases: PhraseTest) -> int:
    found = phrases.line_of(text)
    if found is not None:
        return found
    lines = text.split("\n")
    return next((at for at, line in enumerate(lines) if line.strip()), 0)


def list_hits(passages: Iterable[Passage], query: Query) -> list[Hit]:
    """Return the newest of some passages, which all pass the filter, as hits."""
    wanted = query.filter
    phrases = (
        PhraseTest(wanted.phrases, wanted.without) if wanted else PhraseTest((), ())
    )
    return [
        hit_of(
            scored,
            (scored.passage.start_line, scored.passage.end_line, scored.match_line),
            NOTHING_ASKED,
            query.snippet_chars,
        )
        for scored in score_newest(newest_first(passages), phrases)[: query.limit]
    ]
