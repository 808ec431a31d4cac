"""Reports of runs that never were, to make pages of."""

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from statistics import mean, quantiles, stdev
from typing import get_args

from notewell.bench.results import (
    BenchReport,
    Comparison,
    Contender,
    Cost,
    Interval,
    JudgedLines,
    Latency,
    Machine,
    Metric,
    Result,
    ScoredAnswer,
    ScoredQuery,
)
from notewell.types import Fallback

METRICS: tuple[Metric, ...] = get_args(Metric)
LABELS = ("builtin", "qmd:search", "qmd:vsearch", "builtin:hybrid", "shelf <b>")
NASTY = (
    "</script><script>window.harmed = 1</script>",
    '<img src=x onerror="window.harmed = 1"><!-- & "quotes" -->',
    "before \u202eturned around\u202c after \u2066isolated\u2069 \x1b[31mred\x00",
    "a lone surrogate \ud800 and \u2028 a separator",
    "שלום עולם, the port is 8080",
    "ポートは 8080 です。備份保留三十天。",
    "window.harmed\r\n```js\r\n${harmed}\r\n```",
)
CATEGORIES = ("exact", "paraphrase", "中文")
SPEED = (1.5, 90.0, 240.0, 12.0, 40.0)
SKILL = (0.9, 0.55, 0.7, 0.92, 0.3)
_BEST_FIRST = range(1, 7)


def made_up(number: int = 2, queries: int = 12, **changes: object) -> BenchReport:
    """Return a report of a run that never was, with figures that fit together.

    Args:
        number: Of contenders; the same numbers give the same report.
        changes: Fields of the report in place of what was made up.
    """
    chance = random.Random(number * 1000 + queries)
    labels = LABELS[:number]
    asked = tuple(_asked(place, labels, chance) for place in range(queries))
    values: dict[str, object] = {
        "started_at": datetime(2026, 3, 4, 5, 6, tzinfo=UTC),
        "finished": True,
        "workspace": "lantern-notes",
        "files": 120,
        "bytes": 345_678,
        "origin": "judged",
        "queries_from": "queries.jsonl",
        "limit": 6,
        "machine": Machine(
            system="Linux 6.1",
            processor="Some CPU",
            cores=2,
            memory_bytes=16_000_000_000,
            python="3.11.9",
        ),
        "versions": {"notewell": "0.1.0", "SQLite": "3.50.0"},
        "contenders": tuple(
            _contender(index, label, asked, chance)
            for index, label in enumerate(labels)
        ),
        "comparisons": tuple(
            _comparison(first, second, asked)
            for index, first in enumerate(labels)
            for second in labels[index + 1 :]
            if asked
        ),
        "asked": asked,
        "remarks": ("Searches ran one after the other.",),
    }
    return BenchReport(**{**values, **changes})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def interval(values: Sequence[float]) -> Interval:
    """Return the mean of values with an interval about as wide as it ought to be."""
    middle = mean(values)
    reach = 2 * stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.5
    low, high = max(middle - reach, -1.0), min(middle + reach, 1.0)
    return Interval(mean=middle, low=low, high=high)


def latency(samples: Sequence[float]) -> Latency:
    """Return times with their percentiles."""
    cuts = quantiles(samples, n=100, method="inclusive")
    return Latency(p50=cuts[49], p95=cuts[94], p99=cuts[98], samples=tuple(samples))


def _asked(number: int, labels: Sequence[str], chance: random.Random) -> ScoredQuery:
    place = JudgedLines(
        path=f"memory/{number}.md",
        start_line=3,
        end_line=5,
        text=f"What is right for {number}. {chance.choice(NASTY)}",
    )
    return ScoredQuery(
        id=f"q{number}",
        query=f"question {number} {NASTY[number % len(NASTY)]}",
        category=CATEGORIES[number % len(CATEGORIES)],
        relevant=(place,),
        answers=tuple(
            _answer(index, label, place, chance) for index, label in enumerate(labels)
        ),
    )


def _answer(
    index: int, label: str, place: JudgedLines, chance: random.Random
) -> ScoredAnswer:
    if chance.random() < 0.03:
        return ScoredAnswer(label=label, error="it took too long", scores=_scores(0))
    rank = chance.choice(_BEST_FIRST) if chance.random() < SKILL[index] else 0
    step = Fallback(
        kind="mode", from_="hybrid", to="keyword", reason="timeout", message="late"
    )
    return ScoredAnswer(
        label=label,
        results=tuple(_result(at, at == rank, place, chance) for at in _BEST_FIRST),
        ms=SPEED[index] * chance.lognormvariate(0, 0.4),
        mode="keyword",
        scores=_scores(rank),
        fallbacks=(step,) if chance.random() < 0.05 else (),
    )


def _result(at: int, right: bool, place: JudgedLines, chance: random.Random) -> Result:
    path = place.path if right else f"memory/other-{chance.randrange(20)}.md"
    return Result(
        path=path,
        start_line=4 if right else 1,
        end_line=9,
        score=1 / at,
        snippet=f"Line of {path}\n{NASTY[at % len(NASTY)]}\n" + "More words. " * 20,
        heading="Notes > " + NASTY[1] if at == 2 else "",
        relevant=(0,) if right else (),
    )


def _scores(rank: int) -> Mapping[Metric, float]:
    found = float(rank > 0)
    gain = 1 / rank if rank else 0.0
    values = (float(rank == 1), found, found, gain, gain, found, found, found)
    return dict(zip(METRICS, values, strict=True))


def _contender(
    index: int, label: str, asked: Sequence[ScoredQuery], chance: random.Random
) -> Contender:
    answers = [one.answers[index] for one in asked]
    errors = sum(one.error is not None for one in answers)
    steps = sum(len(one.fallbacks) for one in answers)
    times = [SPEED[index] * chance.lognormvariate(0, 0.4) for _ in range(150)]
    categories = dict.fromkeys(one.category for one in asked)
    return Contender(
        label=label,
        backend=label.partition(":")[0],
        mode="keyword",
        settings={"memory.search.limit": 6},
        quality={
            metric: interval([one.scores[metric] for one in answers])
            for metric in METRICS
            if answers
        },
        by_category={
            name: {
                metric: mean(
                    one.answers[index].scores[metric]
                    for one in asked
                    if one.category == name
                )
                for metric in METRICS
            }
            for name in categories
        },
        warm=latency(times),
        cold=latency([time * 8 for time in times[:20]]),
        cost=Cost(
            index_ms=SPEED[index] * 900,
            update_ms=SPEED[index] * 7,
            disk_bytes=int(SPEED[index] * 1_000_000),
            peak_memory_bytes=60_000_000 * (index + 1),
        ),
        answered=len(answers) - errors,
        failures={"BackendTimeout": errors} if errors else {},
        fallbacks={"mode:timeout": steps} if steps else {},
    )


def _comparison(first: str, second: str, asked: Sequence[ScoredQuery]) -> Comparison:
    pairs = [
        tuple(
            next(a for a in one.answers if a.label == label)
            for label in (first, second)
        )
        for one in asked
    ]
    return Comparison(
        first=first,
        second=second,
        differences={
            metric: interval(
                [two.scores[metric] - one.scores[metric] for one, two in pairs]
            )
            for metric in METRICS
        },
        overlap=0.41,
        rank_correlation=0.37,
    )
