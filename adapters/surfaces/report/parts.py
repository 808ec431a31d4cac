"""What several sections of the page are made of."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from notewell.adapters.surfaces.report.marks import symbol
from notewell.adapters.surfaces.report.markup import Html, element, joined
from notewell.bench.results import BenchReport, Contender, Metric

METRICS: Final[Mapping[Metric, str]] = {
    "success@6": "queries with a right passage among the first six",
    "rec@4kc": "share of the right places within the first 4,000 characters of results",
    "recall@1": "share of the right places that the first result covers",
    "recall@6": "share of the right places among the first six",
    "recall@10": "share of the right places among the first ten",
    "mrr@10": "1 / rank of the first right passage, 0 beyond the tenth",
    "ndcg@10": "graded gain of the first ten, discounted by rank",
}
"""In the order in which the page shows them, with what they measure."""


def taking_part(report: BenchReport) -> list[tuple[int, Contender]]:
    """Return who was measured, with the number that gives shape and colour."""
    return [
        (index, contender)
        for index, contender in enumerate(report.contenders)
        if contender.unavailable is None
    ]


def section(name: str, title: str, note: str, *content: str) -> Html:
    """Return a part of the page with its heading and a remark on how to read it."""
    heading = element("h2", title, id=f"{name}-title")
    head = element("header", heading, element("p", note))
    body = element("div", *content, class_="body")
    return element("section", head, body, id=name, aria_labelledby=f"{name}-title")


def name_of(index: int, label: str) -> Html:
    """Return a contender's name beside its shape."""
    return element("span", symbol(index), element("bdi", label), class_="who")


def legend(members: Iterable[tuple[int, Contender]]) -> Html:
    """Return who has which shape, for where there is no room for names."""
    names = (element("li", name_of(index, one.label)) for index, one in members)
    return element("ul", *names, class_="legend", aria_label="Contenders")


def table(
    head: Sequence[str], rows: Iterable[str], *, kind: str, caption: str, foot: str = ""
) -> Html:
    """Return a table whose rows are ready; columns are named in the head."""
    names = (element("th", name, scope="col") for name in head)
    return element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *names)),
        element("tbody", *rows),
        element("tfoot", foot) if foot else Html(),
        class_=kind,
    )


def row(head: str, *cells: str, kind: str | None = None) -> Html:
    """Return a row of a table; cells that are no `td` yet become one."""
    return element("tr", element("th", head, scope="row"), *cells, class_=kind)


def cell(content: str, kind: str | None = None, label: str | None = None) -> Html:
    """Return a cell; a narrow screen shows the label before it."""
    return element("td", content, class_=kind, data_label=label)


def scrolling(content: str, name: str) -> Html:
    """Return something wide in a frame that scrolls by itself, by keyboard as well."""
    return element(
        "div", content, class_="scroll", tabindex=0, role="region", aria_label=name
    )


def lines(parts: Iterable[str]) -> Html:
    """Return one line for each contender, as high as its lane in the plot beside it."""
    return joined(element("div", part, class_="lane") for part in parts)


def choice(group: str, panels: Sequence[tuple[str, str]]) -> Html:
    """Return panels of which one is seen, and buttons to choose it; works without scripts.

    report.css shows the panel at the place of the button that is pressed, up to the eighth.
    """
    buttons = (
        element(
            "label",
            element("input", type="radio", name=group, checked=number == 0),
            element("span", name),
        )
        for number, (name, _) in enumerate(panels)
    )
    return element(
        "div",
        element("div", *buttons, class_="tabs", role="group", aria_label="Measure"),
        *(element("div", panel, class_="panel") for _, panel in panels),
        class_="choice",
    )
