"""Joining the legs: one order from words and vectors.

Each leg's scores are stretched over the candidates to [0, 1] and added. How much the
vectors count depends on two things: how well the best passage answers by words, and
whether the model tells these notes apart at all. Where words are weak, meaning decides;
where they are strong, or the model sees no difference between the notes, words do.
`docs/ranking.md` has the measurements.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from notewell.backends.text.passages import ScoredPassage
from notewell.config import HybridSettings

_WEAK: Final = 0.05
_STRONG: Final = 0.2
"""Best text scores: up to the first words count least, from the second on most. A model
that tells the notes apart less leaves the words more: the second is nearer to the first."""

_MOST: Final = 0.95
_LEAST: Final = 0.3
"""The vectors' share of the order then, with the usual weights."""

_BEND: Final = 2
"""Power of the stretched text scores: what is half as good as the best counts a quarter,
so that passages with one common word do not stand in the way of meaning."""

_LAST: Final = 0.001
"""The order of the last one, where the best has 1: what is found is more than nothing."""

_USUAL: Final = HybridSettings()


def fused(
    scored: Sequence[ScoredPassage],
    background: float,
    settings: HybridSettings,
    *,
    gate: float = 1.0,
) -> list[ScoredPassage]:
    """Return the passages with the score by which words and vectors order them.

    Args:
        scored: The candidates of both legs, each with its text score, and with its
            cosine if it has a vector.
        background: The mean cosine of the question with all passages.
        settings: The weights.
        gate: In [0, 1], how well the model tells these notes apart.
    """
    if not scored:
        return []
    best = max(one.text for one in scored)
    cosines = [background if one.vector is None else one.vector for one in scored]
    share = vector_share(best, settings, gate=gate)
    text = _stretched([one.text for one in scored])
    vector = _stretched(cosines)
    order = [
        _LAST + (1 - _LAST) * (share * near + (1 - share) * words**_BEND)
        for words, near in zip(text, vector, strict=True)
    ]
    # The order is by place among the candidates; the scale is that of the legs.
    absolute = max(
        share * max(0.0, near) + (1 - share) * one.text
        for one, near in zip(scored, cosines, strict=True)
    )
    scale = min(1.0, absolute) / max(order)
    return [
        replace(one, score=min(1.0, one_of * scale))
        for one, one_of in zip(scored, order, strict=True)
    ]


def by_vectors(scored: Sequence[ScoredPassage]) -> list[ScoredPassage]:
    """Return the passages with their nearness as score: `hybrid.enabled` is false."""
    return [replace(one, score=max(0.0, one.vector or 0.0)) for one in scored]


def vector_share(best: float, settings: HybridSettings, *, gate: float) -> float:
    """Return the vectors' share of the order, in [0, 1].

    Args:
        best: The best text score of a candidate.
        settings: The weights; others than the usual ones scale the odds of the share.
        gate: In [0, 1], how well the model tells these notes apart.

    >>> [round(vector_share(best, _USUAL, gate=1), 2) for best in (0.05, 0.08, 0.2)]
    [0.95, 0.82, 0.3]
    >>> [round(vector_share(best, _USUAL, gate=0.2), 2) for best in (0.05, 0.056, 0.2)]
    [0.95, 0.77, 0.06]
    """
    if not settings.text_weight or not settings.vector_weight:
        return 0.0 if settings.text_weight else 1.0
    if best <= 0:
        return 1.0  # there are no words that could be outvoted
    room = gate * (_STRONG - _WEAK)
    above = max(0.0, best - _WEAK)
    strength = above / room if above < room else float(above > 0)
    share = _MOST + (gate * _LEAST - _MOST) * strength
    near = share * settings.vector_weight * _USUAL.text_weight
    words = (1 - share) * settings.text_weight * _USUAL.vector_weight
    return near / (near + words) if near else 0.0


def _stretched(values: Sequence[float]) -> list[float]:
    """Return the values stretched to [0, 1]; equal ones are all best, or all nothing."""
    least, most = min(values), max(values)
    if most == least:
        return [1.0 if most > 0 else 0.0] * len(values)
    return [(value - least) / (most - least) for value in values]
