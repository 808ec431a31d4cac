"""The files that the engine makes: where, for whom, and what if it cannot."""

import os
import resource
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from notewell.backends.base import Listener, Run
from notewell.backends.builtin.engine import Engine
from notewell.errors import BackendUnavailable

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook

NOTES = {f"memory/{n}.md": f"word{n} " + "otter text " * 200 for n in range(30)}
AS_NOBODY = "os.getuid() or os.setuid(65534)\n"
SMALL_FILES_ONLY = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
"""


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_everything_that_is_made_is_for_its_owner_alone(
    notebook: "Notebook", umask: int
) -> None:
    notebook.write(NOTES)
    modes: dict[str, int] = {}

    class Looking(Listener):
        def indexing(self, done: int, total: int) -> None:
            for folder, _, files in os.walk(notebook.state):
                for name in (".", *files):
                    found = os.stat(os.path.join(folder, name))
                    modes[os.path.join(folder, name)] = found.st_mode & 0o777

    before = os.umask(umask)
    try:
        notebook.engine.refresh(Run(listener=Looking()))
        notebook.ask("otter")
        Looking().indexing(1, 1)
    finally:
        os.umask(before)

    kinds = {Path(name).name or ".": mode for name, mode in modes.items()}
    assert {
        "main.sqlite",
        "main.sqlite-wal",
        "main.sqlite-shm",
        "main.sqlite.lock",
    } <= {Path(name).name for name in modes}
    assert {mode for name, mode in kinds.items() if name.startswith("main")} == {0o600}
    assert {os.stat(f).st_mode & 0o777 for f, *_ in os.walk(notebook.state)} == {0o700}


def test_nothing_is_left_beside_a_closed_index(notebook: "Notebook") -> None:
    notebook.write(NOTES)
    notebook.refresh()
    notebook.refresh(force=True)

    names = {file.name for file in notebook.index.parent.iterdir()}

    assert names <= {f"main.sqlite{end}" for end in ("", "-wal", "-shm", ".lock")}


@pytest.mark.parametrize(
    "name",
    ["with space", "what?mode=rw", "a#b", "100%", "%41", "ümläut", "数据", "a'b\"c"],
)
def test_the_path_of_the_index_may_hold_any_character(
    notebook: "Notebook", tmp_path: Path, name: str
) -> None:
    place = tmp_path / name / f"{name}.sqlite"
    notebook.write({"memory/a.md": "kiwi"})
    notebook.reopen(**{"store.path": str(place)})

    notebook.refresh()

    assert not notebook.ask("kiwi").degraded
    assert place.is_file()
    assert notebook.engine.status().location == str(place)


def test_a_path_that_sqlite_cannot_open_is_explained(
    notebook: "Notebook", tmp_path: Path
) -> None:
    notebook.write({"memory/a.md": "kiwi"})
    site = notebook.site()
    search = msgspec.structs.replace(
        site.agent.search,
        store=msgspec.structs.replace(
            site.agent.search.store, path=tmp_path / os.fsdecode(b"\xff.sqlite")
        ),
    )
    agent = msgspec.structs.replace(site.agent, search=search)
    engine = Engine(replace(site, agent=agent))

    with pytest.raises(BackendUnavailable, match="no index can be kept") as caught:
        engine.refresh()

    assert str(caught.value).encode("utf-8")


def test_a_folder_that_cannot_be_written_is_explained_and_searched_all_the_same(
    open_notebook: "Notebook",
) -> None:
    open_notebook.write(NOTES)
    open_notebook.state.mkdir()
    open_notebook.state.chmod(0o555)

    told = open_notebook.run(
        AS_NOBODY + "state = state / 'deep'\nsite = Site(workspace=site.workspace,"
        " memory=site.memory, state_dir=state, agent=load_settings(config_file=None, home=state,"
        " environ={'OPENCLAW_STATE_DIR': str(state)}, overrides=overrides).agent(None))\n"
        "engine = Engine(site)\n"
        "try: refresh(engine)\n"
        "except BackendError as error:\n"
        "    print(type(error).__name__, '|', error.remedy)\n"
        "print(paths(engine, 'word17', 1), ask(engine, 'otter').degraded)\n"
        "print(engine.status().files)\n"
    ).splitlines()

    assert told == [
        "BackendUnavailable | make the folder writable, or set memorySearch.store.path",
        "['memory/17.md'] True",
        "0",
    ]


def test_a_folder_with_an_index_that_may_only_be_read_is_searched_with_it(
    open_notebook: "Notebook",
) -> None:
    open_notebook.write(NOTES)
    open_notebook.refresh()
    open_notebook.reopen()
    close_to_writers(open_notebook.state)

    reader = open_notebook.start(
        AS_NOBODY + "engine = Engine(site)\n"
        "def tell():\n"
        "    found = ask(engine, 'kumquat word17', 2)\n"
        "    print(sorted(hit.path for hit in found.hits), found.mode, flush=True)\n"
        "tell(); input(); tell()\n"
        "print(engine.status().files, engine.status().pending)\n"
    )
    with reader:
        assert reader.stdout
        first = reader.stdout.readline().strip()
        set_modes(open_notebook.state, folder=0o755, file=0o644)
        open_notebook.write({"memory/new.md": "kumquat"})
        open_notebook.refresh()
        open_notebook.reopen()
        close_to_writers(open_notebook.state)
        rest, complaints = reader.communicate("\n")

    assert complaints == ""
    assert first == "['memory/17.md'] keyword"
    assert rest.splitlines() == [
        "['memory/17.md', 'memory/new.md'] keyword",
        f"{len(NOTES) + 1} 0",
    ]


def set_modes(top: Path, *, folder: int, file: int) -> None:
    for place, _, files in os.walk(top):
        os.chmod(place, folder)
        for name in files:
            os.chmod(os.path.join(place, name), file)


def close_to_writers(top: Path) -> None:
    set_modes(top, folder=0o555, file=0o444)


def test_a_change_that_cannot_be_written_is_explained_and_answers_go_on(
    open_notebook: "Notebook",
) -> None:
    open_notebook.write(NOTES)
    open_notebook.refresh()
    open_notebook.reopen()
    close_to_writers(open_notebook.state)
    open_notebook.write({"memory/new.md": "kumquat"})

    told = open_notebook.run(
        AS_NOBODY + "engine = Engine(site)\n"
        "try: refresh(engine)\n"
        "except BackendError as error: print(type(error).__name__)\n"
        "print(paths(engine, 'word17', 1), engine.status().pending)\n"
    )

    assert told.splitlines() == ["BackendUnavailable", "['memory/17.md'] 1"]


def test_a_note_that_may_not_be_read_is_told_and_read_once_it_may(
    open_notebook: "Notebook",
) -> None:
    open_notebook.write(NOTES)
    hidden = open_notebook.root / "memory/17.md"
    hidden.chmod(0o000)
    open_notebook.root.chmod(0o755)
    open_notebook.state.mkdir()
    open_notebook.state.chmod(0o777)

    nobody = open_notebook.start(
        AS_NOBODY + "engine = Engine(site)\n"
        "report = refresh(engine)\n"
        "print(report.files, [each.path for each in report.skipped],"
        " paths(engine, 'word17'), flush=True)\n"
        "input()\n"
        "print(refresh(engine).files, paths(engine, 'word17'))\n"
    )
    with nobody:
        assert nobody.stdout
        first = nobody.stdout.readline().strip()
        hidden.chmod(0o644)
        rest, complaints = nobody.communicate("\n")

    assert complaints == ""
    assert first == "29 ['memory/17.md'] []"
    assert rest.strip() == "30 ['memory/17.md']"


@pytest.mark.parametrize("exists", [False, True], ids=["no index yet", "an index"])
def test_a_full_disk_is_explained_loses_nothing_and_is_made_good_later(
    notebook: "Notebook", exists: bool
) -> None:
    notebook.write({"memory/first.md": "kiwi"})
    if exists:
        notebook.refresh()
        notebook.reopen()
    notebook.write(NOTES)
    before = notebook.state_of_notes()

    told = notebook.run(
        SMALL_FILES_ONLY + "limit(150_000)\nengine = Engine(site)\n"
        "try: print(refresh(engine))\n"
        "except BackendError as error:\n"
        "    print(type(error).__name__, 'disk' in error.remedy)\n"
        "print(paths(engine, 'kiwi'))\n"
    )

    assert told.splitlines() == ["BackendFailed True", "['memory/first.md']"]
    assert notebook.paths("kiwi") == ["memory/first.md"]
    assert notebook.refresh().files == len(NOTES) + 1
    assert notebook.paths("word17", limit=1) == ["memory/17.md"]
    assert not notebook.ask("kiwi").degraded
    assert notebook.state_of_notes() == before


def test_a_disk_that_fills_up_at_the_end_of_a_run_in_a_hurry_is_explained(
    notebook: "Notebook",
) -> None:
    notebook.write(NOTES)

    told = notebook.run(
        SMALL_FILES_ONLY + "engine = Engine(site)\n"
        "import time\n"
        "clock, ahead = time.monotonic, [0]\n"
        "time.monotonic = lambda: clock() + ahead[0]\n"
        "class Filling(Listener):\n"
        "    def indexing(self, done, total):\n"
        "        if done == 20: limit(8192); ahead[0] = 7200\n"
        "try: print(engine.refresh(Run(within=3600, listener=Filling())))\n"
        "except BackendError as error: print(type(error).__name__)\n"
    )

    assert told == "BackendFailed"


def test_few_open_files_are_enough(notebook: "Notebook") -> None:
    notebook.write(NOTES)
    used = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 64
    before = resource.getrlimit(resource.RLIMIT_NOFILE)

    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 12, before[1]))
    try:
        for _ in range(30):
            engine = Engine(notebook.site())
            engine.refresh()
            engine.close()
        found = notebook.ask("word17", limit=1)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)

    assert not found.degraded
