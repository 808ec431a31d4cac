"""What can be said of many queries: means with intervals, times, and agreement."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from notewell.bench.results import Interval, Latency

PERSISTENCE: Final = 0.9
"""How likely the reader of rank-biased overlap goes on to the next result."""

_SAMPLES: Final = 2_000
_SEED: Final = 7


def interval(values: Sequence[float]) -> Interval:
    """Return the mean with its 95 % bootstrap interval (percentiles).

    The same values give the same interval: the resampling is seeded.

    Args:
        values: One a query, at least one.

    Source:
        Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.
    """
    taken = np.asarray(values, dtype=np.float64)
    mean = float(taken.mean())
    if len(taken) < 2:
        return Interval(mean=mean, low=mean, high=mean)
    draw = np.random.default_rng(_SEED)
    means = taken[draw.integers(0, len(taken), (_SAMPLES, len(taken)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(mean=mean, low=float(low), high=float(high))


def latency(samples: Sequence[float]) -> Latency | None:
    """Return times in milliseconds with their percentiles; None without one."""
    if not samples:
        return None
    p50, p95, p99 = np.percentile(samples, [50, 95, 99])
    return Latency(p50=float(p50), p95=float(p95), p99=float(p99), samples=(*samples,))


def overlap(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the Jaccard similarity; two empty answers agree.

    >>> overlap(["a", "b"], ["b", "c"])
    0.3333333333333333
    """
    left, right = set(first), set(second)
    return len(left & right) / len(left | right) if left or right else 1.0


def rank_biased_overlap(first: Sequence[str], second: Sequence[str]) -> float:
    """Return how far two rankings agree, the top counting most: 0 to 1.

    Extrapolated from the depth that was seen, for rankings of unequal length.

    Args:
        first: Names, each at most once.
        second: The same.

    Source:
        Webber, Moffat and Zobel, "A Similarity Measure for Indefinite Rankings",
        ACM TOIS 28(4), 2010, equation 32; p is PERSISTENCE.

    >>> rank_biased_overlap(["a", "b"], ["a", "b"])
    1.0
    """
    shorter, longer = sorted((first, second), key=len)
    if not shorter:
        return float(not longer)
    p, short, long = PERSISTENCE, len(shorter), len(longer)
    common = [
        len(set(shorter[:depth]) & set(longer[:depth])) for depth in range(1, long + 1)
    ]
    at_short, at_long = common[short - 1], common[long - 1]
    seen = sum(count / depth * p**depth for depth, count in enumerate(common, 1))
    unseen = sum(
        at_short * (depth - short) / (short * depth) * p**depth
        for depth in range(short + 1, long + 1)
    )
    rest = ((at_long - at_short) / long + at_short / short) * p**long
    return min(1.0, (1 - p) / p * (seen + unseen) + rest)
