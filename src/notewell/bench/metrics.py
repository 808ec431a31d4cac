"""Scores of one answer, and what can be said of many: means with intervals, agreement.

Answers are scored at the level of passages: a result hits a place that is right when both are of one file and their
lines overlap. Every place is credited once, to the first result that hits it, so that
passages which repeat or overlap gain nothing.
"""

import math
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final, NamedTuple, cast, get_args

from notewell.bench.results import Interval, Latency, Metric

METRICS: Final = cast("tuple[Metric, ...]", get_args(Metric))
BUDGET: Final = 4_000
"""Characters of results that are read for `rec@4kc`."""

PERSISTENCE: Final = 0.9
"""How likely the reader of rank-biased overlap goes on to the next result."""

DEEPEST: Final = 20
"""Results of an answer that are looked at, but for `rec@4kc`, which looks at all."""

_RANKED: Final = 10
"""Results that recall@10, mrr@10 and ndcg@10 look at."""

_SAMPLES: Final = 2_000
_SEED: Final = 7


class LineRange(NamedTuple):
    """Lines of a file, 1-based, both ends included; `grade` is how right they are."""

    path: str
    start: int
    end: int
    grade: float = 1.0

    def touches(self, other: "LineRange") -> bool:
        """Whether both are of one file and share a line."""
        return (
            same_path(self.path, other.path)
            and self.start <= other.end
            and self.end >= other.start
        )


class Lengths:
    """How many characters the lines of each note have, read when first asked for."""

    def __init__(self, read: Callable[[str], Sequence[str]]) -> None:
        """Take what reads the lines of a note; a note that is not there has none."""
        self._read = read
        self._sums: dict[str, list[int]] = {}

    def spend(self, span: LineRange, left: int) -> tuple[int, int]:
        """Read the lines of `span` in order until `left` characters are spent.

        A line that begins within the budget is read to its end.

        Returns:
            The last line that was read (before the first one if none was), and the
            characters spent.
        """
        sums = self._of(span.path)
        start = min(max(span.start, 1), len(sums))
        end = min(span.end, len(sums) - 1)
        if end < start or left <= 0:
            return start - 1, 0
        last = bisect_left(sums, sums[start - 1] + left)
        last = max(start, min(end, last))
        return last, sums[last] - sums[start - 1]

    def _of(self, path: str) -> list[int]:
        if path not in self._sums:
            lengths = (len(line.rstrip("\r")) for line in self._read(path))
            self._sums[path] = list(accumulate(lengths, initial=0))
        return self._sums[path]


def same_path(left: str, right: str) -> bool:
    """Whether two paths name one note, however their characters are composed."""
    return left == right or composed(left) == composed(right)


def without_ignored(
    results: Sequence[LineRange], ignored: Sequence[LineRange]
) -> list[LineRange]:
    """Return the results without those that touch a place which is not judged."""
    return [
        found for found in results if not any(found.touches(place) for place in ignored)
    ]


def credits(
    results: Sequence[LineRange], right: Sequence[LineRange]
) -> list[list[int]]:
    """Return for each result the places, by index, that it is the first to hit.

    >>> one, two = LineRange("a.md", 1, 2), LineRange("a.md", 9, 9)
    >>> credits([LineRange("a.md", 2, 4), LineRange("a.md", 1, 9)], [one, two])
    [[0], [1]]
    """
    left = list(range(len(right)))
    found: list[list[int]] = []
    for result in results:
        hit = [place for place in left if result.touches(right[place])]
        left = [place for place in left if place not in hit]
        found.append(hit)
    return found


def scores(
    results: Sequence[LineRange],
    right: Sequence[LineRange],
    *,
    ignored: Sequence[LineRange] = (),
    lengths: Lengths,
) -> dict[Metric, float]:
    """Score one answer.

    Args:
        results: Best first.
        right: At least one place, each with a grade above 0.
        ignored: Places that are neither right nor wrong: results that touch one are
            taken out first.
        lengths: Of the lines of the notes.

    Returns:
        A number from 0 to 1 for each of METRICS.
    """
    ranked = without_ignored(results, ignored)
    found = credits(ranked[:DEEPEST], right)
    first = next((rank for rank, hit in enumerate(found, 1) if hit), math.inf)
    found = found[:_RANKED]
    gains = [sum(right[place].grade for place in hit) for hit in found]
    ideal = sorted((place.grade for place in right), reverse=True)[:_RANKED]
    # A passage that hits several places gains their sum, which can beat the ideal.
    return {
        "recall@1": _share(found[:1], right),
        "recall@6": _share(found[:6], right),
        "recall@10": _share(found, right),
        "mrr@10": 1 / first if first <= _RANKED else 0.0,
        "ndcg@10": min(1.0, _discounted(gains) / _discounted(ideal)),
        "success@6": float(first <= 6),
        "success@20": float(first <= DEEPEST),
        "rec@4kc": _within_budget(ranked, right, lengths),
    }


def _share(found: Sequence[Sequence[int]], right: Sequence[LineRange]) -> float:
    return sum(map(len, found)) / len(right)


def _discounted(gains: Sequence[float]) -> float:
    """Discounted cumulative gain: linear gain, discount log2(rank + 1).

    Source:
        Jarvelin and Kekalainen, "Cumulated gain-based evaluation of IR techniques",
        ACM TOIS 20(4), 2002.
    """
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _within_budget(
    ranked: Sequence[LineRange], right: Sequence[LineRange], lengths: Lengths
) -> float:
    """Recall when results are read line by line until the budget is spent.

    Lines that several results hold are paid for each time.
    """
    left, found = BUDGET, set[int]()
    for result in ranked:
        last, spent = lengths.spend(result, left)
        if last >= result.start:
            read = result._replace(end=last)
            found |= {at for at, place in enumerate(right) if read.touches(place)}
        left -= spent
        if left <= 0:
            break
    return len(found) / len(right)


def composed(path: str) -> str:
    """Return a path by which notes are told apart, however its characters are made."""
    return unicodedata.normalize("NFC", path).removeprefix("./")


def bootstrap_interval(values: Sequence[float]) -> Interval:
    """Return the mean with its 95 % bootstrap interval (percentiles).

    The same values give the same interval: the resampling is seeded.

    Args:
        values: One a query, at least one.

    Source:
        Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.
    """
    import numpy as np

    taken = np.asarray(values, dtype=np.float64)
    mean = float(taken.mean())
    if len(taken) < 2:
        return Interval(mean=mean, low=mean, high=mean)
    draw = np.random.default_rng(_SEED)
    means = taken[draw.integers(0, len(taken), (_SAMPLES, len(taken)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(mean=mean, low=float(low), high=float(high))


def latency_percentiles(samples: Sequence[float]) -> Latency | None:
    """Return times in milliseconds with their percentiles; None without one."""
    import numpy as np

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
