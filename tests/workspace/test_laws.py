"""What holds for every tree of files and every path that an agent may send."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from notewell.errors import PathRefused
from notewell.workspace import Workspace, get_document, scan

SECRET = "the secret that lies outside"


@pytest.fixture(scope="module")
def workspace() -> Iterator[Workspace]:
    """A workspace with a secret beside it, and every kind of link to that."""
    base = Path(tempfile.mkdtemp(prefix="notewell-test-")).resolve()
    root, outside = base / "ws", base / "outside"
    for folder in (root / "memory" / "deep", outside, base / "team", root / ".git"):
        folder.mkdir(parents=True)
    for closed in (
        outside / "secret.md",
        base / "secret.md",
        root / "secret.md",
        root / ".git" / "secret.md",
        root / "memory" / ".secret.md",
        root / "memory" / "secret.txt",
    ):
        closed.write_text(SECRET, encoding="utf-8")
    for opened in ("MEMORY.md", "memory/a.md", "memory/deep/b.md", "../team/c.md"):
        (root / opened).write_text("kiwi", encoding="utf-8")
    (root / "memory" / "link").symlink_to(outside)
    (root / "memory" / "up").symlink_to("../..")
    (root / "memory" / "bad.md").symlink_to(outside / "secret.md")
    (root / "DREAMS.md").symlink_to("../secret.md")
    (base / "team" / "link").symlink_to(outside)
    yield Workspace(root=root, extra_paths=("../team", "../team/link", "memory/up"))
    shutil.rmtree(base)


parts = st.sampled_from(
    [
        "..", ".", "", "~", "memory", "deep", "link", "up", "team", "outside", "ws",
        "bad.md", "secret.md", ".secret.md", "secret.txt", "DREAMS.md", "MEMORY.md",
        "a.md", ".git", "c.md", "..\\outside", "\u2025", "．．", "%2e%2e", "..\u200b",
        "memory\0", "#L1", "2026-01-10",
    ]
)  # fmt: skip
separators = st.sampled_from(["/", "//", "/./", "\\", "\u2215", "／", "/../", "\0"])


@st.composite
def paths(draw: st.DrawFn) -> str:
    names = draw(st.lists(parts | st.text(max_size=3), min_size=1, max_size=8))
    start = draw(st.sampled_from(["", "/", "//", "BASE/", "/proc/self/cwd/"]))
    return start + draw(separators).join(names) + draw(st.sampled_from(["", "#L1"]))


@settings(max_examples=400, deadline=None)
@given(paths() | st.text())
@example("memory/link/secret.md")
@example("memory/up/outside/secret.md")
@example("../team/link/secret.md")
@example("BASE/outside/secret.md")
@example("BASE/ws/memory/bad.md")
@example("secret.md")
def test_no_path_shows_what_lies_outside(workspace: Workspace, path: str) -> None:
    path = path.replace("BASE", str(workspace.root.parent))

    try:
        document = get_document(workspace, path)
    except PathRefused:
        return

    assert document.text in ("", "kiwi")
    assert document.found is (document.text == "kiwi")
    if document.found:
        assert get_document(workspace, document.path).text == "kiwi"


names = st.sampled_from(
    ["a.md", "B.MD", "c.txt", "memory", "MEMORY.md", ".hidden", ".x.md", "node_modules",
     "日本.md", "x y.md", "md", "f.md.bak", "deep", "~.md", "a\\b.md", "#L1.md"]
)  # fmt: skip
entries = st.tuples(st.lists(names, min_size=1, max_size=4), st.booleans())


def build(root: Path, tree: list[tuple[list[str], bool]]) -> None:
    """Write each entry as a file, or as a link to `root`, where there is room."""
    root.mkdir()
    for path, is_link in tree:
        file = root.joinpath(*path)
        # What is there already may be a file where this needs a folder.
        with suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
            file.parent.mkdir(parents=True, exist_ok=True)
            if is_link:
                file.symlink_to(root)
            else:
                file.write_text(file.name, encoding="utf-8")


def plain_reference(root: Path) -> set[str]:
    """The rules once more, as slow and plain as possible."""
    found: set[str] = set()
    for folder, folders, files in os.walk(root):
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".") and name != "node_modules"
        ]
        for name in files:
            file = Path(folder, name)
            is_note = name.lower().endswith(".md") and not name.startswith(".")
            if is_note and not file.is_symlink():
                found.add(file.relative_to(root).as_posix())
    top = os.listdir(root)
    if "MEMORY.md" not in top and not (root / "memory").is_dir():
        return found
    return {path for path in found if path == "MEMORY.md" or path.startswith("memory/")}


@settings(max_examples=150, deadline=None)
@given(st.lists(entries, max_size=12))
def test_a_scan_finds_what_a_plain_walk_finds_and_get_reads_it(
    tree: list[tuple[list[str], bool]],
) -> None:
    with tempfile.TemporaryDirectory() as base:
        root = Path(base).resolve() / "w"
        build(root, tree)
        workspace = Workspace(root=root)

        found = [note.path for note in scan(workspace).notes]

        assert found == sorted(plain_reference(root))
        for path in found:
            document = get_document(workspace, path)
            assert (document.path, document.found) == (path, True)
            assert document.text == os.path.basename(path)


@settings(max_examples=100, deadline=None)
@given(
    lines=st.lists(st.text(alphabet="ab日\r\u2028", max_size=12), max_size=8),
    room=st.integers(1, 30),
)
def test_pages_follow_each_other_without_gap_or_repetition(
    lines: list[str], room: int
) -> None:
    with tempfile.TemporaryDirectory() as base:
        Path(base, "a.md").write_bytes("".join(f"{line}\n" for line in lines).encode())
        workspace = Workspace(root=Path(base).resolve())

        read: list[str] = []
        start: int | None = 1
        while start is not None:
            page = get_document(workspace, "a.md", start=start, max_chars=room)
            assert len(page.text) <= room
            assert page.start_line == start
            if page.end_line >= start:
                read.extend(page.text.split("\n"))
            start = page.next_from

        assert read == [line[:room] for line in lines]
