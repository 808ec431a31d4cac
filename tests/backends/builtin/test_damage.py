"""What lies at the index's path may be broken, foreign, or of another time."""

import random
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from notewell.backends.builtin.engine import Engine
from notewell.backends.builtin.index_file import locate_index, owner_of
from notewell.errors import BackendUnavailable

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook

NOTES = {
    f"memory/{n}.md": f"# Note {n}\n\nword{n} " + "otter text " * 200 for n in range(50)
}


@pytest.fixture
def built(notebook: "Notebook") -> "Notebook":
    """A closed index of fifty notes, in one file."""
    notebook.write(NOTES)
    notebook.refresh()
    notebook.reopen()
    return notebook


def garbage_in_the_middle(index: bytes) -> bytes:
    chance = random.Random(1)
    middle = len(index) // 2
    return index[:middle] + chance.randbytes(8192) + index[middle + 8192 :]


def garbage_here_and_there(index: bytes) -> bytes:
    chance, out = random.Random(2), bytearray(index)
    for _ in range(200):
        at = chance.randrange(100, len(index))
        out[at] = chance.randrange(256)
    return bytes(out)


def garbage_in_text(index: bytes) -> bytes:
    return index.replace(b"otter text otter text", b"otter \xff\xfe\xfd\xfc otter text")


def spoilt_settings(index: bytes) -> bytes:
    return index.replace(b'{"chunker"', b'{ chunker"')


SPOILT: Mapping[str, Callable[[bytes], bytes]] = {
    "garbage in the middle": garbage_in_the_middle,
    "garbage here and there": garbage_here_and_there,
    "garbage in the text": garbage_in_text,
    "spoilt settings": spoilt_settings,
    "half of it": lambda index: index[: len(index) // 2],
    "one page": lambda index: index[:4096],
    "header only": lambda index: index[:100],
    "half a header": lambda index: index[:50],
    "zeroed header": lambda index: b"\0" * 100 + index[100:],
    "zeroed pages": lambda index: index[:100] + b"\0" * (len(index) - 100),
    "empty": lambda _: b"",
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_damaged_index_is_searched_around_and_built_anew(
    built: "Notebook", how: str
) -> None:
    before = built.state_of_notes()
    whole = built.index.read_bytes()
    spoilt = SPOILT[how](whole)
    assert spoilt != whole
    built.index.write_bytes(spoilt)
    built.reopen()

    first = built.ask("word17", limit=1)
    report = built.refresh()
    second = built.ask("word17", limit=1)

    assert [hit.path for hit in first.hits] == ["memory/17.md"]
    assert [hit.path for hit in second.hits] == ["memory/17.md"]
    assert not second.degraded
    assert (report.files, report.pending) == (len(NOTES), 0)
    assert built.refresh().changed == 0
    assert built.state_of_notes() == before


@pytest.mark.parametrize("seed", range(12))
def test_whatever_bytes_are_damaged_no_answer_fails(
    built: "Notebook", seed: int
) -> None:
    chance, index = random.Random(seed), bytearray(built.index.read_bytes())
    for _ in range(chance.choice([1, 5, 40])):
        size = chance.choice([1, 40, 512])
        at = chance.randrange(100, len(index) - size)
        index[at : at + size] = chance.randbytes(size)
    built.index.write_bytes(index)
    built.reopen()

    for word in ("word17", "otter", "note text"):
        built.ask(word)
    built.engine.status()
    built.refresh(force=True)

    assert built.paths("word17", limit=1) == ["memory/17.md"]
    assert not built.ask("word17").degraded


def test_damage_is_told_with_what_helps_and_without_text_of_notes(
    built: "Notebook",
) -> None:
    built.index.write_bytes(garbage_in_text(built.index.read_bytes()))
    built.reopen()

    found = built.ask("word17 otter")

    [fallback] = found.fallbacks
    assert (fallback.reason, found.degraded) == ("corrupt", True)
    assert "notewell index --force" in fallback.message
    assert "otter" not in fallback.message


def test_a_search_repairs_nothing(built: "Notebook") -> None:
    spoilt = garbage_in_the_middle(built.index.read_bytes())
    built.index.write_bytes(spoilt)
    built.reopen()

    built.ask("word17")

    assert built.index.read_bytes() == spoilt


@pytest.mark.parametrize("force", [False, True])
def test_an_index_of_a_newer_version_is_told_and_built_anew(
    built: "Notebook", force: bool
) -> None:
    connection = apsw.Connection(str(built.index))
    connection.execute("update nw_meta set value = 99 where key = 'schema'")
    connection.execute("alter table nw_files_1 rename column digest to sha")
    connection.close()

    found = built.ask("word17")
    report = built.refresh(force=force)

    assert found.hits
    assert found.fallbacks[0].reason == "version"
    assert report.files == len(NOTES)
    assert not built.ask("word17").degraded


def test_an_index_that_has_lost_its_settings_is_built_anew(built: "Notebook") -> None:
    connection = apsw.Connection(str(built.index))
    connection.execute("delete from nw_meta")
    connection.close()

    assert built.ask("word17", limit=1).hits
    assert built.refresh().files == len(NOTES)
    assert not built.ask("word17").degraded


def foreign_database(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(
        "create table files(path text, hash text);"
        "create table chunks(id text primary key, text text);"
        "insert into chunks values ('1', 'somebody else''s')"
    )
    connection.close()


def text_file(path: Path) -> None:
    path.write_text("my diary\n" * 100, encoding="utf-8")


def folder(path: Path) -> None:
    path.mkdir()
    (path / "keep.txt").write_text("keep", encoding="utf-8")


@pytest.mark.parametrize("put", [foreign_database, text_file, folder])
def test_what_is_not_ours_is_never_touched(
    notebook: "Notebook", put: Callable[[Path], None]
) -> None:
    notebook.write(NOTES)
    notebook.index.parent.mkdir(parents=True)
    put(notebook.index)
    theirs = shutil.copytree if notebook.index.is_dir() else shutil.copy2
    copy = Path(theirs(notebook.index, notebook.state / "copy"))
    notebook.reopen()

    built = notebook.refresh()
    found = notebook.ask("word17")
    status = notebook.engine.status()

    assert [hit.path for hit in found.hits][:1] == ["memory/17.md"]
    assert not found.degraded
    assert status.location == str(notebook.index.with_name("main.notewell.sqlite"))
    assert "belongs to another program" in status.warnings[0]
    assert "belongs to another program" in built.warnings[0]
    if copy.is_dir():
        assert [file.name for file in notebook.index.iterdir()] == ["keep.txt"]
    else:
        assert notebook.index.read_bytes() == copy.read_bytes()
    beside = {file.name for file in notebook.index.parent.iterdir()}
    assert not any(name.startswith("main.sqlite-") for name in beside)


def test_a_foreign_file_also_beside_it_is_explained_and_not_touched(
    notebook: "Notebook",
) -> None:
    notebook.write(NOTES)
    notebook.index.parent.mkdir(parents=True)
    beside = notebook.index.with_name("main.notewell.sqlite")
    foreign_database(notebook.index)
    foreign_database(beside)
    content = beside.read_bytes()
    notebook.reopen()

    with pytest.raises(BackendUnavailable, match="belongs to another program"):
        notebook.refresh()
    found = notebook.ask("word17")

    assert found.hits
    assert found.degraded
    assert beside.read_bytes() == content


def test_a_file_that_another_program_puts_there_later_is_not_touched(
    notebook: "Notebook",
) -> None:
    notebook.write(NOTES)
    notebook.index.parent.mkdir(parents=True)
    foreign_database(notebook.index)
    content = notebook.index.read_bytes()

    with pytest.raises(BackendUnavailable):
        notebook.refresh()

    assert notebook.index.read_bytes() == content


def test_the_index_of_another_folder_at_the_same_path_is_not_searched(
    built: "Notebook", tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "memory").mkdir(parents=True)
    (elsewhere / "memory/x.md").write_text("otter elsewhere", encoding="utf-8")
    built.root.rename(tmp_path / "moved")
    elsewhere.rename(built.root)
    (tmp_path / "moved").rename(elsewhere)
    site = built.site(**{"agents.defaults.workspace": str(elsewhere)})
    moved = replace(site, workspace=type(site.workspace)(root=elsewhere))
    engine = Engine(moved)

    before = engine.built()
    engine.refresh()
    status = engine.status()
    engine.close()

    assert not before
    assert (status.files, status.pending) == (len(NOTES), 0)
    assert not built.engine.built()


def test_a_workspace_that_is_not_the_agents_own_gets_an_index_of_its_own(
    built: "Notebook", tmp_path: Path
) -> None:
    site = built.site()
    other = replace(site, workspace=type(site.workspace)(root=tmp_path / "vault"))

    place = locate_index(other).path

    assert place.parent == built.index.parent
    assert place != built.index
    assert place == locate_index(other).path


@pytest.mark.parametrize(
    ("content", "owner"),
    [(None, "nobody"), (b"", "nobody"), (b"text", "somebody-else")],
)
def test_whose_file_it_is(tmp_path: Path, content: bytes | None, owner: str) -> None:
    file = tmp_path / "x.sqlite"
    if content is not None:
        file.write_bytes(content)

    assert owner_of(file) == owner
    assert owner_of(tmp_path) == "somebody-else"
    assert owner_of(tmp_path / "no" / "such" / "folder.sqlite") == "nobody"
