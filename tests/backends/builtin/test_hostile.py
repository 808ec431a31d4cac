"""Odd files and odd places: each is dealt with by itself, and none of them hangs us."""

import os
from typing import TYPE_CHECKING

import pytest

from notewell.backends.builtin.engine import Engine
from notewell.errors import BackendUnavailable

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook

FAR_FUTURE = 10_413_792_000  # the year 2300, beyond what 63 bits of nanoseconds hold


def test_a_file_from_the_far_future_is_indexed_like_any_other(
    notebook: "Notebook",
) -> None:
    notebook.write({"memory/a.md": "okapi", "memory/b.md": "gnu"})
    os.utime(notebook.root / "memory/a.md", (FAR_FUTURE, FAR_FUTURE))

    notebook.refresh()
    notebook.refresh()

    assert notebook.paths("gnu") == ["memory/b.md"]
    assert notebook.paths("okapi") == ["memory/a.md"]
    assert not notebook.ask("okapi").freshness.stale


def test_one_endless_line_does_not_hide_the_other_notes(notebook: "Notebook") -> None:
    others = {
        f"memory/b{n}.md": f"The zebra was seen near river {n}." for n in range(9)
    }
    notebook.write({**others, "memory/a.md": "zebra " * 12_000})
    notebook.refresh()

    assert len(notebook.paths("zebra")) == 6


def test_a_note_of_equal_lines_that_changed_is_looked_through_once(
    notebook: "Notebook", monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook.write({"memory/a.md": "zebra\n" * 20_000})
    notebook.refresh()
    notebook.write({"memory/a.md": "zebra\n" * 19_999})

    found = notebook.ask("zebra")

    [hit, *_] = found.hits
    assert hit.snippet.startswith("zebra")


def test_a_pipe_at_the_place_of_the_index_is_somebody_elses(
    notebook: "Notebook",
) -> None:
    notebook.write({"memory/a.md": "okapi"})
    notebook.index.parent.mkdir(parents=True)
    os.mkfifo(notebook.index)
    engine = Engine(notebook.site())

    report = engine.refresh()

    assert report.files == 1
    assert any("belongs to another program" in warning for warning in report.warnings)
    engine.close()


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no /proc here")
def test_a_place_where_no_lock_can_be_made_is_not_waited_for(
    notebook: "Notebook",
) -> None:
    site = notebook.site(
        **{"agents.defaults.memorySearch.store.path": "/proc/x.sqlite"}
    )
    engine = Engine(site)

    with pytest.raises(BackendUnavailable, match="no index can be kept"):
        engine.refresh()


def test_a_workspace_that_cannot_be_read_keeps_its_index(
    open_notebook: "Notebook",
) -> None:
    open_notebook.write({"memory/a.md": "okapi"})
    open_notebook.refresh()
    open_notebook.engine.close()
    for folder, _, files in os.walk(open_notebook.state):
        for name in ("", *files):
            os.chown(os.path.join(folder, name), 65534, 65534)
    open_notebook.root.chmod(0o700)

    told = open_notebook.run(
        "os.setgid(65534); os.setuid(65534)\n"
        "engine = Engine(site)\n"
        "try:\n    refresh(engine)\nexcept BackendError as error:\n    print(error)\n"
    )

    open_notebook.root.chmod(0o755)
    assert "the workspace cannot be read" in told
    assert open_notebook.paths("okapi") == ["memory/a.md"]
