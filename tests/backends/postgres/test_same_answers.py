"""What PostgreSQL gives to a question is what builtin gives, hit for hit."""

import asyncio
import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path

from notewell.backends.base import Backend, Query, Site
from notewell.backends.builtin.engine import BuiltinBackend
from notewell.backends.postgres.engine import PostgresBackend
from notewell.bench.sets import bundled_set
from notewell.config import load_settings
from notewell.filters import Filter
from notewell.workspace import Workspace

TODAY = date(2026, 7, 1)
HOSTILE = (
    "gatway lamp",
    "invoces as PDF",
    "battry charge controler",
    "statio",
    '"a OR * NOT (',
    "the of and",
    "KR920 KR920",
    "memory/firmware.md",
    "firmware",
    "\u96e8 sensor",
    "7 19",
    "fw.base",
    "tx interval what is the tx.interval",
)
"""Beside the judged questions: slips, pieces, names, syntax."""

FILTERS = (
    Filter(paths=("memory/*.md",)),
    Filter(since=date(2026, 4, 1), until=date(2026, 4, 30)),
    Filter(phrases=("gateway",)),
    Filter(without=("the",)),
)


def site(root: Path, state: Path, settings: Mapping[str, object]) -> Site:
    found = load_settings(
        config_file=None,
        environ={"OPENCLAW_STATE_DIR": str(state)},
        home=state,
        overrides={"agents.defaults.workspace": str(root), **settings},
    )
    return Site(
        workspace=Workspace(root=root),
        agent=found.agent(None),
        memory=found.memory,
        state_dir=state,
    )


def of_radio(path: str) -> bool:
    return "radio" in path


def asked() -> list[Query]:
    lines = bundled_set("example").queries.read_text(encoding="utf-8").splitlines()
    texts = [*(json.loads(line)["query"] for line in lines), *HOSTILE]
    plain = [Query(text=text, limit=8, today=TODAY) for text in texts]
    narrow = [
        replace(query, filter=FILTERS[number % len(FILTERS)])
        for number, query in enumerate(plain[::3])
    ]
    newest = [Query(text="", limit=8, today=TODAY, filter=each) for each in FILTERS]
    hidden = [replace(query, hides=of_radio, hides_many=True) for query in plain[::7]]
    return [*plain, *narrow, *newest, *hidden]


async def answers(backend: Backend) -> list[object]:
    await backend.refresh()
    found = [await backend.search(query) for query in asked()]
    await backend.close()
    return [(list(each.hits), each.reason, each.warnings, each.mode) for each in found]


def test_the_bundled_set_is_answered_as_by_builtin_hit_for_hit(
    dsn: str, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    shutil.copytree(bundled_set("example").notes, notes)
    server = {"memory.postgres.dsn": dsn, "memory.postgres.timeoutMs": 60_000}

    async def both() -> tuple[list[object], list[object]]:
        ours = await BuiltinBackend.open(site(notes, tmp_path / "a", {}))
        other = await PostgresBackend.open(site(notes, tmp_path / "b", server))
        return await answers(ours), await answers(other)

    expected, found = asyncio.run(both())

    assert len(expected) > 60
    for query, one, other in zip(asked(), expected, found, strict=True):
        assert other == one, query.text
