"""What a benchmark found, as tables for people. Loaded late: rich is heavy."""

from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from notewell.adapters.surfaces.cli.screen import Screen
from notewell.adapters.surfaces.plain_text import one_line
from notewell.adapters.surfaces.report.charts import latency_text
from notewell.adapters.surfaces.sentences import number_of, size_text
from notewell.bench.metrics import METRICS
from notewell.bench.results import BenchReport, Comparison, Contender, Interval, Metric

_UNBOUND: Final = 140
"""Columns of a table that nobody's terminal bounds."""

_WIDE: Final = 112
"""Columns from which on every metric has room, with its interval."""

_NAME: Final = 16
"""The fewest columns of a contender's name."""

_TELLING: Final[tuple[Metric, ...]] = (
    "recall@6",
    "mrr@10",
    "ndcg@10",
    "success@6",
    "success@20",
    "rec@4kc",
)

_WIDELY: Final = "± is the wider side of the 95 % interval."
_NARROWLY: Final = "Too narrow for recall@1, recall@10 and intervals: --json."

_ORIGINS: Final[Mapping[str, str]] = {
    "judged": "judged queries",
    "known-item": "known items, not judged",
    "bundled": "the bundled set",
}


def draw_bench(report: BenchReport, screen: Screen) -> str:
    """Draw a report."""
    written = StringIO()
    console = Console(
        file=written,
        width=screen.columns or _UNBOUND,
        force_terminal=screen.coloured,
        no_color=not screen.coloured,
        highlight=False,
        emoji=False,
        markup=False,
    )
    console.print(Text(_title(report)))
    if report.asked:
        wide = console.width >= _WIDE
        console.print(_quality(report.contenders, wide=wide))
        console.print(Text(_WIDELY if wide else _NARROWLY))
        console.print(_latency(report.contenders))
    if any(each.unavailable is None for each in report.contenders):
        console.print(_cost(report.contenders))
    for line in _lines(report):
        console.print(Text(line))
    return "\n".join(line.rstrip() for line in written.getvalue().split("\n"))


def _title(report: BenchReport) -> str:
    asked, files = len(report.asked), report.files
    return (
        f"{number_of(asked, 'query', 'queries')}"
        f" ({_ORIGINS[report.origin]}: {one_line(report.queries_from)})"
        f" on {one_line(report.workspace)}: {number_of(files, 'note')},"
        f" {size_text(report.bytes)}"
    )


def _quality(contenders: Sequence[Contender], *, wide: bool) -> Table:
    metrics = METRICS if wide else _TELLING
    table = _table("quality", metrics)
    for each in contenders:
        if each.quality:
            row = [each.quality[metric] for metric in metrics]
            table.add_row(_name(each), *(_score(value, wide=wide) for value in row))
    return table


def _latency(contenders: Sequence[Contender]) -> Table:
    table = _table("latency", ("p50", "p95", "p99", "cold"))
    for each in contenders:
        cold = each.cold.p50 if each.cold else None
        if each.warm is not None:
            warm = (each.warm.p50, each.warm.p95, each.warm.p99)
            table.add_row(_name(each), *map(_time, (*warm, cold)))
    return table


def _cost(contenders: Sequence[Contender]) -> Table:
    table = _table("cost", ("index", "update", "disk", "memory"))
    for each in contenders:
        if each.unavailable is None:
            cost = each.cost
            times = map(_time, (cost.index_ms, cost.update_ms))
            sizes = map(_size, (cost.disk_bytes, cost.peak_memory_bytes))
            table.add_row(_name(each), *times, *sizes)
    return table


def _lines(report: BenchReport) -> Iterator[str]:
    """Yield what no table holds: comparisons, failures, who is missing, remarks."""
    yield from map(_compared, report.comparisons)
    for each in report.contenders:
        label = one_line(each.label)
        if each.unavailable is not None:
            yield f"{label} took no part: {one_line(each.unavailable)}"
        for kind, count in each.failures.items():
            yield f"{label}: {number_of(count, 'query', 'queries')} failed ({kind})"
        for step, count in each.fallbacks.items():
            yield f"{label}: {number_of(count, 'answer')} with a step down ({step})"
    for remark in report.remarks:
        yield one_line(remark)


def _compared(pair: Comparison) -> str:
    change = pair.differences["ndcg@10"]
    return (
        f"{one_line(pair.second)} against {one_line(pair.first)}:"
        f" ndcg@10 {change.mean:+.3f} [{change.low:+.3f}, {change.high:+.3f}],"
        f" files in common {pair.overlap:.0%}, rank agreement {pair.rank_correlation:.2f}"
    )


def _table(first: str, columns: Sequence[str]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(first, overflow="fold", min_width=_NAME)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _name(contender: Contender) -> Text:
    """Return the label, and in which mode it answered if that is not the one it names.

    >>> str(_name(Contender(label="qmd:vsearch", backend="qmd", mode="search")))
    'qmd:vsearch → search'
    """
    label, mode = one_line(contender.label), contender.mode
    _, _, named = label.partition("@")[0].partition(":")
    return Text(f"{label} → {mode}" if named and mode and named != mode else label)


def _score(value: Interval, *, wide: bool) -> Text:
    """Show a mean, and by how much it may be wrong on the wider side.

    >>> str(_score(Interval(mean=0.75, low=0.5, high=0.875), wide=True))
    '.750±.250'
    """
    mean = f"{value.mean:.3f}".removeprefix("0")
    if not wide:
        return Text(mean)
    half = max(value.mean - value.low, value.high - value.mean)
    return Text(f"{mean}±" + f"{half:.3f}".removeprefix("0"))


def _time(value: float | None) -> Text:
    return Text("-" if value is None else latency_text(value))


def _size(count: int | None) -> Text:
    return Text("-" if count is None else size_text(count))
