import os
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeAlias

import pytest

from notewell.errors import PathRefused
from notewell.types import Document
from notewell.workspace import Locator, NoteLocation, Workspace, get_document, locate
from notewell.workspace.layout import MAX_NOTE_BYTES

Lay: TypeAlias = Callable[[Mapping[str, str]], Path]
AsNobody: TypeAlias = Callable[[str], str]


@pytest.fixture
def notes(lay: Lay) -> Workspace:
    root = lay(
        {
            "MEMORY.md": "Gateway port is 18789.\n",
            "USER.md": "Ann\n",
            "AGENTS.md": "rules\n",
            "memory/2026-01-10.md": "one\ntwo\nthree\nfour\nfive\n",
            "memory/empty.md": "",
            "memory/deep/a.md": "a\n",
        }
    )
    return Workspace(root=root)


def test_a_whole_note_is_returned_without_its_final_newline(notes: Workspace) -> None:
    assert get_document(notes, "memory/2026-01-10.md") == Document(
        path="memory/2026-01-10.md",
        text="one\ntwo\nthree\nfour\nfive",
        start_line=1,
        end_line=5,
        total_lines=5,
        found=True,
    )


@pytest.mark.parametrize(
    ("start", "lines", "text", "end"),
    [
        (2, 2, "two\nthree", 3),
        (4, None, "four\nfive", 5),
        (5, 9, "five", 5),
        (6, None, "", 5),
        (99, 3, "", 98),
    ],
)
def test_a_range_is_returned_as_far_as_it_goes(
    notes: Workspace, start: int, lines: int | None, text: str, end: int
) -> None:
    document = get_document(notes, "memory/2026-01-10.md", start=start, lines=lines)

    assert document.found
    assert document.text == text
    assert (document.start_line, document.end_line) == (start, end)
    assert document.total_lines == 5
    assert not document.truncated


def test_an_empty_note_is_found_and_has_no_lines(notes: Workspace) -> None:
    document = get_document(notes, "memory/empty.md")

    assert document.found
    assert (document.text, document.total_lines, document.end_line) == ("", 0, 0)


def test_a_missing_note_is_an_answer(notes: Workspace) -> None:
    assert get_document(notes, "memory/nope.md", start=3) == Document(
        path="memory/nope.md",
        text="",
        start_line=3,
        end_line=2,
        total_lines=0,
        found=False,
        reason="not-found",
    )


@pytest.mark.parametrize(
    "path",
    [
        "nope.md",
        "memory/no/such/folder.md",
        "memory/2026-01-10.md/x.md",
        "memory/" + "n" * 300 + ".md",
        "memory/" + "日" * 200 + ".md",
        "memory/" + "d/" * 3000 + "x.md",
        "n" * 100_000 + ".md",
        "1999-01-01",
    ],
)
def test_no_name_is_too_odd_to_be_missing(notes: Workspace, path: str) -> None:
    assert get_document(notes, path).found is False


@pytest.mark.parametrize("option", ["start", "lines", "max_chars"])
@pytest.mark.parametrize("number", [0, -1])
def test_counting_begins_at_one(notes: Workspace, option: str, number: int) -> None:
    options: dict[str, int] = {option: number}

    with pytest.raises(ValueError, match=f"{option} must be at least 1"):
        get_document(notes, "MEMORY.md", **options)  # type: ignore[arg-type]


def test_crlf_is_kept_and_counted_like_lf(lay: Lay) -> None:
    root = lay({"a.md": "one\r\ntwo\r\nthree\r\n"})

    document = get_document(Workspace(root=root), "a.md", start=2, lines=1)

    assert (document.text, document.total_lines) == ("two\r", 3)


def test_only_lf_is_a_line_end(lay: Lay) -> None:
    root = lay({"a.md": "one\u2028still\x0cone\x85\ntwo"})

    document = get_document(Workspace(root=root), "a.md", start=2)

    assert (document.text, document.total_lines) == ("two", 2)


def test_text_that_is_not_utf8_is_returned_with_a_remark(lay: Lay) -> None:
    root = lay({})
    (root / "a.md").write_bytes("kiwi\n".encode("utf-16-le"))

    document = get_document(Workspace(root=root), "a.md")

    assert document.text == "kiwi"
    assert document.reason == "read as UTF-16, without a mark"


# How a path may be written


@pytest.mark.parametrize(
    "path",
    [
        "./memory/2026-01-10.md",
        "memory//2026-01-10.md",
        "memory/deep/../2026-01-10.md",
        "memory/2026-01-10",
    ],
)
def test_a_path_may_be_written_in_several_ways(notes: Workspace, path: str) -> None:
    document = get_document(notes, path)

    assert document.path == "memory/2026-01-10.md"
    assert document.total_lines == 5
    assert document.reason is None


def test_an_absolute_path_in_the_workspace_is_taken(notes: Workspace) -> None:
    document = get_document(notes, str(notes.root / "memory" / "2026-01-10.md"))

    assert document.path == "memory/2026-01-10.md"
    assert document.found


def test_an_absolute_path_may_use_another_name_of_the_workspace(
    notes: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "alias").symlink_to(notes.root)

    assert get_document(notes, f"{tmp_path}/alias/MEMORY.md").path == "MEMORY.md"
    with pytest.raises(PathRefused):
        get_document(notes, f"{tmp_path}/alias/AGENTS.md")


@pytest.mark.parametrize(
    ("suffix", "text", "start"),
    [
        ("#L3", "three", 3),
        ("#L2-L4", "two\nthree\nfour", 2),
        ("#L2-4", "two\nthree\nfour", 2),
        ("#L5-L9", "five", 5),
    ],
)
def test_a_citation_brings_its_lines(
    notes: Workspace, suffix: str, text: str, start: int
) -> None:
    document = get_document(notes, f"memory/2026-01-10.md{suffix}")

    assert document.path == "memory/2026-01-10.md"
    assert (document.text, document.start_line) == (text, start)


def test_named_lines_beat_the_cited_ones(notes: Workspace) -> None:
    cited = "memory/2026-01-10.md#L2-L4"

    assert get_document(notes, cited, lines=1).text == "two"
    assert get_document(notes, cited, start=4).text == "four\nfive"


def test_a_citation_that_makes_no_sense_is_refused(notes: Workspace) -> None:
    with pytest.raises(PathRefused):
        get_document(notes, "memory/2026-01-10.md#L4-L2")


@pytest.mark.parametrize("suffix", ["#L0", "#L", "#x", "#L1x", "#^x"])
def test_a_part_that_a_note_does_not_have_is_not_found(
    notes: Workspace, suffix: str
) -> None:
    document = get_document(notes, f"memory/2026-01-10.md{suffix}")

    assert (document.found, document.text) == (False, "")
    assert "memory/2026-01-10.md has no" in (document.reason or "")


@pytest.mark.parametrize("path", ["2026-01-10", "2026-01-10.md", "2026-01-10#L2"])
def test_a_bare_date_finds_the_day_and_says_so(notes: Workspace, path: str) -> None:
    document = get_document(notes, path)

    assert document.found
    assert document.path == "memory/2026-01-10.md"
    assert document.reason == "read as memory/2026-01-10.md"


def test_a_bare_name_finds_the_one_note_of_that_name(notes: Workspace) -> None:
    assert get_document(notes, "a.md").path == "memory/deep/a.md"


def test_a_bare_name_prefers_the_memory_folder_itself(notes: Workspace) -> None:
    (notes.root / "memory" / "a.md").write_text("top\n", encoding="utf-8")

    assert get_document(notes, "a.md").text == "top"


def test_an_ambiguous_bare_name_finds_nothing_and_names_the_choice(
    notes: Workspace,
) -> None:
    (notes.root / "memory" / "other").mkdir()
    (notes.root / "memory" / "other" / "a.md").touch()

    document = get_document(notes, "a.md")

    assert document.found is False
    assert "memory/deep/a.md, memory/other/a.md" in (document.reason or "")


def test_a_bare_date_is_found_in_a_plain_folder(lay: Lay) -> None:
    root = lay({"diary/2026-01-10.md": "kiwi"})

    assert get_document(Workspace(root=root), "2026-01-10").text == "kiwi"


@pytest.mark.parametrize(("on_disk", "asked"), [("NFD", "NFC"), ("NFC", "NFD")])
def test_a_name_is_found_in_the_other_unicode_form(
    lay: Lay, on_disk: str, asked: str
) -> None:
    name = "규정/학점인정.md"
    root = lay({"memory/" + unicodedata.normalize(on_disk, name): "학점"})  # type: ignore[arg-type]

    document = get_document(
        Workspace(root=root),
        "memory/" + unicodedata.normalize(asked, name),  # type: ignore[arg-type]
    )

    assert document.text == "학점"


def test_the_exact_name_wins_over_the_other_unicode_form(lay: Lay) -> None:
    composed, decomposed = "\u00e9.md", "e\u0301.md"
    root = lay({composed: "composed", decomposed: "decomposed"})
    if len(os.listdir(root)) == 1:
        pytest.skip("this disk takes both names for one")

    assert get_document(Workspace(root=root), composed).text == "composed"
    assert get_document(Workspace(root=root), decomposed).text == "decomposed"


@pytest.mark.parametrize(
    "name", ["a\\b.md", "~x.md", "a#L3.md", " a.md", "a\nb.md", "qmd/sessions/x.md"]
)
def test_a_note_with_an_odd_name_can_be_got(lay: Lay, name: str) -> None:
    root = lay({name: "kiwi"})

    assert get_document(Workspace(root=root), name).text == "kiwi"


# What fits


def test_an_answer_ends_with_the_last_line_that_fits(notes: Workspace) -> None:
    first = get_document(notes, "memory/2026-01-10.md", max_chars=9)

    assert first.text == "one\ntwo"
    assert (first.end_line, first.truncated, first.next_from) == (2, True, 3)


def test_text_of_exactly_the_limit_fits(notes: Workspace) -> None:
    document = get_document(notes, "memory/2026-01-10.md", lines=2, max_chars=7)

    assert document.text == "one\ntwo"
    assert not document.truncated
    assert document.next_from is None


def test_going_on_from_where_it_ended_brings_every_line_once(notes: Workspace) -> None:
    texts: list[str] = []
    start: int | None = 1
    while start is not None:
        page = get_document(notes, "memory/2026-01-10.md", start=start, max_chars=8)
        texts.append(page.text)
        start = page.next_from

    assert "\n".join(texts) == "one\ntwo\nthree\nfour\nfive"


def test_an_endless_line_is_cut_and_one_can_go_on_after_it(lay: Lay) -> None:
    root = lay({"a.md": "数" * 50 + "\nnext\n"})
    workspace = Workspace(root=root)

    first = get_document(workspace, "a.md", max_chars=10)
    second = get_document(workspace, "a.md", start=2, max_chars=10)

    assert first.text == "数" * 10
    assert (first.end_line, first.truncated, first.next_from) == (1, True, 2)
    assert "line 1 is cut" in (first.reason or "")
    assert (second.text, second.truncated) == ("next", False)


def test_after_an_endless_last_line_there_is_nothing_to_go_on_from(lay: Lay) -> None:
    root = lay({"a.md": "x" * 50})

    document = get_document(Workspace(root=root), "a.md", max_chars=10)

    assert document.truncated
    assert document.next_from is None


# What is closed


@pytest.mark.parametrize(
    "path",
    [
        "",
        "  ",
        ".",
        "/",
        "memory/x\0.md",
        "memory/\ud83c.md",
        "~",
        "~/notes.md",
        "~root/x.md",
        "..\\outside\\secret.md",
        "memory\\..\\..\\outside\\secret.md",
        "C:\\x.md",
        "../outside/secret.md",
        "memory/../../outside/secret.md",
        "/etc/passwd",
        "//etc/passwd",
        "/etc/../etc/hosts.md",
        "AGENTS.md",
        "notes/x.md",
        ".git/config",
        ".git/x.md",
        "memory/.secret.md",
        "memory/.git/x.md",
        "memory/node_modules/x.md",
        "memory/venv/x.md",
        "memory/2026-01-10.txt",
        "memory/pipe.md",
        "memory/deep.md",
        "memory/large.md",
    ],
)
def test_what_is_no_note_of_the_workspace_is_refused(
    notes: Workspace, path: str, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text("secret", encoding="utf-8")
    memory = notes.root / "memory"
    os.mkfifo(memory / "pipe.md")
    (memory / "deep.md").mkdir()
    (memory / "large.md").touch()
    os.truncate(memory / "large.md", MAX_NOTE_BYTES + 1)
    (memory / ".secret.md").touch()
    (memory / "venv").mkdir()
    (memory / "venv" / "pyvenv.cfg").touch()
    (memory / "venv" / "x.md").touch()

    with pytest.raises(PathRefused) as caught:
        get_document(notes, path)

    assert "secret" not in caught.value.message.replace(repr(path), "")


def test_no_link_leads_out(notes: Workspace, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret", encoding="utf-8")
    (notes.root / "memory" / "link").symlink_to(outside)
    (notes.root / "memory" / "bad.md").symlink_to(outside / "secret.md")
    (notes.root / "DREAMS.md").symlink_to(outside / "secret.md")

    for path in (
        "memory/link/secret.md",
        "memory/bad.md",
        "DREAMS.md",
        "memory/link/../bad.md",
        f"{notes.root}/memory/link/secret.md",
        f"{outside}/secret.md",
    ):
        with pytest.raises(PathRefused):
            get_document(notes, path)


def test_no_link_is_followed_even_if_it_stays_inside(notes: Workspace) -> None:
    (notes.root / "memory" / "link").symlink_to(notes.root / "memory" / "deep")

    with pytest.raises(PathRefused, match="symbolic link"):
        get_document(notes, "memory/link/a.md")


def test_a_memory_folder_that_is_a_link_is_closed(lay: Lay, tmp_path: Path) -> None:
    root = lay({"MEMORY.md": ""})
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.md").write_text("secret", encoding="utf-8")
    (root / "memory").symlink_to(tmp_path / "outside")

    with pytest.raises(PathRefused):
        get_document(Workspace(root=root), "memory/a.md")


def test_a_folder_that_becomes_a_link_meanwhile_shows_nothing(
    notes: Workspace, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("secret", encoding="utf-8")
    deep = notes.root / "memory" / "deep"

    def swap(_path: str) -> bool:
        # Called after the path was looked at, before it is opened.
        deep.rename(notes.root / "memory" / "old")
        deep.symlink_to(outside)
        return False

    with pytest.raises(PathRefused, match="symbolic link"):
        get_document(notes, "memory/deep/a.md", hidden=swap)


def test_a_note_that_vanishes_meanwhile_is_not_found(notes: Workspace) -> None:
    def remove(path: str) -> bool:
        (notes.root / path).unlink()
        return False

    document = get_document(notes, "memory/deep/a.md", hidden=remove)

    assert document.found is False
    assert document.reason == "not-found"


@pytest.mark.parametrize(
    "path", ["MEMORY.md", "./MEMORY.md", "memory/../MEMORY.md", "MEMORY.md#L1"]
)
def test_what_is_hidden_in_this_conversation_is_refused(
    notes: Workspace, path: str
) -> None:
    for asked in (path, f"{notes.root}/{path}"):
        with pytest.raises(PathRefused, match="denied in this conversation"):
            get_document(notes, asked, hidden={"MEMORY.md"}.__contains__)


def test_that_a_hidden_note_is_missing_is_hidden_too(notes: Workspace) -> None:
    with pytest.raises(PathRefused, match="denied"):
        get_document(notes, "DREAMS.md", hidden={"DREAMS.md"}.__contains__)


def test_an_error_never_repeats_an_endless_path(notes: Workspace) -> None:
    with pytest.raises(PathRefused) as caught:
        get_document(notes, "../" + "x" * 100_000)

    assert len(caught.value.message) < 500


def test_a_plain_folder_gives_every_note_below_it(lay: Lay) -> None:
    root = lay({"a/b.md": "kiwi", "a/c.txt": "", "AGENTS.md": "rules"})
    workspace = Workspace(root=root)

    assert get_document(workspace, "a/b.md").text == "kiwi"
    assert get_document(workspace, "AGENTS.md").text == "rules"
    with pytest.raises(PathRefused):
        get_document(workspace, "a/c.txt")


def test_an_extra_path_opens_its_notes_and_no_other(lay: Lay) -> None:
    root = lay(
        {"ws/MEMORY.md": "", "team/a.md": "kiwi", "teams/b.md": "", "solo/c.md": "x"}
    )
    workspace = Workspace(root=root / "ws", extra_paths=("../team", "../solo/c.md"))

    assert get_document(workspace, "../team/a.md").text == "kiwi"
    assert get_document(workspace, str(root / "team" / "a.md")).path == "../team/a.md"
    assert get_document(workspace, "../solo/c.md").text == "x"
    for path in ("../teams/b.md", "../team/../teams/b.md", "../solo/d.md", "../team"):
        with pytest.raises(PathRefused):
            get_document(workspace, path)


def test_an_extra_path_that_is_a_link_opens_nothing(lay: Lay) -> None:
    root = lay({"ws/MEMORY.md": "", "vault/a.md": "secret"})
    (root / "link").symlink_to(root / "vault")
    workspace = Workspace(root=root / "ws", extra_paths=("../link",))

    with pytest.raises(PathRefused, match="symbolic link"):
        get_document(workspace, "../link/a.md")


def test_what_may_not_be_read_is_refused_with_the_real_reason(
    open_folder: Path, as_nobody: AsNobody
) -> None:
    for name in ("closed.md", "closed/x.md", "good.md"):
        (open_folder / name).parent.mkdir(exist_ok=True)
        (open_folder / name).write_text("kiwi", encoding="utf-8")
    (open_folder / "closed.md").chmod(0)
    (open_folder / "closed").chmod(0)

    printed = as_nobody(
        f"workspace = Workspace(root=Path({str(open_folder)!r}))\n"
        "for path in ('closed.md', 'closed/x.md', 'good.md'):\n"
        "    try:\n"
        "        print(get_document(workspace, path).text)\n"
        "    except PathRefused as exc:\n"
        "        print(exc.message)\n"
    )

    assert printed.splitlines() == [
        "'closed.md' is refused: no permission to read",
        "'closed/x.md' is refused: no permission to read",
        "kiwi",
    ]


def test_a_closed_extra_path_hides_no_healthy_one(
    open_folder: Path, as_nobody: AsNobody
) -> None:
    for name in ("ws/MEMORY.md", "closed/sub/x.md", "team/a.md"):
        (open_folder / name).parent.mkdir(parents=True, exist_ok=True)
        (open_folder / name).write_text("kiwi", encoding="utf-8")
    (open_folder / "closed").chmod(0)

    printed = as_nobody(
        f"root = Path({str(open_folder / 'ws')!r})\n"
        "extra_paths = ('../closed/sub', '../team')\n"
        "workspace = Workspace(root=root, extra_paths=extra_paths)\n"
        "print(get_document(workspace, '../team/a.md').text)\n"
        "print([extra.problem for extra in scan(workspace).extra_paths][0])\n"
        "try:\n"
        "    get_document(workspace, '../closed/sub/x.md')\n"
        "except PathRefused as exc:\n"
        "    print(exc.message)\n"
    )

    assert printed.splitlines() == [
        "kiwi",
        "no permission to read",
        "'../closed/sub/x.md' is refused: no permission to read",
    ]


def test_locating_a_note_opens_nothing(notes: Workspace) -> None:
    located = locate(notes, "memory/2026-01-10.md#L2-L3")

    assert located.file == str(notes.root / "memory" / "2026-01-10.md")
    assert (located.first, located.last) == (2, 3)


def test_a_note_is_located_without_listing_any_folder(lay: Lay) -> None:
    root = lay({"MEMORY.md": "", "memory/deep/a.md": "", "memory/other/b.md": ""})
    if (root / "memory.MD").exists():
        pytest.skip("on a disk that ignores case the names have to be listed")
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from notewell.workspace import Workspace, locate\n"
        f"workspace = Workspace(root=Path({str(root)!r}))\n"
        "sys.addaudithook(lambda event, _: event == 'os.listdir' and print(event))\n"
        "print(locate(workspace, 'memory/deep/a.md').path)\n"
        "print(locate(workspace, 'MEMORY.md').path)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert done.stdout.splitlines() == ["memory/deep/a.md", "MEMORY.md"]


def test_only_the_folders_on_the_way_to_a_note_are_opened(lay: Lay) -> None:
    root = lay({"a/deep/a.md": "", "a/b.md": "", "other/c.md": ""})
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from notewell.workspace import Workspace, locate\n"
        f"workspace = Workspace(root=Path({str(root)!r}))\n"
        "opened = set()\n"
        "def note(event, given):\n"
        "    if event in ('os.listdir', 'os.scandir'):\n"
        "        opened.add(os.path.relpath(given[0], workspace.root))\n"
        "sys.addaudithook(note)\n"
        "locate(workspace, 'a/deep/a.md')\n"
        "locate(workspace, 'a/deep/gone.md', exactly=True)\n"
        "locate(workspace, 'c.md', exactly=True)\n"
        "print(*sorted(opened))\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert done.stdout.split() == [".", "a", "a/deep"]


def test_of_many_notes_each_folder_is_opened_once(lay: Lay) -> None:
    root = lay({"a/deep/3.md": "", "a/1.md": "", "a/2.md": ""})
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from notewell.workspace import Locator, Workspace\n"
        f"locator = Locator(Workspace(root=Path({str(root)!r})))\n"
        "opened = []\n"
        "def note(event, given):\n"
        "    if event == 'os.scandir':\n"
        f"        opened.append(os.path.relpath(given[0], {str(root)!r}))\n"
        "sys.addaudithook(note)\n"
        "for path in ('a/1.md', 'a/deep/3.md', 'a/2.md', 'a/deep/3.md'):\n"
        "    assert locator.locate(path).file\n"
        "print(*opened)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert done.stdout.split() == [".", "a", "a/deep"]


def test_many_notes_are_located_as_each_is_alone(lay: Lay) -> None:
    root = lay(
        {
            "a/kept.md": "",
            "a/left/out.md": "",
            "a/left/kept.md": "",
            "a/.notewellignore": "out.md\n",
            "env/pyvenv.cfg": "",
            "env/deep/b.md": "",
            "deep/out.md": "",
        }
    )
    (root / "link").symlink_to(root / "a")
    (root / "a" / "link.md").symlink_to(root / "a" / "kept.md")
    workspace = Workspace(root=root)
    locator = Locator(workspace)
    paths = [
        *("a/kept.md", "a/left/out.md", "a/left/kept.md", "env/deep/b.md"),
        *("deep/out.md", "link/kept.md", "a/link.md", "a/gone.md", "gone/a.md"),
        *("../outside.md", "a/kept.md#L2", "kept.md"),
    ]

    alone = [outcome(partial(locate, workspace, path, exactly=True)) for path in paths]
    together = [outcome(partial(locator.locate, path)) for path in paths]
    once_more = [outcome(partial(locator.locate, path)) for path in paths]

    assert alone == together == once_more
    assert [isinstance(each, str) for each in alone[:5]] == [
        False,
        True,
        False,
        True,
        False,
    ]


def outcome(located: Callable[[], NoteLocation]) -> NoteLocation | str:
    try:
        return located()
    except PathRefused as error:
        return str(error)


def test_a_path_from_a_scan_is_never_taken_for_another_note(notes: Workspace) -> None:
    assert locate(notes, "a.md").path == "memory/deep/a.md"
    with pytest.raises(PathRefused):
        locate(notes, "a.md", exactly=True)


def test_in_a_plain_folder_a_path_from_a_scan_may_be_gone(lay: Lay) -> None:
    workspace = Workspace(root=lay({"sub/a.md": "", "b.md": ""}))

    gone = locate(workspace, "a.md", exactly=True)

    assert (gone.path, gone.file, gone.reason) == ("a.md", None, "not-found")
    assert locate(workspace, "b.md", exactly=True).file == f"{workspace.root}/b.md"


@pytest.mark.parametrize("path", ["MEMORY.MD", "memory/A.md", "Memory/a.md"])
def test_a_name_in_another_case_is_no_name_of_a_note(lay: Lay, path: str) -> None:
    workspace = Workspace(root=lay({"MEMORY.md": "", "memory/a.md": ""}))

    try:
        found = locate(workspace, path, exactly=True).file
    except PathRefused:
        found = None

    assert found is None


def test_long_nonsense_is_not_repeated_whole(notes: Workspace) -> None:
    found = get_document(notes, "x" * 100_000)

    assert (found.found, len(found.path)) == (False, 201)
