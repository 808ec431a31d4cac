"""An index that was built otherwise is built anew, and answers meanwhile."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook

NOTES = {
    f"memory/{n}.md": f"word{n}\n" + "\n".join(f"otter line {k}" for k in range(80))
    for n in range(30)
}


@pytest.fixture
def built(notebook: "Notebook") -> "Notebook":
    """An index of thirty notes in passages of the usual size."""
    notebook.write(NOTES)
    notebook.refresh()
    return notebook


def test_other_passages_need_another_index_and_the_old_one_answers_meanwhile(
    built: "Notebook",
) -> None:
    before = built.engine.status()
    built.reopen(**{"chunking.tokens": 50, "chunking.overlap": 10})

    meanwhile = built.ask("word17", limit=1)
    status = built.engine.status()
    report = built.refresh()
    after = built.engine.status()

    assert [hit.path for hit in meanwhile.hits] == ["memory/17.md"]
    assert not meanwhile.degraded
    assert meanwhile.freshness.stale
    assert "`notewell index` builds it anew" in meanwhile.warnings[0]
    assert status.pending == len(NOTES)
    assert report.chunks > before.chunks * 3
    assert after.identity["chunker"] != before.identity["chunker"]
    assert after.pending == 0


def test_other_terms_need_another_index(
    built: "Notebook", monkeypatch: pytest.MonkeyPatch
) -> None:
    before = built.engine.status().identity
    monkeypatch.setattr("notewell.backends.builtin.schema.TERMS_VERSION", "next")
    built.reopen()

    meanwhile = built.ask("word17", limit=1)
    report = built.refresh()

    assert not meanwhile.degraded
    assert meanwhile.freshness.stale
    assert "`notewell index` builds it anew" in meanwhile.warnings[0]
    assert meanwhile.hits
    assert report.changed == len(NOTES)
    assert built.engine.status().identity != before
    assert built.refresh().changed == 0


def test_a_rebuild_in_small_pieces_answers_from_the_old_index_until_it_is_done(
    built: "Notebook",
) -> None:
    built.reopen(**{"chunking.tokens": 50, "chunking.overlap": 10})
    built.write({"memory/new.md": "kumquat"})

    pending = [built.refresh(within=0.0).pending]
    while pending[-1]:
        assert built.paths("word17", limit=1) == ["memory/17.md"]
        assert len(pending) < 100
        pending.append(built.refresh(within=0.0).pending)

    assert len(pending) > 3
    assert built.paths("kumquat") == ["memory/new.md"]
    assert built.ask("word17", limit=1).hits[0].end_line < 40


def test_going_back_to_the_first_settings_ends_the_rebuild(built: "Notebook") -> None:
    built.reopen(**{"chunking.tokens": 50, "chunking.overlap": 10})
    built.refresh(within=0.0)
    built.reopen()
    built.write({"memory/new.md": "kumquat"})

    report = built.refresh()

    assert (report.changed, report.pending) == (1, 0)
    assert built.paths("kumquat") == ["memory/new.md"]


def test_settings_that_do_not_touch_the_index_leave_it_alone(built: "Notebook") -> None:
    built.reopen(**{"query.maxResults": 3, "query.hybrid.mmr.enabled": True})

    assert built.engine.status().pending == 0
    assert built.refresh().changed == 0


def test_another_python_is_named_as_the_reason_with_what_it_costs(
    built: "Notebook", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unicodedata.unidata_version", "99.0.0")
    built.reopen()

    [warning] = built.ask("word17", limit=1).warnings

    assert "Unicode data" in warning
    assert "this one has 99.0.0" in warning
    assert "no vector is made again" in warning
    assert "memorySearch.store.path" in warning
