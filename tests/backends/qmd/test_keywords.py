"""Whole questions to the real QMD: in any script, with what is rare in them, and who answers."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from notewell.backends.base import Findings, Query
from notewell.backends.fallback import FallbackBackend
from notewell.backends.qmd.client import MOST_SEARCHES
from notewell.backends.qmd.engine import QmdBackend
from notewell.backends.qmd.home import QmdHome
from notewell.backends.qmd.keywords import DocumentFrequencies, plan_searches
from notewell.backends.text.query import parse_query

if TYPE_CHECKING:
    from tests.backends.qmd.conftest import Installed, Notes

EASTERN: Mapping[str, str] = {
    "memory/db.md": "周三把数据库迁移到了新加坡的机房，备份放在东京。\n",
    "memory/cat.md": "猫咪的疫苗在三月打完，医生说下次是明年。\n",
    "memory/京都.md": "京都の旅館は四月に予約した。駅から歩いて十分です。\n",
    "memory/rain.md": "梅雨前線は揚子江気団とオホーツク海気団の間にできる。\n",
    "memory/game.md": "끝말잇기 대회는 부산에서 열렸고 민수가 이겼다.\n",
    "memory/mixed.md": "Adobe OnLocation 的缓冲录制最长可以录制三十秒。\n",
}
QUESTIONS = [
    ("我们是什么时候把数据库迁移到新加坡的？", "memory/db.md"),
    ("猫咪下一次的疫苗要等到什么时候才打？", "memory/cat.md"),
    ("京都で予約した旅館は駅からどのくらいですか？", "memory/京都.md"),
    ("梅雨前線を形成するのは揚子江気団と何気団でしょうか？", "memory/rain.md"),
    ("끝말잇기 대회는 어디에서 열렸습니까?", "memory/game.md"),
    ("Adobe OnLocation对buffer的录制，最长可以录制多久？", "memory/mixed.md"),
    ("机房", "memory/db.md"),
]


async def ask(notes: "Notes", command: list[str], *texts: str) -> list[Findings]:
    """Ask QMD alone, with a new index."""
    backend = await QmdBackend.open(notes.site(command, transport="auto"))
    await backend.refresh()
    found = [await backend.search(Query(text=text, limit=6)) for text in texts]
    await backend.close()
    return list(map(notes.check, found))


@pytest.mark.parametrize("version", ["2.8.3", "2.5.3"])
async def test_questions_without_spaces_are_answered_by_qmd_itself(
    version: str, qmd_of_version: "Installed", notes: "Notes"
) -> None:
    notes.write(EASTERN)
    # Every note has the words of which all questions are made.
    notes.write({f"memory/{n}.md": "什么时候？どのくらいですか？\n" for n in range(30)})

    found = await ask(notes, qmd_of_version(version), *(text for text, _ in QUESTIONS))

    first = [each.hits[0].path if each.hits else None for each in found]
    assert first == [path for _, path in QUESTIONS]
    assert {each.doubt for each in found} == {None}


@pytest.mark.parametrize(
    ("text", "reason"), [(QUESTIONS[0][0], "cjk"), ("🦩", "syntax")]
)
async def test_what_builtin_alone_has_found_is_its_answer_and_says_so(
    text: str, reason: str, qmd_of_version: "Installed", notes: "Notes"
) -> None:
    notes.write({"memory/db.md": f"{EASTERN['memory/db.md']} 🦩\n"})

    pair = await FallbackBackend.open(notes.site(qmd_of_version("2.1.0")))
    await pair.refresh()
    found = notes.check(await pair.search(Query(text=text, limit=6)))
    await pair.close()

    assert [hit.path for hit in found.hits] == ["memory/db.md"]
    assert (found.backend, found.degraded) == ("builtin", True)
    assert [(s.kind, s.from_, s.to, s.reason) for s in found.fallbacks] == [
        ("backend", "qmd", "builtin", reason)
    ]
    assert {hit.engine for hit in found.hits} == {None}


async def test_hits_that_qmd_has_not_found_are_marked_beside_those_that_it_has(
    qmd_of_version: "Installed", notes: "Notes"
) -> None:
    notes.write({"memory/start.md": "数据库 早上重启\n", **EASTERN})

    pair = await FallbackBackend.open(notes.site(qmd_of_version("2.1.0")))
    await pair.refresh()
    found = notes.check(await pair.search(Query(text="数据库", limit=6)))
    await pair.close()

    engines = {hit.path: hit.engine for hit in found.hits}
    assert engines == {"memory/start.md": None, "memory/db.md": "builtin"}
    assert found.backend is None
    assert [(s.kind, s.reason) for s in found.fallbacks] == [("lexical-index", "cjk")]


async def test_a_note_that_qmd_has_lost_is_found_by_builtin(
    qmd_of_version: "Installed", notes: "Notes"
) -> None:
    notes.write({"memory/plan b.md": "osprey\n", "memory/plan_b.md": "bittern\n"})

    pair = await FallbackBackend.open(notes.site(qmd_of_version("2.5.3")))
    await pair.refresh()
    found = [
        await pair.search(Query(text=word, limit=6)) for word in ("osprey", "bittern")
    ]
    await pair.close()

    assert [len(each.hits) for each in found] == [1, 1]
    assert sorted(str(each.backend) for each in found) == ["None", "builtin"]


@pytest.mark.parametrize("version", ["2.8.3", "2.5.3", "2.1.0"])
async def test_what_is_rare_in_all_notes_comes_before_what_many_have(
    version: str, qmd_of_version: "Installed", notes: "Notes"
) -> None:
    common = (
        "On which day did we roll out the new rollout? We did roll it out that day.\n"
    )
    notes.write({f"memory/{n:03}.md": common * 3 for n in range(150)})
    notes.write(
        {"memory/2026-04-28.md": "Release 0a4e9594 went live.\n" + "x y z\n" * 60}
    )

    [found] = await ask(
        notes,
        qmd_of_version(version),
        "which day did we roll out 0a4e959414ef6e4e0e5e067f1190f2e99b195467?",
    )

    assert found.hits[0].path == "memory/2026-04-28.md"


async def test_among_equal_notes_the_order_is_that_of_qmd(
    qmd: list[str], notes: "Notes"
) -> None:
    """QMD weighs the title of a note four times; the lines alone do not tell them apart."""
    text = "The osprey and the bittern are in the book.\n"
    notes.write({f"memory/{n}.md": f"# Misc\n\n{text}" for n in range(9)})
    notes.write({"memory/z.md": f"# Osprey\n\n{text}"})

    [found] = await ask(notes, qmd, "osprey bittern")

    assert found.hits[0].path == "memory/z.md"
    assert [hit.score for hit in found.hits] == sorted(
        (hit.score for hit in found.hits), reverse=True
    )


def searches(text: str, counts: DocumentFrequencies) -> list[str]:
    with counts as opened:
        return plan_searches(text, parse_query(text).terms, opened).searches


@pytest.mark.parametrize(
    "text", [*(text for text, _ in QUESTIONS), "the who", "a-b c.d"]
)
def test_without_counts_a_question_is_asked_in_parts_as_well(
    text: str, tmp_path: Path
) -> None:
    (tmp_path / "index.sqlite").write_bytes(b"garbage" * 1000)

    asked = searches(
        text, DocumentFrequencies(tmp_path / "index.sqlite", by_character=True)
    )

    assert 1 <= len(asked) <= MOST_SEARCHES
    assert all(one.count('"') % 2 == 0 and one.strip() == one for one in asked)


async def test_an_index_is_counted_as_qmd_searches_it(
    qmd: list[str], notes: "Notes"
) -> None:
    notes.write(EASTERN)
    site = notes.site(qmd)
    backend = await QmdBackend.open(site)
    await backend.refresh()
    await backend.close()
    database = QmdHome(site).database(1)

    with DocumentFrequencies(database, by_character=True) as counts:
        counted = {
            one: counts.of(one)
            for one in (
                "heron",
                "her",
                "数据",
                "据库",
                "库数",
                "heron pond",
                '"pond heron"',
            )
        }
    with closing(apsw.Connection(str(database))) as connection:
        connection.execute("delete from documents_fts")
    with DocumentFrequencies(database, by_character=True) as emptied:
        assert emptied.of("heron") == 0

    assert list(counted.values()) == [1, 1, 1, 1, 0, 1, 0]
