"""JSON as agents get it."""

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from notewell.adapters.surfaces import wire
from notewell.types import (
    Document,
    Fallback,
    Freshness,
    Hit,
    IndexReport,
    SearchAnswer,
    Skipped,
)


def answer(**changes: object) -> SearchAnswer:
    values: dict[str, object] = {
        "query": "port",
        "workspace": "/notes",
        "agent": "main",
        "results": (
            Hit(
                path="MEMORY.md",
                start_line=3,
                end_line=4,
                match_line=3,
                snippet="The port is 18789.",
                snippet_line=3,
                score=0.5,
                text_score=0.5,
                heading="Facts",
            ),
        ),
        "backend": "builtin",
        "requested_backend": "builtin",
        "mode": "keyword",
    }
    return SearchAnswer(**{**values, **changes})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_an_answer_has_exactly_the_keys_of_the_schema() -> None:
    shape = wire.answer_json(answer())

    assert list(shape) == [
        "schemaVersion",
        "query",
        "workspace",
        "agent",
        "results",
        "backend",
        "requestedBackend",
        "mode",
        "provider",
        "model",
        "requestedProvider",
        "fallbacks",
        "localToRemote",
        "degraded",
        "reason",
        "freshness",
        "warnings",
        "tookMs",
    ]


def test_a_hit_carries_its_citation() -> None:
    shape = wire.answer_json(answer())

    assert shape["results"] == [
        {
            "path": "MEMORY.md",
            "startLine": 3,
            "endLine": 4,
            "matchLine": 3,
            "snippet": "The port is 18789.",
            "snippetLine": 3,
            "score": 0.5,
            "vectorScore": None,
            "textScore": 0.5,
            "source": "memory",
            "heading": "Facts",
            "citation": "MEMORY.md#L3-L4",
        }
    ]


def test_the_first_fallback_stands_also_in_the_short_shape() -> None:
    missing = Fallback(
        kind="backend", from_="qmd", to="builtin", reason="missing", message="no qmd"
    )
    cjk = Fallback(kind="mode", from_="search", to="query", reason="cjk", message="..")

    shape = wire.answer_json(answer(fallbacks=(missing, cjk)))

    assert shape["fallback"] == {"from": "qmd", "reason": "missing"}
    assert shape["fallbacks"] == [
        {
            "kind": "backend",
            "from": "qmd",
            "to": "builtin",
            "reason": "missing",
            "message": "no qmd",
        },
        {
            "kind": "mode",
            "from": "search",
            "to": "query",
            "reason": "cjk",
            "message": "..",
        },
    ]


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2026, 1, 10, 12, 0, 3, tzinfo=UTC),
        datetime(2026, 1, 10, 14, 0, 3, tzinfo=timezone(timedelta(hours=2))),
        datetime(2026, 1, 10, 12, 0, 3),
    ],
    ids=["utc", "another zone", "no zone"],
)
def test_moments_are_written_in_utc_with_z(moment: datetime) -> None:
    shape = wire.answer_json(answer(freshness=Freshness(indexed_at=moment)))

    assert shape["freshness"] == {
        "indexedAt": "2026-01-10T12:00:03.000Z",
        "pending": None,
        "stale": False,
    }


def test_a_document_has_exactly_the_keys_of_the_schema() -> None:
    shape = wire.document_json(
        Document(
            path="a.md", text="x", start_line=1, end_line=1, total_lines=1, found=True
        )
    )

    assert list(shape) == [
        "path",
        "text",
        "startLine",
        "endLine",
        "totalLines",
        "found",
        "truncated",
        "nextFrom",
        "reason",
    ]


def test_an_index_report_has_exactly_the_documented_keys() -> None:
    skipped = Skipped(path="link.md", reason="symlink", detail="it is a link")

    shape = wire.index_json(IndexReport(files=2, chunks=3, skipped=(skipped,)))

    assert shape == {
        "files": 2,
        "chunks": 3,
        "embedded": 0,
        "pending": 0,
        "skipped": [{"path": "link.md", "reason": "symlink", "detail": "it is a link"}],
        "localToRemote": False,
        "warnings": [],
    }


def test_one_report_stands_alone_and_several_are_listed() -> None:
    one: wire.Json = {"files": 1}
    other: wire.Json = {"files": 2}

    assert wire.agents_json([one]) == one
    assert wire.agents_json([one, other]) == {"agents": [one, other]}


def test_text_survives_unaltered_though_no_terminal_can_obey_it() -> None:
    text = "\x1b[31m\x7f\x9b2J\u202eabc\u2028\u2069 café 数据库 😀"

    encoded = wire.dump({"text": text})

    assert json.loads(encoded) == {"text": text}
    obeyed = {"\x1b", "\x7f", "\x9b", "\u202e", "\u2028", "\u2069"}
    assert not obeyed & set(encoded.decode("utf-8"))


def test_what_json_cannot_hold_is_replaced_and_the_rest_is_kept() -> None:
    encoded = wire.dump(
        {
            "lone \ud83c": ["\udc80", "fine"],
            "big": 2**70,
            "path": Path("/x"),
            "names": frozenset({"b", "a"}),
            "nan": float("nan"),
        }
    )

    assert json.loads(encoded.decode("utf-8")) == {
        "lone \ufffd": ["\ufffd", "fine"],
        "big": float(2**70),
        "path": "/x",
        "names": ["a", "b"],
        "nan": None,
    }
