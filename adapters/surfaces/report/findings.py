"""What a run shows, as sentences. A difference is claimed when its interval excludes 0."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from notewell.adapters.surfaces.report.charts import (
    difference_interval_text,
    difference_text,
    interval_text,
    latency_text,
    listed,
    ratio_text,
    score_text,
)
from notewell.adapters.surfaces.sentences import number_of
from notewell.bench.results import (
    BenchReport,
    Comparison,
    Contender,
    Interval,
    Latency,
    Metric,
)

_HEADLINES: Final[tuple[Metric, ...]] = ("success@6", "rec@4kc")
"""Was anything right among the first six, and what is there in the first 4,000
characters. The second is fair between engines whose passages differ in length."""

_MORE: Final = "{best} finds more than {others}"
_LESS: Final = "{best} finds less than {others}"
_BOTH: Final = "{best} finds more by one measure and less by the other than {others}"
_NONE: Final = "No difference between {best} and {others} that these queries could show"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know, and the figures behind it.

    Attributes:
        trouble: Something went wrong, so the figures need care.
    """

    claim: str
    evidence: str
    trouble: bool = False


def findings(report: BenchReport) -> tuple[Finding, ...]:
    """Return what to know about a run, the most important first."""
    present = [
        one
        for one in report.contenders
        if one.unavailable is None and not _replaced(report, one)
    ]
    return (*_quality(report, present), *_speed(present), *_trouble(report))


def excludes_zero(difference: Interval) -> bool:
    """Tell whether the queries were enough to show a difference."""
    return difference.low > 0 or difference.high < 0


def median_interval(samples: Sequence[float]) -> tuple[float, float] | None:
    """Return a 95 % interval of the median, whatever the distribution.

    Its ends are two of the samples: n / 2 minus and plus 0.98 * sqrt(n) in order
    (Conover, Practical Nonparametric Statistics, section 3.2). None for too few.

    >>> median_interval([3.0, 1.0, 2.0]) is None
    True
    >>> median_interval(range(1, 101))
    (40, 61)
    """
    count = len(samples)
    reach = 0.98 * math.sqrt(count)
    first, last = math.floor(count / 2 - reach), math.ceil(count / 2 + reach) + 1
    if first < 1 or last > count:
        return None
    ordered = sorted(samples)
    return ordered[first - 1], ordered[last - 1]


def _quality(report: BenchReport, present: list[Contender]) -> Iterator[Finding]:
    scored = [one for one in present if _HEADLINES[0] in one.quality]
    scored.sort(key=lambda one: -one.quality[_HEADLINES[0]].mean)
    if len(present) == 1 and scored:
        yield _alone(scored[0])
    compared = [
        (other.label, _against(report, scored[0], other))
        for other in scored[1:]
        if _differences(report.comparisons, scored[0].label, other.label)
    ]
    for verdict in (_MORE, _LESS, _BOTH, _NONE):
        if alike := [
            (name, said) for name, (kind, said) in compared if kind == verdict
        ]:
            names = [name for name, _ in alike]
            claim = verdict.format(best=scored[0].label, others=listed(names))
            yield Finding(claim, " ".join(said for _, said in alike))


def _alone(contender: Contender) -> Finding:
    figures = [
        f"{metric} {score_text(contender.quality[metric].mean)} "
        f"{interval_text(contender.quality[metric])}"
        for metric in _HEADLINES
        if metric in contender.quality
    ]
    return Finding(
        f"There is nothing to compare {contender.label} with",
        f"{'; '.join(figures)}.",
    )


def _differences(
    comparisons: Sequence[Comparison], best: str, other: str
) -> dict[Metric, Interval]:
    """How far the best is above another, whichever of them was compared first."""
    for pair in comparisons:
        if (pair.first, pair.second) == (other, best):
            return dict(pair.differences)
        if (pair.first, pair.second) == (best, other):
            return {name: _turned(one) for name, one in pair.differences.items()}
    return {}


def _turned(difference: Interval) -> Interval:
    return Interval(mean=-difference.mean, low=-difference.high, high=-difference.low)


def _answered_by_both(report: BenchReport, first: str, second: str) -> int:
    wanted = {first, second}
    return sum(
        wanted <= {answer.label for answer in asked.answers if answer.error is None}
        for asked in report.asked
    )


def _against(report: BenchReport, best: Contender, other: Contender) -> tuple[str, str]:
    """Compare the best with another: the claim, and the figures."""
    differences = _differences(report.comparisons, best.label, other.label)
    known: list[Metric] = [name for name in _HEADLINES if name in differences]
    verdict = _verdict([differences[name] for name in known])
    figures = [
        f"{name} {_mean(best, name)} against {_mean(other, name)}, difference "
        f"{difference_text(differences[name].mean)} {difference_interval_text(differences[name])}"
        f"{_doubt(differences[name], verdict)}"
        for name in known
    ]
    queries = number_of(
        _answered_by_both(report, best.label, other.label), "query", "queries"
    )
    return verdict, f"{other.label}, over {queries}: {'; '.join(figures)}."


def _verdict(differences: list[Interval]) -> str:
    shown = [one.mean > 0 for one in differences if excludes_zero(one)]
    if not shown:
        return _NONE
    if all(shown):
        return _MORE
    return _BOTH if any(shown) else _LESS


def _doubt(difference: Interval, verdict: str) -> str:
    """What has to be said of a measure that the claim does not rest on."""
    if verdict == _NONE or excludes_zero(difference):
        return ""
    return ", too little to tell"


def _mean(contender: Contender, metric: Metric) -> str:
    return (
        score_text(contender.quality[metric].mean)
        if metric in contender.quality
        else "?"
    )


def _speed(present: list[Contender]) -> Iterator[Finding]:
    timed = [(one.label, one.warm) for one in present if one.warm is not None]
    if len(timed) < 2:
        return
    timed.sort(key=lambda pair: pair[1].p50)
    (name, best), *others = timed
    slower = [_slower(best, warm) for _, warm in others]
    if all(slower) and len(others) == 1:
        ratio = ratio_text(others[0][1].p50 / best.p50)
        claim = f"{name} answers {ratio} times as fast as {others[0][0]}"
    elif all(slower):
        claim = f"{name} answers fastest"
    elif any(slower):
        beaten = [pair[0] for pair, known in zip(others, slower, strict=True) if known]
        claim = f"{name} answers faster than {listed(beaten)}"
    else:
        claim = "No difference in speed that these samples could show"
    figures = [f"{name} {latency_text(best.p50)}"]
    for (label, warm), known in zip(others, slower, strict=True):
        remark = (
            f"{ratio_text(warm.p50 / best.p50)} times" if known else "may be the same"
        )
        figures.append(f"{label} {latency_text(warm.p50)} ({remark})")
    yield Finding(claim, f"Warm searches at p50: {', '.join(figures)}.")


def _slower(best: Latency, other: Latency) -> bool:
    """Whether the intervals of two medians lie apart."""
    ours, theirs = median_interval(best.samples), median_interval(other.samples)
    return ours is not None and theirs is not None and ours[1] < theirs[0]


def _replaced(report: BenchReport, contender: Contender) -> bool:
    """Whether all its answers came from something else than was asked for."""
    label = contender.label
    given = [a for asked in report.asked for a in asked.answers if a.label == label]
    answered = [answer for answer in given if answer.error is None]
    return bool(answered) and all(answer.fallbacks for answer in answered)


def _trouble(report: BenchReport) -> Iterator[Finding]:
    """Who was absent, failed, or answered by something else than was asked for."""
    queries = number_of(len(report.asked), "query", "queries")
    for one in report.contenders:
        if one.unavailable is not None:
            claim, evidence = "did not take part", one.unavailable
        elif one.failures or one.fallbacks:
            failed, stepped = sum(one.failures.values()), sum(one.fallbacks.values())
            known = {
                f"failed on {failed:,}": failed,
                f"stepped down on {stepped:,}": stepped,
            }
            claim = f"{listed([word for word, n in known.items() if n])} of {queries}"
            evidence = f"{_tally({**one.failures, **one.fallbacks})}."
            if _replaced(report, one):
                evidence += " No answer was its own, so nothing is claimed of it."
        else:
            continue
        yield Finding(f"{one.label} {claim}", evidence, trouble=True)


def _tally(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} × {name}" for name, count in counts.items())
