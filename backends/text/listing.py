"""Passages that nothing was asked of: the newest first, as `recent` shows them."""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Final, TypeAlias

from notewell.backends.base import Query
from notewell.backends.text.filtering import PhraseTest
from notewell.backends.text.passages import Passage, ScoredPassage
from notewell.backends.text.redundancy import MOST_COPIES, first_choice, fold_spaces
from notewell.backends.text.scoring import Scorer
from notewell.backends.text.snippets import hit_of
from notewell.types import Hit, citation_of

CitedLines: TypeAlias = tuple[int, int, int]
"""The first, the last and the best line of a file that a hit cites."""

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


def group_copies(listed: Sequence[ScoredPassage]) -> list[list[ScoredPassage]]:
    """Return passages with those that have the same text, the one to be shown first.

    That is the newest that is no copy by its name and is not made from notes. A group has
    the place of the one that is shown, so that the days stay in order.

    Args:
        listed: As `score_newest` returns them.
    """
    groups: dict[str, list[tuple[int, ScoredPassage]]] = {}
    for place, one in enumerate(listed):
        groups.setdefault(fold_spaces(one.passage.text), []).append((place, one))
    for group in groups.values():
        group.sort(key=lambda each: (*first_choice(each[1].passage.path)[:2], each[0]))
    ordered = sorted(groups.values(), key=lambda group: group[0][0])
    return [[one for _, one in group] for group in ordered]


def listed_hit(
    group: Sequence[ScoredPassage], cited: Sequence[CitedLines], most: int | None
) -> Hit:
    """Return the hit of a passage and its copies.

    Args:
        group: As `group_copies` returns it.
        cited: The lines of each that are cited: the first, the last, the best.
        most: Characters of the snippet; None: all.
    """
    places = [
        citation_of(one.passage.path, start, end)
        for one, (start, end, _) in zip(group, cited, strict=True)
    ]
    also_in = sorted(set(places) - {places[0]})[:MOST_COPIES]
    return hit_of(group[0], cited[0], NOTHING_ASKED, most, also_in)


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
    listed = score_newest(newest_first(passages), phrases)

    def cited(one: ScoredPassage) -> CitedLines:
        return (one.passage.start_line, one.passage.end_line, one.match_line)

    return [
        listed_hit(group, [*map(cited, group)], query.snippet_chars)
        for group in group_copies(listed)[: query.limit]
    ]
