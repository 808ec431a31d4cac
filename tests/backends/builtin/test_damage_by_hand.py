"""Whatever is wrong in an index: answered from the files, told, and built anew."""

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from notewell.backends.builtin import index_file, store
from notewell.backends.builtin.index_file import (
    CHECKSUM_BYTES,
    check_pages,
    checksum_vfs,
)

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook

NOTES = {f"memory/{n}.md": f"# Note {n}\n\nword{n} otter text\n" for n in range(20)}
PAGE = 4096

SETTING = "update nw_meta set value = {} where key = '{}'"
WRONG = {
    f"{key} is {value}": SETTING.format(value, key)
    for key, values in {
        "live": ("'x'", "-1", "1.5", "x'01'", "99"),
        "schema": ("null", "'4'"),
        "building": ("'x'",),
        "indexed_at": ("'x'",),
        "passages": ("'x'",),
        "mean_length": ("x'00'",),
        "identity_1": ("'[]'", "5"),
    }.items()
    for value in values
} | {
    "no schema": "delete from nw_meta where key = 'schema'",
    "no identity": "delete from nw_meta where key = 'identity_1'",
    "a column is gone": "alter table nw_files_1 rename column digest to sha",
    "a line is 0": "update nw_chunks_1 set start_line = 0",
    "lines are too many": "update nw_chunks_1 set end_line = 99999",
    "words are of another format": "update nw_fts_1_config set v = 99",
    "words are gone": "delete from nw_fts_1_data",
    "no table of words": "drop table nw_fts_1_data",
    **{
        f"no table {name}": f"drop table nw_{name}_1"
        for name in (
            ["files", "chunks", "fts", "vocabulary", "common", "transcripts", "origins"]
        )
    },
}

FOUND_BY_READING = {"a line is 0", "lines are too many"}
"""Nothing but the right text of a passage tells that its lines are wrong."""


@pytest.fixture
def built(notebook: "Notebook") -> "Notebook":
    """A closed index, in one file."""
    notebook.write(NOTES)
    notebook.refresh()
    notebook.reopen()
    return notebook


def change(index: Path, sql: str) -> None:
    """Change an index as notewell itself would, checksums and all."""
    with closing(apsw.Connection(str(index), vfs=checksum_vfs())) as connection:
        connection.execute(sql).fetchall()


@pytest.mark.parametrize("what", WRONG)
def test_what_makes_no_sense_is_searched_around_and_built_anew_by_an_index(
    built: "Notebook", what: str
) -> None:
    change(built.index, WRONG[what])

    status = built.engine.status()
    first = built.ask("word7", limit=1)
    if what not in FOUND_BY_READING:
        built.reopen()  # the next process has not heard of it
    report = built.refresh()
    second = built.ask("word7", limit=1)

    assert [hit.path for hit in first.hits] == ["memory/7.md"]
    assert status.last_error or first.degraded or what.startswith(("building", "no "))
    assert (report.files, report.pending) == (len(NOTES), 0)
    assert [hit.path for hit in second.hits] == ["memory/7.md"]
    assert not second.degraded
    assert built.engine.status().last_error is None


@pytest.mark.parametrize("what", WRONG)
def test_forcing_an_index_succeeds_whatever_is_wrong_with_the_old_one(
    built: "Notebook", what: str
) -> None:
    change(built.index, WRONG[what])

    report = built.refresh(force=True)

    assert (report.files, report.pending) == (len(NOTES), 0)
    assert not built.ask("word7").degraded


@pytest.mark.parametrize("table", ["files", "chunks", "fts", "vocabulary", "common"])
def test_a_status_does_not_call_an_index_well_that_lacks_a_table(
    built: "Notebook", table: str
) -> None:
    change(built.index, f"drop table nw_{table}_1")

    status = built.engine.status()

    assert status.pending == len(NOTES)
    assert "damaged" in (status.last_error or "")


def flip(index: Path, at: int) -> None:
    """Turn one bit over."""
    content = bytearray(index.read_bytes())
    content[at // 8] ^= 1 << at % 8
    index.write_bytes(content)


def bits(index: Path, *, seed: int) -> list[int]:
    """One bit of each page."""
    dice = random.Random(seed)
    pages = index.stat().st_size // PAGE
    return [page * PAGE * 8 + dice.randrange(PAGE * 8) for page in range(pages)]


def tell_of_each_bit(built: "Notebook", seed: int) -> list[str]:
    """Turn a bit of each page over, one at a time; say what was not noticed."""
    whole = built.index.read_bytes()
    silent: list[str] = []
    for at in bits(built.index, seed=seed):
        built.index.write_bytes(whole)
        flip(built.index, at)
        built.reopen()
        for number in (3, 17):
            found = built.ask(f"word{number}", limit=1)
            if [hit.path for hit in found.hits] != [f"memory/{number}.md"]:
                silent.append(f"bit {at}: a search misses it")
        built.reopen()
        built.refresh()
        if built.ask("word3").degraded:
            silent.append(f"bit {at}: still degraded")
        built.engine.close()
        if built.index.read_bytes()[at // 8] == whole[at // 8] ^ 1 << at % 8:
            silent.append(f"bit {at}: an index leaves it as it is")
    return silent


def test_a_bit_of_every_page_is_found_and_mended(built: "Notebook") -> None:
    assert tell_of_each_bit(built, seed=1) == []


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 12))
def test_ten_bits_of_every_page_are_found_and_mended(
    built: "Notebook", seed: int
) -> None:
    assert tell_of_each_bit(built, seed=seed) == []


def test_pages_that_no_search_reads_are_looked_over_a_part_in_each_run(
    built: "Notebook", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_file, "_BUDGET", 3 * PAGE)
    pages = built.index.stat().st_size // PAGE

    first = check_pages(built.index, 0)
    last = check_pages(built.index, pages - 2)
    flip(built.index, (pages - 1) * PAGE * 8 + 99)

    assert (first, last) == (3, 0)
    assert check_pages(built.index, 0) == 3
    with pytest.raises(apsw.IOError):
        check_pages(built.index, pages - 2)


def test_what_another_program_writes_into_an_index_is_found(built: "Notebook") -> None:
    with closing(sqlite3.connect(built.index)) as connection:
        connection.execute("update nw_chunks_1 set text = 'forged' where id = 3")
        connection.commit()

    built.reopen()
    report = built.refresh()

    assert report.changed == len(NOTES)
    assert b"forged" not in built.index.read_bytes()


def test_another_version_is_called_so_whatever_it_makes_of_checksums(
    built: "Notebook",
) -> None:
    with closing(sqlite3.connect(built.index)) as connection:
        connection.execute("update nw_meta set value = 99 where key = 'schema'")
        connection.commit()

    found = built.ask("word7", limit=1)
    status = built.engine.status()

    assert [step.reason for step in found.fallbacks] == ["version"]
    assert status.pending == len(NOTES)
    assert "another version" in (status.last_error or "")
    assert built.refresh().files == len(NOTES)
    assert not built.ask("word7").degraded


def test_without_the_extension_an_index_is_kept_as_ever(
    notebook: "Notebook", monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_layer() -> str | None:
        return None

    notebook.write(NOTES)
    notebook.refresh()
    notebook.reopen()
    monkeypatch.setattr(store, "checksum_vfs", no_layer)
    monkeypatch.setattr(index_file, "checksum_vfs", no_layer)

    found = notebook.ask("word7", limit=1)
    report = notebook.refresh()  # else checksums would stay that no longer fit
    again = notebook.refresh()

    assert not found.degraded
    assert report.changed == len(NOTES)
    assert again.changed == 0
    assert notebook.index.read_bytes()[20] != CHECKSUM_BYTES
    assert not notebook.ask("word7").degraded


def test_an_index_that_may_not_be_read_is_ours_all_the_same(
    open_notebook: "Notebook",
) -> None:
    open_notebook.write(NOTES)
    open_notebook.refresh()
    open_notebook.reopen()
    open_notebook.state.chmod(0o755)
    open_notebook.index.parent.chmod(0o777)
    open_notebook.index.with_name("main.sqlite.lock").unlink()
    open_notebook.index.chmod(0)

    told = open_notebook.run(
        "os.getuid() or os.setuid(65534)\n"
        "engine = Engine(site)\n"
        "found = ask(engine, 'word7', 1)\n"
        "print([hit.path for hit in found.hits], found.fallbacks[0].message)\n"
        "status = engine.status()\n"
        "print(status.warnings, status.location == str(state / 'memory/main.sqlite'))\n"
        "try: refresh(engine)\n"
        "except BackendError as error: print(error.message, '|', error.remedy)\n"
    ).splitlines()

    assert told[0].startswith("['memory/7.md'] the index")
    assert "may not be read" in told[0]
    assert told[1] == "() True"
    assert "may not be read" in told[2]
    assert "make it readable" in told[2]
    assert {file.name for file in open_notebook.index.parent.glob("*.sqlite")} == {
        "main.sqlite"
    }


def dangling(place: Path, elsewhere: Path) -> None:
    place.symlink_to(elsewhere / "not-there.sqlite")


def to_a_file(place: Path, elsewhere: Path) -> None:
    (elsewhere / "theirs.sqlite").write_bytes(b"")
    place.symlink_to(elsewhere / "theirs.sqlite")


@pytest.mark.parametrize("put", [dangling, to_a_file])
def test_a_link_at_the_place_of_the_index_is_not_followed(
    notebook: "Notebook", tmp_path: Path, put: Callable[[Path, Path], None]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    notebook.write(NOTES)
    notebook.index.parent.mkdir(parents=True)
    put(notebook.index, elsewhere)
    before = {file.name: file.read_bytes() for file in elsewhere.iterdir()}
    notebook.reopen()

    notebook.refresh()
    status = notebook.engine.status()

    assert {file.name: file.read_bytes() for file in elsewhere.iterdir()} == before
    assert notebook.index.is_symlink()
    assert status.location == str(notebook.index.with_name("main.notewell.sqlite"))
    assert "symbolic link" in status.warnings[0]
    assert not notebook.ask("word7").degraded
