"""What a benchmark found, as tables for people. Loaded late: rich is heavy."""

from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from notewell.adapters.surfaces.cli.progress import plural
from notewell.adapters.surfaces.cli.quantity import duration, size
from notewell.adapters.surfaces.cli.screen import Screen
from notewell.adapters.surfaces.cli.visible import one_line
from notewell.bench.metrics import METRICS
from notewell.bench.results import BenchReport, Comparison, Contender, Interval, Latency

_UNBOUND: Final = 120
"""Columns of a table that nobody's terminal bounds."""

_WIDE: Final = 96
"""Columns from which on intervals have room."""

_ORIGINS: Final[Mapping[str, str]] = {
    "judged": "judged queries",
    "known-item": "known items, not judged",
    "bundled": "the bundled set",
}


def standings(report: BenchReport, screen: Screen) -> str:
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
        console.print(_quality(report.contenders, intervals=wide))
    console.print(_cost(report.contenders))
    for line in _lines(report):
        console.print(Text(line))
    return "\n".join(line.rstrip() for line in written.getvalue().split("\n"))


def _title(report: BenchReport) -> str:
    asked, files = len(report.asked), report.files
    return (
        f"{asked:,} {plural(asked, 'query') if asked == 1 else 'queries'}"
        f" ({_ORIGINS[report.origin]}: {one_line(report.queries_from)})"
        f" on {one_line(report.workspace)}: {files:,} {plural(files, 'note')},"
        f" {size(report.bytes)}"
    )


def _quality(contenders: Sequence[Contender], *, intervals: bool) -> Table:
    table = _table("quality", METRICS)
    for each in contenders:
        if each.quality:
            row = [each.quality[metric] for metric in METRICS]
            table.add_row(
                _name(each), *(_score(value, interval=intervals) for value in row)
            )
    return table


def _cost(contenders: Sequence[Contender]) -> Table:
    columns = ("p50", "p95", "p99", "cold", "index", "update", "disk", "memory")
    table = _table("cost", columns)
    for each in contenders:
        if each.unavailable is not None:
            continue
        cost = each.cost
        table.add_row(
            _name(each),
            *_times(each.warm),
            _time(each.cold.p50 if each.cold else None),
            _time(cost.index_ms),
            _time(cost.update_ms),
            _size(cost.disk_bytes),
            _size(cost.peak_memory_bytes),
        )
    return table


def _lines(report: BenchReport) -> Iterator[str]:
    """Yield what no table holds: comparisons, failures, who is missing, remarks."""
    yield from map(_compared, report.comparisons)
    for each in report.contenders:
        label = one_line(each.label)
        if each.unavailable is not None:
            yield f"{label} took no part: {one_line(each.unavailable)}"
        for kind, count in each.failures.items():
            yield f"{label}: {count:,} {plural(count, 'query')} failed ({kind})"
        for step, count in each.fallbacks.items():
            yield f"{label}: {count:,} answers with a step down ({step})"
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
    table.add_column(first, overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _name(contender: Contender) -> Text:
    return Text(one_line(contender.label))


def _score(value: Interval, *, interval: bool) -> Text:
    """Show a mean, and by how much it may be wrong on the wider side.

    >>> str(_score(Interval(mean=0.75, low=0.5, high=0.875), interval=True))
    '.750±.250'
    """
    mean = f"{value.mean:.3f}".removeprefix("0")
    if not interval:
        return Text(mean)
    half = max(value.mean - value.low, value.high - value.mean)
    return Text(f"{mean}±" + f"{half:.3f}".removeprefix("0"))


def _times(times: Latency | None) -> tuple[Text, Text, Text]:
    if times is None:
        return Text("-"), Text("-"), Text("-")
    return _time(times.p50), _time(times.p95), _time(times.p99)


def _time(milliseconds: float | None) -> Text:
    return Text("-" if milliseconds is None else duration(milliseconds))


def _size(count: int | None) -> Text:
    return Text("-" if count is None else size(count))
