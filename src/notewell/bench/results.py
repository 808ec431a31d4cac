"""What a benchmark found. These values are its JSON and all that the report page shows.

Quality is scored at the level of passages, as information retrieval defines the measures; all
intervals are 95 % bootstrap intervals over queries. Times are milliseconds of wall time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from notewell.types import Fallback

BENCH_SCHEMA_VERSION = 1

Metric: TypeAlias = Literal[
    "recall@1",
    "recall@6",
    "recall@10",
    "mrr@10",
    "ndcg@10",
    "success@6",
    "success@20",
    "rec@4kc",
]
"""`success@20` less `success@6` is what the best reordering of the results could gain.
`rec@4kc` is recall within the first 4,000 characters of results: the fair one between
engines whose passages differ in length."""

Origin: TypeAlias = Literal["judged", "known-item", "bundled"]
"""Who says what is right: a file of the user's, the notes themselves, our own set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean over queries, with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Times of one kind in milliseconds.

    Attributes:
        samples: Every measured time, in the order in which they were taken.
    """

    p50: float
    p95: float
    p99: float
    samples: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What it takes to have an engine; None where it was not measured.

    Attributes:
        index_ms: Making everything from the files alone, vectors as well.
        update_ms: Bringing the index up to date after one file changed.
        disk_bytes: What it keeps on disk beside the notes.
        peak_memory_bytes: The most resident memory of its process and the
            largest of that process's children.
    """

    index_ms: float | None = None
    update_ms: float | None = None
    disk_bytes: int | None = None
    peak_memory_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """One backend in one configuration, and how it did.

    Attributes:
        label: How the run calls it, unique in it: `builtin`, `qmd:vsearch`.
        backend: The engine that was asked for.
        mode: The mode in which most answers were given.
        provider: The embedding provider that served the queries, or None.
        model: Its model, or None.
        settings: The configuration that differs from the user's, keys redacted.
        version: Of the engine, where it is a program of its own.
        apart: How well its model tells these notes apart, by script: see `VectorStatus`.
        quality: Over all queries; a query without an answer scores 0.
        by_category: The means again, for each category of queries.
        warm: Searches in a process that stays, after a warm-up.
        cold: A first search, from the start of a process to its answer.
        answered: Queries that were asked and answered.
        failures: Queries that got an error, by its type.
        fallbacks: Queries with a step down, by `kind:reason`.
        unavailable: Why it could not take part at all, one sentence; None if it did.
    """

    label: str
    backend: str
    mode: str | None = None
    provider: str | None = None
    model: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict[str, object])
    version: str | None = None
    apart: Mapping[str, str] = field(default_factory=dict[str, str])
    quality: Mapping[Metric, Interval] = field(default_factory=dict[Metric, Interval])
    by_category: Mapping[str, Mapping[Metric, float]] = field(
        default_factory=dict[str, Mapping[Metric, float]]
    )
    warm: Latency | None = None
    cold: Latency | None = None
    cost: Cost = field(default_factory=Cost)
    answered: int = 0
    failures: Mapping[str, int] = field(default_factory=dict[str, int])
    fallbacks: Mapping[str, int] = field(default_factory=dict[str, int])
    unavailable: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two contenders over the queries that both answered.

    Attributes:
        first: A label.
        second: Another.
        differences: Second minus first, paired by query.
        overlap: Jaccard similarity of the files in their first six results, mean.
        rank_correlation: Rank-biased overlap of their files (p = 0.9), mean.
    """

    first: str
    second: str
    differences: Mapping[Metric, Interval]
    overlap: float
    rank_correlation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedLines:
    """Lines that are right for a query.

    Attributes:
        text: The beginning of those lines, at most 700 characters.
        grade: How right; 1 where judgements are not graded.
    """

    path: str
    start_line: int
    end_line: int
    grade: float = 1.0
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One hit of one answer.

    Attributes:
        relevant: Which of the query's places it touches, by index; empty if none.
    """

    path: str
    start_line: int
    end_line: int
    score: float
    snippet: str
    heading: str = ""
    relevant: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredAnswer:
    """What one contender said to one query.

    Attributes:
        label: Of the contender.
        results: The first ten; the scores are of all that were asked for.
        ms: The median of its warm searches for this query.
        scores: This query alone.
        reason: Why there are no results, as in a search's answer.
        error: What went wrong, one sentence; None when it answered.
    """

    label: str
    results: tuple[Result, ...] = ()
    ms: float | None = None
    mode: str | None = None
    scores: Mapping[Metric, float] = field(default_factory=dict[Metric, float])
    fallbacks: tuple[Fallback, ...] = ()
    reason: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredQuery:
    """One query, what is right, and what everyone said, in the order of contenders."""

    id: str
    query: str
    category: str
    relevant: tuple[JudgedLines, ...]
    answers: tuple[ScoredAnswer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where it ran."""

    system: str
    processor: str
    cores: int
    memory_bytes: int | None
    python: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchReport:
    """One run of the benchmark.

    Attributes:
        started_at: UTC.
        finished: False when it was stopped early; `asked` has what everyone was asked.
        workspace: The folder's name, not where it is.
        files: Notes in it.
        bytes: Their size.
        origin: Who says what is right.
        queries_from: The file's name, or how queries were made, with the seed.
        limit: Results asked for per query.
        versions: Of notewell, SQLite and the engines.
        remarks: What a reader has to know to read the figures, one sentence each.
        asked: Every query with its answers.
    """

    schema_version: int = BENCH_SCHEMA_VERSION
    started_at: datetime
    finished: bool
    workspace: str
    files: int
    bytes: int
    origin: Origin
    queries_from: str
    limit: int
    machine: Machine
    versions: Mapping[str, str]
    contenders: tuple[Contender, ...]
    comparisons: tuple[Comparison, ...]
    asked: tuple[ScoredQuery, ...]
    remarks: tuple[str, ...] = ()
