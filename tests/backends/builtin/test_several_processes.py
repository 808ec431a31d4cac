"""Several processes on one index: one writes at a time, searches never wait or fail."""

from typing import TYPE_CHECKING

import apsw
import pytest

from notewell.backends.base import Run
from notewell.backends.builtin.engine import Engine
from notewell.backends.builtin.readers import ReaderPool

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook

WRITE_INDEX_AND_SEARCH = """
import json
name, rounds = sys.stdin.readline().split()
engine = Engine(site)
troubles = []
for number in range(int(rounds)):
    word = f"{name}{number}word"
    (root / f"memory/{name}-{number}.md").write_text(f"the {word} stands here",
                                                      encoding="utf-8")
    if number > 3:
        (root / f"memory/{name}-{number - 3}.md").unlink()
    refresh(engine, force=number % 7 == 6)
    for asked, wanted in ((word, [f"memory/{name}-{number}.md"]), ("anchor", ["MEMORY.md"])):
        found = ask(engine, asked)
        if [hit.path for hit in found.hits] != wanted or found.degraded:
            troubles.append([number, asked, repr(found)[:500]])
    gone = f"{name}{number - 3}word" if number > 3 else "nothing"
    if ask(engine, gone).hits:
        troubles.append([number, gone, "still found"])
engine.close()
print(json.dumps(troubles))
"""


def test_two_processes_index_and_search_at_once_for_20_rounds(
    notebook: "Notebook",
) -> None:
    notebook.write({"MEMORY.md": "The anchor holds.\n"})
    notebook.refresh()

    processes = [notebook.start(WRITE_INDEX_AND_SEARCH) for _ in range(2)]
    outcomes: list[tuple[str, str]] = []
    for name, process in zip(("left", "right"), processes, strict=True):
        assert process.stdin
        process.stdin.write(f"{name} 20\n")
        process.stdin.flush()
    for process in processes:
        with process:
            outcomes.append(process.communicate(timeout=120))

    assert [out for out, _ in outcomes] == ["[]\n", "[]\n"], outcomes
    assert notebook.engine.status().pending == 0
    assert notebook.engine.status().files == 1 + 2 * 4
    assert notebook.refresh().changed == 0


def test_a_rebuild_never_leaves_a_search_empty_failing_or_degraded(
    notebook: "Notebook",
) -> None:
    notebook.write({f"memory/{n}.md": f"otter{n} " + "text " * 300 for n in range(60)})
    notebook.refresh()
    process = notebook.start(
        "engine = Engine(site)\nfor _ in range(8): refresh(engine, force=True)\n"
    )

    searches = 0
    with process:
        while process.poll() is None:
            found = notebook.ask("otter17")
            searches += 1
            assert [hit.path for hit in found.hits] == ["memory/17.md"]
            assert not found.degraded
        _, complaints = process.communicate()

    assert (process.returncode, complaints) == (0, "")
    assert searches > 10


def test_an_open_engine_sees_what_another_process_has_indexed(
    notebook: "Notebook",
) -> None:
    notebook.write({"memory/a.md": "kiwi"})
    notebook.refresh()
    assert notebook.paths("papaya") == []

    notebook.write({"memory/b.md": "papaya"})
    notebook.run("refresh(Engine(site))")

    assert notebook.paths("papaya") == ["memory/b.md"]


def test_an_open_engine_sees_an_index_that_was_removed_and_built_anew(
    notebook: "Notebook",
) -> None:
    notebook.write({"memory/a.md": "kiwi"})
    notebook.refresh()
    assert notebook.paths("kiwi") == ["memory/a.md"]

    notebook.write({"memory/b.md": "papaya"})
    notebook.run(
        "import shutil\nshutil.rmtree(state / 'memory')\nrefresh(Engine(site))"
    )
    found = notebook.ask("papaya")

    assert [hit.path for hit in found.hits] == ["memory/b.md"]
    assert not found.degraded


def test_an_open_engine_survives_the_removal_of_its_index(
    notebook: "Notebook",
) -> None:
    notebook.write({"memory/a.md": "kiwi"})
    notebook.refresh()

    for file in notebook.index.parent.iterdir():
        file.unlink()
    found = notebook.ask("kiwi")

    assert found.hits
    assert (found.degraded, found.fallbacks[0].reason) == (True, "not-ready")
    assert notebook.refresh().files == 1
    assert not notebook.ask("kiwi").degraded


def test_a_search_does_not_wait_for_a_writer(notebook: "Notebook") -> None:
    notebook.write({"memory/a.md": "kiwi"})
    notebook.refresh()
    writer = notebook.start(
        "import apsw\n"
        "connection = apsw.Connection(str(state / 'memory/main.sqlite'))\n"
        "connection.execute('begin immediate; delete from nw_chunks_1')\n"
        "print('writing'); input()\n"
    )
    with writer:
        assert writer.stdout
        writer.stdout.readline()

        found = notebook.ask("kiwi")

        writer.communicate("\n")
    assert found.hits
    assert not found.degraded


@pytest.mark.parametrize("built", [True, False], ids=["built", "never built"])
def test_a_run_in_a_hurry_does_not_wait_for_another_writer(
    notebook: "Notebook", built: bool
) -> None:
    notebook.write({"memory/a.md": "kiwi"})
    if built:
        notebook.refresh()
    notebook.write({"memory/b.md": "papaya"})
    holder = notebook.start(
        "(state / 'memory').mkdir(mode=0o700, parents=True, exist_ok=True)\n"
        "with filelock.FileLock(str(state / 'memory/main.sqlite.lock')):\n"
        "    print('held'); input()\n"
    )
    with holder:
        assert holder.stdout
        holder.stdout.readline()

        report = notebook.refresh(within=2.0)

        holder.communicate("\n")
    assert report.pending == (1 if built else 2)
    assert report.changed == 0
    assert any("Another process" in warning for warning in report.warnings)


def test_whoever_has_waited_for_the_lock_looks_at_the_notes_again(
    notebook: "Notebook",
) -> None:
    notebook.write({"memory/a.md": "kiwi"})
    notebook.refresh()
    notebook.write({"memory/b.md": "papaya"})
    waiting = notebook.start(
        "import notewell.backends.changes as module\n"
        "look = module.scan\n"
        "def scan_then_tell(workspace):\n"
        "    found = look(workspace)\n"
        "    print(len(found.notes), flush=True)\n"
        "    sys.stdin.readline()\n"
        "    return found\n"
        "module.scan = scan_then_tell\n"
        "refresh(Engine(site))\n"
    )
    with waiting:
        assert waiting.stdout
        assert waiting.stdout.readline() == "2\n"
        notebook.write({"memory/c.md": "quince"})
        notebook.refresh()

        waiting.communicate("\n\n\n")

    assert waiting.returncode == 0
    assert notebook.paths("quince") == ["memory/c.md"]
    assert notebook.engine.status().pending == 0


def test_opening_an_index_twice_in_one_process_keeps_the_locks_of_the_first(
    notebook: "Notebook",
) -> None:
    notebook.write({"memory/a.md": "kiwi"})
    notebook.refresh()
    notebook.ask("kiwi")
    lock_it = (
        "import fcntl\n"
        "with open(state / 'memory/main.sqlite', 'r+b') as file:\n"
        "    try:\n"
        "        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)\n"
        "        print('taken')\n"
        "    except OSError:\n"
        "        print('held')\n"
    )
    assert notebook.run(lock_it) == "held"

    second = Engine(notebook.site())
    second.refresh(Run(force=True))
    second.close()

    assert notebook.run(lock_it) == "held"
    notebook.engine.close()
    assert notebook.run(lock_it) == "taken"


def test_a_connection_that_is_lent_when_all_are_closed_is_closed_when_it_comes_back(
    notebook: "Notebook",
) -> None:
    notebook.write({"memory/a.md": "kiwi"})
    notebook.refresh()
    readers = ReaderPool(notebook.index, str(notebook.root))

    with readers.one() as store:
        readers.close()
        assert store.live() is not None

    with pytest.raises(apsw.ConnectionClosedError):
        store.live()
