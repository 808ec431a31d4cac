"""Every query with its answers: the data that report.js shows, and how to choose among them."""

import json
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from notewell.adapters.surfaces.report.html import harmless_text
from notewell.bench.results import (
    BenchReport,
    JudgedLines,
    Result,
    ScoredAnswer,
    ScoredQuery,
)

Json = dict[str, object]
Choices = list[tuple[str, str]]

_ORDER: Final = (
    ("asked", "As asked"),
    ("apart", "Furthest apart first"),
    ("slow", "Slowest first"),
    ("query", "By query"),
    ("category", "By category"),
)


@dataclass(frozen=True, slots=True)
class QueriesSection:
    """In which single queries can be read; the choices are of a key and a word.

    Attributes:
        data: All queries and answers, as JSON that no text in it can end.
        which: Which queries are seen.
        categories: Of which category; the first is all.
        order: In which order.
    """

    data: Markup
    which: Choices
    categories: Choices
    order: Choices


def queries_section(report: BenchReport) -> QueriesSection | None:
    """Return the data and the choices; None when nothing was asked."""
    if not report.asked:
        return None
    labels = [one.label for one in report.contenders if one.unavailable is None]
    categories = sorted({asked.category for asked in report.asked})
    return QueriesSection(
        data=Markup(_payload(report)),
        which=[
            ("all", "All queries"),
            ("differ", "First results differ"),
            ("some", "Found by some, missed by others"),
            *((f"only:{label}", f"Only {label} finds it") for label in labels),
            ("none", "Nobody finds it"),
            ("trouble", "Failed or stepped down"),
        ],
        categories=[
            ("", "All categories"),
            *((one, one or "none") for one in categories),
        ],
        order=list(_ORDER),
    )


def _payload(report: BenchReport) -> str:
    r"""Return all queries and answers as JSON that no text in it can end.

    Members called `path`, `text`, `snippet` and `heading` are places in `texts`.
    """
    texts = _Texts()
    body = {
        "labels": [harmless_text(one.label) for one in report.contenders],
        "queries": [_asked(asked, texts) for asked in report.asked],
        "texts": texts.all,
    }
    written = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    # "</script>" and "<!--" would be obeyed; as an escape they are the same text.
    return written.replace("<", "\\u003c").replace(">", "\\u003e")


class _Texts:
    """Numbers for texts, so that a text which occurs often is in the page once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, value: str) -> int:
        """Return the place of a text in `all`, as readers may be given it."""
        return self._numbers.setdefault(harmless_text(value), len(self._numbers))

    @property
    def all(self) -> list[str]:
        """Every text that got a number, in that order."""
        return list(self._numbers)


def _asked(asked: ScoredQuery, texts: _Texts) -> Json:
    return {
        "id": harmless_text(asked.id),
        "query": harmless_text(asked.query),
        "category": harmless_text(asked.category),
        "places": [_place(place, texts) for place in asked.relevant],
        "answers": [_answer(answer, texts) for answer in asked.answers],
    }


def _place(place: JudgedLines, texts: _Texts) -> Json:
    return {
        "path": texts.number(place.path),
        "start": place.start_line,
        "end": place.end_line,
        "grade": place.grade,
        "text": texts.number(place.text),
    }


def _answer(answer: ScoredAnswer, texts: _Texts) -> Json:
    """What is worth showing; members without a value are left out."""
    body: Json = {
        "label": harmless_text(answer.label),
        "results": [_result(result, texts) for result in answer.results],
        "ms": answer.ms,
        "mode": answer.mode,
        "ndcg": answer.scores.get("ndcg@10"),
        "reason": answer.reason and harmless_text(answer.reason),
        "error": answer.error and harmless_text(answer.error),
        "fallbacks": [harmless_text(step.message) for step in answer.fallbacks],
    }
    return {name: value for name, value in body.items() if value is not None}


def _result(result: Result, texts: _Texts) -> Json:
    return {
        "path": texts.number(result.path),
        "start": result.start_line,
        "end": result.end_line,
        "score": round(result.score, 4),
        "snippet": texts.number(result.snippet),
        "heading": texts.number(result.heading),
        "relevant": result.relevant,
    }
