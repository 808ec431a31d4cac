"""What cannot be read now is kept from the last time, and told."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from notewell.errors import BackendUnavailable
from notewell.workspace import Workspace, read_note
from notewell.workspace.layout import MAX_NOTE_BYTES, NoteText

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook

NOTES = {
    "MEMORY.md": "Gateway port.\n",
    **{f"memory/{n}.md": f"word{n} otter\n" for n in range(8)},
    **{f"memory/deep/{n}.md": f"deep{n} otter\n" for n in range(4)},
}
AS_NOBODY = """
os.getuid() or os.setuid(65534)
engine = Engine(site)
def say(found):
    print([hit.path for hit in found.hits], found.reason, found.freshness.stale,
          found.warnings)
def held():
    status = engine.status()
    print(status.chunks, status.pending, status.warnings)
"""


def give_away(notebook: "Notebook") -> None:
    """Make everything belong to a user whom permissions bind."""
    notebook.state.mkdir(exist_ok=True)
    for top in (notebook.root, notebook.state):
        for folder, _, files in os.walk(top):
            for name in (".", *files):
                os.chown(os.path.join(folder, name), 65534, 65534)


def run(notebook: "Notebook", script: str) -> list[str]:
    give_away(notebook)
    notebook.root.parent.chmod(0o755)
    if os.getuid():
        pytest.skip("only root can become another user")
    return notebook.run(AS_NOBODY + script).splitlines()


@pytest.mark.parametrize(
    ("place", "word", "path"),
    [
        ("memory", "word3", "memory/3.md"),
        ("memory/deep", "deep3", "memory/deep/3.md"),
        ("memory/3.md", "word3", "memory/3.md"),
    ],
)
def test_what_may_not_be_read_is_kept_told_and_found_again(
    open_notebook: "Notebook", place: str, word: str, path: str
) -> None:
    open_notebook.write(NOTES)

    told = run(
        open_notebook,
        f"refresh(engine); place = root / {place!r}; mode = place.stat().st_mode\n"
        "held()\n"
        "place.chmod(0)\n"
        "report = refresh(engine)\n"
        "print(report.chunks, report.warnings, [s.path for s in report.skipped])\n"
        "held()\n"
        f"say(ask(engine, {word!r}))\n"
        "print(refresh(engine).changed)\n"
        "place.chmod(mode)\n"
        f"say(ask(engine, {word!r}, 1))\n"
        "refresh(engine)\n"
        "held()\n"
        "print(refresh(engine).changed)\n",
    )

    whole = f"{len(NOTES)} 0 ()"
    assert told[0] == whole
    assert told[1].startswith(f"{len(NOTES)} ('Cannot be read now")
    assert f"{place} (" in told[1]
    assert told[2].startswith(f"{len(NOTES)} 0 ('Cannot be read now")
    assert told[3].startswith("[] no-match True ('Cannot be read now")
    assert place in told[3]
    assert told[4] == "0"
    assert told[5].startswith(f"['{path}'] None")
    assert told[6:] == [whole, "0"]


def test_what_may_not_be_read_is_kept_when_everything_is_built_anew(
    open_notebook: "Notebook",
) -> None:
    open_notebook.write(NOTES)

    told = run(
        open_notebook,
        "refresh(engine); (root / 'memory').chmod(0)\n"
        "print(refresh(engine, force=True).chunks)\n"
        "(root / 'memory').chmod(0o700)\n"
        "say(ask(engine, 'deep2', 1))\n",
    )

    assert told[0] == str(len(NOTES))
    assert told[1].startswith("['memory/deep/2.md'] None")


def test_what_was_never_read_is_named_by_an_empty_answer(
    open_notebook: "Notebook",
) -> None:
    open_notebook.write(NOTES)

    told = run(
        open_notebook,
        "(root / 'memory').chmod(0)\n"
        "refresh(engine)\n"
        "say(ask(engine, 'word3'))\n"
        "engine._path.unlink()\n"
        "engine.close()\n"
        "engine = Engine(site)\n"
        "say(ask(engine, 'word3'))\n"
        "(root / 'memory').chmod(0o700)\n",
    )

    assert "memory (Permission denied)" in told[0]
    assert "memory (Permission denied)" in told[1]


def test_a_note_that_became_too_large_is_kept_and_told(notebook: "Notebook") -> None:
    notebook.write(NOTES)
    notebook.refresh()
    file = notebook.root / "memory" / "3.md"
    size = file.stat().st_size
    os.truncate(file, MAX_NOTE_BYTES + 1)

    report = notebook.refresh()
    empty = notebook.ask("word3")
    again = notebook.refresh()
    os.truncate(file, size)
    found = notebook.ask("word3", limit=1)
    notebook.refresh()

    assert (report.chunks, report.pending, again.changed) == (len(NOTES), 0, 0)
    assert "memory/3.md (" in report.warnings[0]
    assert "memory/3.md" in empty.warnings[0]
    assert empty.freshness.stale
    assert [hit.path for hit in found.hits] == ["memory/3.md"]
    assert notebook.engine.status().warnings == ()


def test_an_extra_path_that_is_gone_is_kept_and_told_until_it_is_configured_away(
    notebook: "Notebook", tmp_path: Path
) -> None:
    team = tmp_path / "team"
    team.mkdir()
    (team / "plan.md").write_text("The heron plan.\n", encoding="utf-8")
    notebook.write({"memory/a.md": "otter\n"})
    notebook.workspace = Workspace(root=notebook.root, extra_paths=(str(team),))
    notebook.reopen()
    notebook.refresh()
    team.rename(tmp_path / "unmounted")

    report = notebook.refresh()
    status = notebook.engine.status()
    (tmp_path / "unmounted").rename(team)
    found = notebook.ask("heron", limit=1)
    notebook.workspace = Workspace(root=notebook.root)
    notebook.reopen()
    after = notebook.refresh()

    assert report.chunks == 2
    assert "there is no such file or folder" in report.warnings[0]
    assert report.warnings == status.warnings
    assert [hit.path for hit in found.hits] == ["../team/plan.md"]
    assert (after.chunks, after.warnings) == (1, ())


def test_an_empty_folder_where_notes_were_is_a_disk_that_is_not_there(
    notebook: "Notebook", tmp_path: Path
) -> None:
    notebook.write(NOTES)
    notebook.refresh()
    notebook.root.rename(tmp_path / "unmounted")
    notebook.root.mkdir()

    with pytest.raises(BackendUnavailable, match="as if its disk were not there"):
        notebook.refresh()
    notebook.root.rmdir()
    (tmp_path / "unmounted").rename(notebook.root)
    found = notebook.ask("word3", limit=1)

    assert [hit.path for hit in found.hits] == ["memory/3.md"]
    assert notebook.refresh().changed == 0


def test_a_folder_that_was_emptied_on_purpose_is_forgotten_by_force(
    notebook: "Notebook", tmp_path: Path
) -> None:
    notebook.write(NOTES)
    notebook.refresh()
    notebook.root.rename(tmp_path / "away")
    notebook.root.mkdir()

    report = notebook.refresh(force=True)

    assert (report.files, report.chunks) == (0, 0)


def test_a_note_that_is_gone_is_forgotten_as_ever(notebook: "Notebook") -> None:
    notebook.write(NOTES)
    notebook.refresh()
    (notebook.root / "memory" / "3.md").unlink()

    report = notebook.refresh()

    assert (report.files, report.warnings) == (len(NOTES) - 1, ())
    assert notebook.ask("word3").reason == "no-match"


def test_among_many_notes_the_index_itself_remembers_what_could_not_be_read(
    notebook: "Notebook", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notewell.backends.builtin.engine._COUNTED_AT_ONCE", 2)
    notebook.write(NOTES)
    notebook.refresh()
    os.truncate(notebook.root / "memory" / "3.md", MAX_NOTE_BYTES + 1)
    notebook.refresh()

    found = notebook.ask("nothing-like-it")

    assert found.freshness.pending is None
    assert "memory/3.md (" in found.warnings[0]


def test_a_closed_folder_of_transcripts_keeps_what_was_said(
    open_notebook: "Notebook",
) -> None:
    open_notebook.write({"memory/a.md": "otter\n"})
    folder = open_notebook.state / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    line = {
        "type": "message",
        "message": {
            "role": "user",
            "content": [{"type": "text", "text": "The heron flew."}],
            "timestamp": 1_770_800_000_000,
        },
    }
    (folder / "s1.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")

    told = run(
        open_notebook,
        "from dataclasses import replace\n"
        "import notewell.sessions\n"
        "both = frozenset({'memory', 'sessions'})\n"
        "site = replace(site, transcripts=True)\n"
        "engine = Engine(site)\n"
        "def heard():\n"
        "    say(engine.search(Query(text='heron', limit=1, sources=both)))\n"
        "folder = state / 'agents/main/sessions'\n"
        "refresh(engine); held(); heard()\n"
        "folder.chmod(0); print(refresh(engine).warnings); held(); heard()\n"
        "folder.chmod(0o700); heard(); print(refresh(engine).changed); held()\n",
    )

    assert told[0] == "2 0 ()"
    assert told[1].startswith("['sessions/s1.jsonl'] None")
    assert "sessions (the folder cannot be read)" in told[2]
    assert told[3].startswith("2 0 ('Cannot be read now")
    assert told[4].startswith("[] no-match True ('Cannot be read now")
    assert told[5].startswith("['sessions/s1.jsonl'] None")
    assert told[6:] == ["0", "2 0 ()"]


def test_a_note_whose_reading_fails_is_told_once_by_all_and_quoted_by_none(
    notebook: "Notebook", monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook.write(NOTES)
    notebook.refresh()
    os.utime(notebook.root / "memory" / "3.md")
    # Else the time of a change so young would not be trusted anyhow.
    monkeypatch.setattr("notewell.backends.builtin.sync._RACY_NS", -1)
    failing = {"memory/3.md"}

    def read(file: str) -> NoteText:
        if os.path.relpath(file, notebook.root) in failing:
            raise OSError(5, "Input/output error")
        return read_note(file)

    for module in ("builtin.indexer", "weighing.verify", "builtin.status"):
        monkeypatch.setattr(f"notewell.backends.{module}.read_note", read)
    report = notebook.refresh()
    status = notebook.engine.status()
    empty, others = notebook.ask("word3"), notebook.ask("otter", limit=20)
    failing.clear()
    found = notebook.ask("word3", limit=1)
    mended = notebook.engine.status()
    after = notebook.refresh()

    told = "Cannot be read now, and is left out until it can: memory/3.md"
    assert report.warnings == status.warnings == empty.warnings == others.warnings
    assert report.warnings == (f"{told} (Input/output error).",)
    assert [each.path for each in report.skipped] == ["memory/3.md"]
    assert report.skipped == status.skipped
    assert (empty.hits, empty.reason, empty.freshness.stale) == ([], "no-match", True)
    assert len(others.hits) == len(NOTES) - 2
    assert "memory/3.md" not in {hit.path for hit in others.hits}
    assert [hit.path for hit in found.hits] == ["memory/3.md"]
    assert (mended.warnings, mended.pending) == ((), 0)
    assert (after.warnings, after.skipped) == ((), ())


def test_a_note_that_may_not_be_read_is_named_once_and_alike(
    open_notebook: "Notebook",
) -> None:
    open_notebook.write(NOTES)

    report, status, empty = run(
        open_notebook,
        "refresh(engine); (root / 'memory/3.md').chmod(0)\n"
        "report = refresh(engine)\n"
        "print([each.path for each in report.skipped], report.warnings)\n"
        "status = engine.status()\n"
        "print([each.path for each in status.skipped], status.warnings)\n"
        "print([], ask(engine, 'word3').warnings)\n",
    )

    told = (
        "('Cannot be read now, and is left out until it can: "
        "memory/3.md (no permission to read).',)"
    )
    assert report == f"['memory/3.md'] {told}"
    # The facade names what the inventory leaves out beside it.
    assert status == empty == f"[] {told}"
