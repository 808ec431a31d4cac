"""Every query with its answers: the data that report.js shows, and where it shows them."""

import json
from collections.abc import Iterable

from notewell.adapters.surfaces.report.markup import Html, element, plain
from notewell.adapters.surfaces.report.parts import name_of, section
from notewell.adapters.surfaces.sentences import number_of
from notewell.bench.results import (
    BenchReport,
    JudgedLines,
    Result,
    ScoredAnswer,
    ScoredQuery,
)

Json = dict[str, object]


class Texts:
    """Numbers for texts, so that a text which occurs often is in the page once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, value: str) -> int:
        """Return the place of a text in `all`, as readers may be given it."""
        return self._numbers.setdefault(plain(value), len(self._numbers))

    @property
    def all(self) -> list[str]:
        """Every text that got a number, in that order."""
        return list(self._numbers)


def _payload(report: BenchReport) -> str:
    r"""Return all queries and answers as JSON that no text in it can end.

    Members called `path`, `text`, `snippet` and `heading` are places in `texts`.
    """
    texts = Texts()
    body = {
        "labels": [plain(one.label) for one in report.contenders],
        "queries": [_asked(asked, texts) for asked in report.asked],
        "texts": texts.all,
    }
    written = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    # "</script>" and "<!--" would be obeyed; as an escape they are the same text.
    return written.replace("<", "\\u003c").replace(">", "\\u003e")


def queries(report: BenchReport) -> Html:
    """Return the section in which single queries can be read."""
    if not report.asked:
        return Html()
    return section(
        "queries",
        "Query by query",
        "Open a query to read the answers side by side. A number is the rank of the first "
        "result that touches a right place.",
        element(
            "noscript",
            element(
                "p", "Looking into single queries needs JavaScript.", class_="notice"
            ),
        ),
        element(
            "div",
            _controls(report),
            _columns(report),
            _list(),
            id="browser",
            hidden=True,
        ),
        element(
            "script", Html(_payload(report)), type="application/json", id="answers"
        ),
    )


def _controls(report: BenchReport) -> Html:
    labels = [one.label for one in report.contenders if one.unavailable is None]
    categories = sorted({asked.category for asked in report.asked})
    which = [
        ("all", "All queries"),
        ("differ", "First results differ"),
        ("some", "Found by some, missed by others"),
        *((f"only:{plain(label)}", f"Only {label} finds it") for label in labels),
        ("none", "Nobody finds it"),
        ("trouble", "Failed or stepped down"),
    ]
    order = [
        ("asked", "As asked"),
        ("apart", "Furthest apart first"),
        ("slow", "Slowest first"),
        ("query", "By query"),
        ("category", "By category"),
    ]
    everything = ("", "All categories")
    names = [everything, *((plain(one), one or "none") for one in categories)]
    return element(
        "form",
        _field(
            "Search", element("input", type="search", id="words", autocomplete="off")
        ),
        _field("Show", _select("which", which)),
        _field("Category", _select("category", names)) if len(categories) > 1 else "",
        _field("Order", _select("order", order)),
        element(
            "label",
            element("input", type="checkbox", id="whole"),
            " Whole snippets",
            class_="check",
        ),
        element("output", number_of(len(report.asked), "query", "queries"), id="count"),
        class_="controls",
        role="search",
    )


def _field(name: str, control: Html) -> Html:
    return element("label", element("span", name), control)


def _select(name: str, options: Iterable[tuple[str, str]]) -> Html:
    return element(
        "select",
        *(element("option", word, value=key) for key, word in options),
        id=name,
    )


def _columns(report: BenchReport) -> Html:
    """Who is meant by the columns of ranks; report.js copies the shapes from here."""
    names = (
        element("span", name_of(index, one.label), title=one.label)
        for index, one in enumerate(report.contenders)
    )
    return element("div", *names, class_="outcomes head", id="columns")


def _list() -> Html:
    return element("div", id="list")


def _asked(asked: ScoredQuery, texts: Texts) -> Json:
    return {
        "id": plain(asked.id),
        "query": plain(asked.query),
        "category": plain(asked.category),
        "places": [_place(place, texts) for place in asked.relevant],
        "answers": [_answer(answer, texts) for answer in asked.answers],
    }


def _place(place: JudgedLines, texts: Texts) -> Json:
    return {
        "path": texts.number(place.path),
        "start": place.start_line,
        "end": place.end_line,
        "grade": place.grade,
        "text": texts.number(place.text),
    }


def _answer(answer: ScoredAnswer, texts: Texts) -> Json:
    """What is worth showing; members without a value are left out."""
    body: Json = {
        "label": plain(answer.label),
        "results": [_result(result, texts) for result in answer.results],
        "ms": answer.ms,
        "mode": answer.mode,
        "ndcg": answer.scores.get("ndcg@10"),
        "reason": answer.reason and plain(answer.reason),
        "error": answer.error and plain(answer.error),
        "fallbacks": [plain(step.message) for step in answer.fallbacks],
    }
    return {name: value for name, value in body.items() if value is not None}


def _result(result: Result, texts: Texts) -> Json:
    return {
        "path": texts.number(result.path),
        "start": result.start_line,
        "end": result.end_line,
        "score": round(result.score, 4),
        "snippet": texts.number(result.snippet),
        "heading": texts.number(result.heading),
        "relevant": result.relevant,
    }
