"""Odd names of notes and folders, and what each version of QMD makes of them."""

from collections.abc import Callable
from typing import TYPE_CHECKING
from unicodedata import normalize

import pytest

from notewell.backends.base import Query
from notewell.backends.qmd.engine import QmdBackend

if TYPE_CHECKING:
    from tests.backends.qmd.conftest import Notes

VERSIONS = ["2.8.3", "2.5.3", "2.1.0"]
ODD = [
    "team notes/a.md",
    "team_drafts/b.md",
    "v1.2/c.md",
    "a b_c.d/e f.g_h.md",
    "___/three.md",
    "a___b.md",
    "x/___y/z.md",
    "-lead/-x-.md",
    "日本 語/メモ_一.md",
    "café/crème.md",
    normalize("NFD", "cafés/crème.md"),
    "🐘/🐘 x.md",
    "👨\u200d👩\u200d👧/x.md",
    "1\ufe0f\u20e3/y.md",
    "x/♥\ufe0f.md",
    "$5/$x.md",
    "(p)/(q) [v2]{a,b}.md",
    "UPPER/Case.md",
    "a.b.c/x.y.md",
    "tr ail /x .md",
    " lead/ y.md",
    "a+b/c&d.md",
    "ⅷ/Ⅷ.md",
    "²/x².md",
    "_/u.md",
    "-/d.md",
    "ﬁ/ﬁ.md",
    "Straße/ß.md",
    "İ/İx.md",
    "คน/ไทย.md",
    "हिन्दी/नोट.md",
    "x/y.tar.md",
    "a^b/c`d.md",
    "¨/x.md",
    "x.md.md",
    "a:12:3/b#c%20d?e.md",
]
SAME = ["plan b/x.md", "plan_b/x.md", "Plan-B/X.md", "plan___b/x.md"]
NAMELESS = ["---.md", "a b/_.md", "….md"]


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_note_is_found_and_cited_whatever_it_is_called(
    version: str, qmd_of_version: Callable[[str], list[str]], notes: "Notes"
) -> None:
    words = {path: f"heron{at:03}" for at, path in enumerate(ODD)}
    (notes.root / "memory" / "a.md").unlink()
    notes.write({f"memory/{path}": f"heron, the {words[path]}\n" for path in ODD})

    backend = await QmdBackend.open(notes.site(qmd_of_version(version)))
    report = await backend.refresh()
    found = notes.check(await backend.search(Query(text="heron", limit=len(ODD))))
    await backend.close()

    assert (report.pending, report.skipped) == (0, ())
    assert sorted((hit.path, hit.snippet) for hit in found.hits) == sorted(
        (f"memory/{path}", f"heron, the {words[path]}") for path in ODD
    )


@pytest.mark.parametrize("version", VERSIONS)
async def test_of_notes_that_come_to_one_name_those_that_are_lost_are_named(
    version: str, qmd_of_version: Callable[[str], list[str]], notes: "Notes"
) -> None:
    notes.write({f"memory/{path}": f"heron {at}\n" for at, path in enumerate(SAME)})

    backend = await QmdBackend.open(notes.site(qmd_of_version(version)))
    report = await backend.refresh()
    found = notes.check(await backend.search(Query(text="heron", limit=9)))
    await backend.close()

    here = {hit.path for hit in found.hits if hit.path != "memory/a.md"}
    lost = {each.path for each in report.skipped}
    assert here | lost == {f"memory/{path}" for path in SAME}
    assert not here & lost
    assert lost or version == "2.8.3"


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_name_without_letters_stops_no_update(
    version: str, qmd_of_version: Callable[[str], list[str]], notes: "Notes"
) -> None:
    backend = await QmdBackend.open(notes.site(qmd_of_version(version)))
    await backend.refresh()
    notes.write({f"memory/{it}": f"a heron {it}\n" for it in NAMELESS})

    report = await backend.refresh()
    found = notes.check(await backend.search(Query(text="heron", limit=9)))
    await backend.close()

    here = {hit.path for hit in found.hits} - {"memory/a.md"}
    lost = {each.path for each in report.skipped}
    assert report.pending == 0
    assert here | lost == {f"memory/{path}" for path in NAMELESS}
    assert bool(lost) is (version != "2.8.3")
