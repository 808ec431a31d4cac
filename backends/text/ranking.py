"""From weighed passages to an order: dates, age, diversity, exact words."""

import math
from collections.abc import Sequence
from datetime import date
from itertools import compress, count

from msgspec.structs import replace

from notewell.backends.base import newest_in_ties
from notewell.backends.text.analysis import forms_of
from notewell.backends.text.passages import Passage, ScoredPassage, without_repeats
from notewell.backends.text.redundancy import join_copies, lower_host_writings
from notewell.backends.text.scoring import ExactMatch
from notewell.config import QuerySettings
from notewell.dates import DateRange, day_in_name, nearness

_UNKNOWN = 0.35
"""The least score where nobody has set one and nothing is known of the vectors."""

_NEAREST = 1.0
"""The largest cosine: with a higher floor nothing resembles the question."""

_DATE_LIFT = 0.2
"""Share of what a score lacks that a passage gains which was written on a date asked for."""

_AS_GOOD = 0.9
_AS_NEAR = 0.1
"""Passages are about equal from this share of a text score on, and up to this difference
of a cosine."""


def rank(
    scored: Sequence[ScoredPassage],
    exact_match: ExactMatch,
    *,
    limit: int,
    min_score: float | None,
    settings: QuerySettings,
    floor: float | None = None,
    dates: Sequence[DateRange] = (),
    today: date | None = None,
) -> list[ScoredPassage]:
    """Return the passages of an answer, best first, at most `limit`.

    Exact words are never lost on the way: no threshold touches them, and if none is
    among the best, the best one takes the last place.

    Args:
        min_score: The lowest score that was asked for, instead of the configured one.
        floor: Where neither is set, the cosine from which a passage without a word of
            the query resembles it; None: not known. One below it is shown only before
            a passage that is shown anyway.
        dates: The days that were asked for; passages of these days are lifted.
        today: What age is counted from; by default the day that it is here.
    """
    if min_score is not None or settings.min_score is not None:
        floor = None

    def is_exact(one: ScoredPassage) -> bool:
        return one.exact and exact_match.stands_in(one.passage)

    ageing = settings.hybrid.temporal_decay
    if ageing.enabled:
        until = today or date.today()
        scored = [decay(one, until, ageing.half_life_days) for one in scored]
    scored = lift_dated(scored, dates)
    scored = lower_host_writings(scored)
    by_place = sorted(scored, key=lambda one: one.order)
    order = newest_in_ties(
        by_place,
        [one.score for one in by_place],
        [one.passage.path for one in by_place],
    )
    good = [is_exact(one) or _passes(one, min_score, settings, floor) for one in order]
    if floor is not None and floor <= _NEAREST:
        # What stands before a passage that is shown answers better than that one.
        last = max(compress(count(), good), default=-1)
        good = [place <= last for place in range(len(order))]
    order = without_repeats(join_copies(list(compress(order, good))))
    mmr = settings.hybrid.mmr
    best = diversify(order, limit, mmr.lambda_) if mmr.enabled else order[:limit]
    if any(map(is_exact, best)):
        return best
    exact = next(filter(is_exact, order), None)
    return [*best[: limit - 1], exact] if exact else best


def _passes(
    scored: ScoredPassage,
    min_score: float | None,
    settings: QuerySettings,
    floor: float | None,
) -> bool:
    """Say whether a passage that holds no exact word is good enough.

    One that words alone have found is measured by their score; one that holds nothing
    of the query by its nearness.
    """
    if scored.text > 0:
        return scored.score >= (min_score or 0.0)
    near = scored.vector or 0.0
    if floor is not None:
        return near >= floor
    least = settings.min_score if min_score is None else min_score
    hybrid = settings.hybrid
    weight = hybrid.vector_weight if hybrid.enabled else 1.0
    return weight * near >= (_UNKNOWN if least is None else least)


def lift_dated(
    scored: Sequence[ScoredPassage], dates: Sequence[DateRange]
) -> Sequence[ScoredPassage]:
    """Raise the score of passages that were written on the dates asked for, or near.

    People write of a day mostly afterwards, and of what is planned before. A score is
    only raised, and stays below 1; passages without a date keep theirs.
    """
    if not dates or not scored:
        return scored
    best = max(scored, key=lambda one: one.score)
    return [_lifted(one, best, dates) for one in scored]


def _lifted(
    scored: ScoredPassage, best: ScoredPassage, dates: Sequence[DateRange]
) -> ScoredPassage:
    passage = scored.passage
    near = _nearness(passage.path, passage.heading, dates, passage)
    if not near:
        return scored
    score = scored.score
    if near == 1.0 and _is_as_good(scored, best):
        # Scores are stretched: among notes that say the same they differ by nothing.
        score = best.score
    return replace(scored, score=_lift(score, near))


def _is_as_good(one: ScoredPassage, best: ScoredPassage) -> bool:
    """Say whether words and vectors tell two passages hardly apart."""
    if one.text < _AS_GOOD * best.text:
        return False
    return (one.vector or 0.0) >= (best.vector or 0.0) - _AS_NEAR


def _lift(score: float, near: float) -> float:
    return score + (1 - score) * _DATE_LIFT * near


def _nearness(
    path: str, heading: str, dates: Sequence[DateRange], passage: Passage | None = None
) -> float:
    written = day_in_name(path) or day_in_name(heading)
    if written is None and passage is not None:
        written = _day_given(passage)
    return nearness(written, dates) if written else 0.0


def _day_given(passage: Passage) -> date | None:
    """Return the day that a note's front matter names.

    Not that of the file's last change: a list that is kept for years changed lately, too.
    """
    written = passage.written
    if written is None:
        return None
    try:
        changed = date.fromtimestamp(passage.signature[1] / 1e9)
    except (OverflowError, OSError, ValueError):
        return written
    return None if written == changed else written


def lifted_score(
    score: float, path: str, heading: str, dates: Sequence[DateRange]
) -> float:
    """Return the score of a passage, higher if it was written on a day asked for."""
    return _lift(score, _nearness(path, heading, dates)) if dates else score


def decay(scored: ScoredPassage, today: date, half_life_days: float) -> ScoredPassage:
    """Lower the score of a passage from a dated note: halved each half-life.

    `score * exp(-ln 2 / half_life * age)`; notes without a date in their name do
    not age, and neither do those of the future.
    """
    written = day_in_name(scored.passage.path)
    if written is None:
        return scored
    age = max(0, (today - written).days)
    return replace(
        scored, score=scored.score * math.exp(-math.log(2) * age / half_life_days)
    )


def diversify(
    order: Sequence[ScoredPassage], limit: int, lambda_: float
) -> list[ScoredPassage]:
    """Choose passages that are good and unlike those chosen before.

    Maximal marginal relevance: the next one has the largest
    `lambda * score - (1 - lambda) * similarity`, where similarity is the largest
    Jaccard overlap of its terms with a chosen passage; `lambda_` 1 keeps the order.

    Source:
        Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking for
        Reordering Documents and Producing Summaries", SIGIR 1998.
    """
    left = [(one, _terms(one)) for one in order]
    nearest = [0.0] * len(left)
    chosen: list[ScoredPassage] = []
    while left and len(chosen) < limit:
        worth = [
            lambda_ * one.score - (1 - lambda_) * near
            for (one, _), near in zip(left, nearest, strict=True)
        ]
        place = worth.index(max(worth))
        one, terms = left.pop(place)
        nearest.pop(place)
        chosen.append(one)
        nearest = [
            max(near, _jaccard(terms, others))
            for (_, others), near in zip(left, nearest, strict=True)
        ]
    return chosen


def _terms(scored: ScoredPassage) -> frozenset[str]:
    return frozenset(
        term for forms in forms_of(scored.passage.text) for term in forms.body
    )


def _jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    either = len(left | right)
    return len(left & right) / either if either else 1.0
