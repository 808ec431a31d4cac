"""Filters in the builtin engine: narrow ones put first, wide ones held against the best."""

from typing import TYPE_CHECKING

import pytest

from notewell.backends.base import Findings, Query
from notewell.backends.builtin import filtering
from notewell.filters import Filter

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook

NOTES = {
    f"memory/{'kept' if n % 3 == 0 else 'other'}/n{n:02}.md": "---\n"
    f"status: {'open' if n % 2 else 'done'}\n---\n" + f"otter {n} " * (n % 5 + 1) + "\n"
    for n in range(60)
}
KEPT = Filter(paths=("kept",))


def asked(notebook: "Notebook", chosen: Filter, text: str = "otter") -> Findings:
    return notebook.engine.search(Query(text=text, limit=200, filter=chosen))


def paths(found: Findings) -> list[str]:
    return [hit.path for hit in found.hits]


@pytest.mark.parametrize("few", [0, 1_000])
@pytest.mark.parametrize("at_once", [1, 5_000])
def test_narrow_and_wide_filters_give_the_same(
    notebook: "Notebook", monkeypatch: pytest.MonkeyPatch, few: int, at_once: int
) -> None:
    notebook.write(NOTES)
    notebook.refresh()
    monkeypatch.setattr(filtering, "_FEW_FILES", few)
    monkeypatch.setattr(filtering, "_NARROW", 0.0)
    monkeypatch.setattr(filtering, "_MOST_AT_ONCE", at_once)
    everything = [path for path in paths(asked(notebook, Filter())) if "kept" in path]

    for limit in (1, 7, 200):
        found = notebook.engine.search(Query(text="otter", limit=limit, filter=KEPT))

        assert paths(found) == everything[:limit]
    assert len(everything) == 20


def test_without_an_index_the_files_are_filtered(notebook: "Notebook") -> None:
    notebook.write(NOTES)
    chosen = Filter(paths=("kept",), where=(("status", "open"),))

    found = asked(notebook, chosen)
    newest = asked(notebook, chosen, "")
    gone = asked(notebook, Filter(tags=("none",)))

    assert {found.mode, newest.mode, gone.mode} == {"scan"}
    assert set(paths(found)) == set(paths(newest))
    assert len(set(paths(found))) == 10
    assert gone.reason == "no-match"
    assert "tag 'none'" in gone.warnings[-1]


def test_what_a_note_says_of_itself_follows_the_note(notebook: "Notebook") -> None:
    notebook.write({"memory/a.md": "---\nstatus: open\n---\notter #red\n"})
    notebook.refresh()
    notebook.write({"memory/a.md": "---\nstatus: done\ndate: 2026-03-03\n---\notter\n"})
    notebook.refresh()

    assert not asked(notebook, Filter(where=(("status", "open"),))).hits
    assert not asked(notebook, Filter(tags=("red",))).hits
    found = asked(notebook, Filter(where=(("status", "done"),)))
    assert [str(hit.date) for hit in found.hits] == ["2026-03-03"]


def test_a_word_that_a_long_list_left_out_is_found_under_a_filter(
    notebook: "Notebook", monkeypatch: pytest.MonkeyPatch
) -> None:
    from notewell.backends.builtin import lexical

    common = {f"memory/{n}.md": "port and pier\n" for n in range(50)}
    notebook.write({**common, "memory/x.md": "zebra\n", "kept.md": "no note"})
    notebook.write({"memory/kept/a.md": "the port\n"})
    notebook.refresh()
    monkeypatch.setattr(lexical, "_LONGEST_LISTS", 2)

    found = asked(notebook, KEPT, "zebra port")

    assert paths(found) == ["memory/kept/a.md"]
