"""A process that is killed while it indexes loses some work and nothing else."""

import random
from typing import TYPE_CHECKING

import apsw
import pytest

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook

INDEX_AND_TELL = """
import notewell.backends.builtin.sync as sync
sync._COMMIT_EVERY = 0.005
force = "force" in sys.stdin.readline()
class Telling(Listener):
    def indexing(self, done, total): print(done, flush=True)
engine = Engine(site)
print("start", flush=True)
engine.refresh(Run(force=force, listener=Telling()))
print("end", flush=True)
"""


@pytest.mark.parametrize(
    "rounds", [10, pytest.param(100, marks=pytest.mark.soak)], ids=["10", "100"]
)
def test_killed_at_any_point_the_next_search_answers_and_the_next_run_ends_the_work(
    notebook: "Notebook", rounds: int
) -> None:
    chance = random.Random(20260310)
    notes = {
        f"memory/{n}.md": f"# Note {n}\n\nstart{n} " + "text " * 400 for n in range(40)
    }
    notebook.write(notes)

    for number in range(rounds):
        change_some(notebook, notes, number, chance)
        kill_a_run(notebook, chance)
        notebook.reopen()
        [path] = notebook.paths("anchor", limit=1)
        assert path == "MEMORY.md"
        assert is_sound(notebook)
    report = notebook.refresh()

    assert (report.files, report.pending) == (len(notes), 0)
    for path, text in notes.items():
        word = text.split()[-1] if path == "MEMORY.md" else text.split()[3]
        assert notebook.paths(word, limit=1) == [path]
    assert not notebook.ask("anchor").degraded
    assert is_sound(notebook)
    assert left_over(notebook) == 1


def change_some(
    notebook: "Notebook", notes: dict[str, str], number: int, chance: random.Random
) -> None:
    """Edit, add and remove notes, on the disk and in `notes`."""
    changed = {"MEMORY.md": f"The anchor holds. round{number}"}
    for place in chance.sample(range(40), 12):
        changed[f"memory/{place}.md"] = (
            f"# Note {place}\n\nround{number}x{place} " + "text " * 400
        )
    gone = chance.choice([path for path in notes if path not in changed])
    notes.update(changed)
    notes.pop(gone)
    (notebook.root / gone).unlink()
    notebook.write(changed)


def kill_a_run(notebook: "Notebook", chance: random.Random) -> None:
    """Start an indexing process and kill it after so many lines of output."""
    with notebook.start(INDEX_AND_TELL) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(chance.choice(["force\n", "only what changed\n"]))
        process.stdin.flush()
        for _ in range(chance.randint(1, 16)):
            if process.stdout.readline() in ("end\n", ""):
                break
        process.kill()
        process.communicate()


def kill_a_run_at(notebook: "Notebook", line: str, *, how: str) -> None:
    """Start an indexing process and kill it once it has printed a line."""
    with notebook.start(INDEX_AND_TELL) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(how)
        process.stdin.flush()
        while process.stdout.readline() not in (line, "end\n", ""):
            pass
        process.kill()
        process.communicate()


def is_sound(notebook: "Notebook") -> bool:
    """Let SQLite check every page and every full-text index."""
    connection = apsw.Connection(str(notebook.index))
    try:
        return bool(connection.execute("pragma integrity_check").get == "ok")
    finally:
        connection.close()


def left_over(notebook: "Notebook") -> int:
    """Count the generations in the index; one is alive."""
    connection = apsw.Connection(str(notebook.index))
    try:
        return int(
            connection.execute(
                "select count(*) from sqlite_schema where name glob 'nw_files_[0-9]*'"
                " and type = 'table'"
            ).get
        )
    finally:
        connection.close()


def test_a_run_goes_on_where_a_killed_one_stopped(notebook: "Notebook") -> None:
    notebook.write({f"memory/{n}.md": f"word{n} " + "text " * 900 for n in range(60)})
    kill_a_run_at(notebook, "50\n", how="only what changed\n")

    report = notebook.refresh()

    assert report.files == 60
    assert report.changed < 60


def test_a_rebuild_that_was_killed_leaves_nothing_behind(notebook: "Notebook") -> None:
    notebook.write({f"memory/{n}.md": f"word{n} " + "text " * 900 for n in range(30)})
    notebook.refresh()
    kill_a_run_at(notebook, "20\n", how="force\n")
    assert left_over(notebook) == 2

    notebook.refresh()

    assert left_over(notebook) == 1
    assert notebook.paths("word17", limit=1) == ["memory/17.md"]


def test_what_a_dead_process_has_committed_is_there(notebook: "Notebook") -> None:
    notebook.write({"memory/a.md": "kiwi"})

    with notebook.start("refresh(Engine(site)); print('done'); input()") as process:
        assert process.stdout
        process.stdout.readline()
        process.kill()
        process.communicate()

    found = notebook.ask("kiwi")
    assert found.hits
    assert not found.degraded
