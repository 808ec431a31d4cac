"""Joining the legs: one order from words and vectors.

Each leg's scores are stretched over the candidates to [0, 1] and added with their
weights. How much the vectors count depends on whether they make sense of this question
at all: an English model sees no difference between Chinese notes, and then it must
not outvote the words. `docs/ranking.md` has the measurements.
"""

from collections.abc import Sequence
from dataclasses import replace

from notewell.backends.text.passages import Scored
from notewell.config import HybridSettings

_CAUTION = 0.18
"""What the configured weight of the vectors counts beside that of the words: with the
usual weights of 0.7 and 0.3 the vectors decide three tenths of the order."""

_BEST = 5
"""Passages that are best by words, from which trust in the vectors is judged."""

_TRUSTED = 0.5
"""Agreement from which on the vectors are trusted fully."""


def fused(
    scored: Sequence[Scored], background: float, settings: HybridSettings
) -> list[Scored]:
    """Return the passages with the score by which words and vectors order them.

    Args:
        scored: The candidates of both legs, each with its text score, and with its
            cosine if it has a vector.
        background: The mean cosine of the question with all passages.
        settings: The weights.
    """
    if not scored:
        return []
    cosines = [background if one.vector is None else one.vector for one in scored]
    weight = _weight(settings, _trust(scored, cosines, background))
    text = _stretched([one.text for one in scored])
    vector = _stretched(cosines)
    order = [
        weight * near + (1 - weight) * words
        for words, near in zip(text, vector, strict=True)
    ]
    # The order is by place among the candidates; the scale is that of the legs.
    absolute = max(
        weight * max(0.0, near) + (1 - weight) * one.text
        for one, near in zip(scored, cosines, strict=True)
    )
    scale = min(1.0, absolute) / (max(order) or 1.0)
    return [
        replace(one, score=min(1.0, one_of * scale))
        for one, one_of in zip(scored, order, strict=True)
    ]


def by_vectors(scored: Sequence[Scored]) -> list[Scored]:
    """Return the passages with their nearness as score: `hybrid.enabled` is false."""
    return [replace(one, score=max(0.0, one.vector or 0.0)) for one in scored]


def _weight(settings: HybridSettings, trust: float) -> float:
    """Return the share of the vectors in the order; all of it if words weigh nothing."""
    vectors = settings.vector_weight * _CAUTION * trust
    return vectors / (vectors + settings.text_weight) if settings.text_weight else 1.0


def _trust(
    scored: Sequence[Scored], cosines: Sequence[float], background: float
) -> float:
    """Return in [0, 1] how far the vectors agree with the best passages by words.

    They agree when these stand out from the background as far as the nearest do.
    """
    order = sorted(range(len(scored)), key=lambda place: scored[place].order)
    best = [cosines[place] for place in order if scored[place].text > 0][:_BEST]
    farthest = max(cosines) - background
    if not best or farthest <= 0:
        return 1.0  # there are no words that could be outvoted
    agreement = (sum(best) / len(best) - background) / farthest
    return min(1.0, max(0.0, agreement / _TRUSTED))


def _stretched(values: Sequence[float]) -> list[float]:
    """Return the values stretched to [0, 1]; equal ones are all best, or all nothing."""
    least, most = min(values), max(values)
    if most == least:
        return [1.0 if most > 0 else 0.0] * len(values)
    return [(value - least) / (most - least) for value in values]
