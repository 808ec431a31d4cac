"""The top of the page: what ran, who says what is right, what came out, and one table."""

from collections.abc import Callable
from typing import Final

from notewell.adapters.surfaces.report.figures import (
    listed,
    milliseconds,
    share,
)
from notewell.adapters.surfaces.report.findings import findings
from notewell.adapters.surfaces.report.markup import Html, element, joined
from notewell.adapters.surfaces.report.parts import (
    cell,
    name_of,
    row,
    scrolling,
    table,
)
from notewell.adapters.surfaces.sentences import number_of, size_text
from notewell.bench.results import BenchReport, Contender, Metric, Origin

_BUNDLED: Final = (
    "The notes and the judgements ship with notewell. They show how a run looks, not "
    "how an engine does on your notes."
)
_KNOWN_ITEM: Final = (
    "Each query was made from a passage of the notes, and only that passage counts as "
    "right. Such queries share words with what they look for, so they favour engines "
    "that match words; other passages may answer as well. Known-item queries are no "
    "judgements of relevance."
)
_JUDGED: Final = "What is right was written down in a file of queries."
_ORIGINS: Final[dict[Origin, tuple[str, str]]] = {
    "judged": ("Judged by a file.", _JUDGED),
    "bundled": ("Judged by a set of our own making.", _BUNDLED),
    "known-item": ("Not judged by anybody.", _KNOWN_ITEM),
}
"""What a reader has to know of the judgements: in short, and why."""


def title(report: BenchReport) -> str:
    """Return what the page is called."""
    labels = [contender.label for contender in report.contenders]
    who = listed(labels) if 0 < len(labels) <= 3 else f"{len(labels)} contenders"
    return f"{who} on {report.workspace}"


def overview(report: BenchReport) -> Html:
    """Return the heading, the findings and the table of figures."""
    ran = number_of(len(report.asked), "query", "queries")
    facts = (
        ran,
        f"{number_of(report.files, 'file')}, {size_text(report.bytes)}",
        f"{report.limit} results a query",
        f"{report.started_at:%-d %B %Y, %H:%M} UTC",
    )
    return joined(
        (
            element("p", "notewell bench", class_="kicker"),
            element("h1", element("bdi", title(report))),
            element("ul", *(element("li", fact) for fact in facts), class_="facts"),
            _unfinished(report, ran),
            _origin(report),
            _findings(report),
            _figures(report),
        )
    )


def _unfinished(report: BenchReport, ran: str) -> Html:
    if report.finished:
        return Html()
    words = (
        f" The figures are of what was done until then: {ran} that everybody who took "
        "part was asked."
    )
    strong = element("strong", "This run was stopped.")
    return element("p", strong, words, class_="notice trouble")


def _origin(report: BenchReport) -> Html:
    short, long = _ORIGINS[report.origin]
    kind = "notice trouble" if report.origin == "known-item" else "notice"
    source = (" Queries from ", element("bdi", report.queries_from), ".")
    return element("p", element("strong", short), " ", long, *source, class_=kind)


def _findings(report: BenchReport) -> Html:
    items = (
        element(
            "li",
            element("strong", f"{one.claim}."),
            " ",
            element("span", one.evidence),
            class_="trouble" if one.trouble else None,
        )
        for one in findings(report)
    )
    return element("ul", *items, class_="findings", aria_label="Findings")


_COLUMNS: Final[dict[str, Callable[[Contender], str]]] = {
    "success@6": lambda one: _mean(one, "success@6"),
    "rec@4kc": lambda one: _mean(one, "rec@4kc"),
    "mrr@10": lambda one: _mean(one, "mrr@10"),
    "warm p50": lambda one: _time(one.warm.p50 if one.warm else None),
    "warm p95": lambda one: _time(one.warm.p95 if one.warm else None),
    "cold p50": lambda one: _time(one.cold.p50 if one.cold else None),
    "index": lambda one: _time(one.cost.index_ms),
    "update": lambda one: _time(one.cost.update_ms),
    "disk": lambda one: _size(one.cost.disk_bytes),
    "memory": lambda one: _size(one.cost.peak_memory_bytes),
    "failed": lambda one: f"{sum(one.failures.values()):,}",
    "stepped down": lambda one: f"{sum(one.fallbacks.values()):,}",
}


def _figures(report: BenchReport) -> Html:
    rows = [
        row(
            name_of(index, one.label),
            *(cell(read(one), "number") for read in _COLUMNS.values()),
        )
        if one.unavailable is None
        else row(
            name_of(index, one.label),
            element("td", "did not take part", colspan=len(_COLUMNS), class_="faint"),
            kind="absent",
        )
        for index, one in enumerate(report.contenders)
    ]
    figures = table(
        ("Contender", *_COLUMNS),
        rows,
        kind="figures",
        caption="All contenders at a glance",
    )
    return scrolling(figures, "All contenders at a glance")


def _mean(contender: Contender, metric: Metric) -> str:
    return share(contender.quality[metric].mean) if metric in contender.quality else "–"


def _time(value: float | None) -> str:
    return "–" if value is None else milliseconds(value)


def _size(value: int | None) -> str:
    return "–" if value is None else size_text(value)
