"""A copy of the notes, which a benchmark may change: the notes themselves never are."""

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from notewell.bench.left_out import Gap
from notewell.bench.metrics import composed
from notewell.errors import UsageError
from notewell.workspace import Note, Scan, Workspace, read_note, scan, split_lines
from notewell.workspace.notes import read_regular
from notewell.writing.private import private_lock

_MARK: Final = ".notewell-bench"
"""Says of a folder that it is a benchmark's; the lock of who works in it."""

_LINE: Final = "\n- A line more, by which the benchmark changes this copy.\n"


def copy_notes(workspace: Path, target: Path) -> Scan:
    """Make `target` hold the notes of a folder as they are now, and nothing else.

    Notes that are there already with the same size and time are left as they are, so
    that an index of them stays good.

    Returns:
        What is in the copy.

    Raises:
        UsageError: the copy cannot be made.
    """
    wanted = {note.path: note for note in scan(Workspace(root=workspace)).notes}
    try:
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        for place in (target, *(target / path for path in wanted)):
            _check_own(place, target.parent)
        for note in scan(Workspace(root=target)).notes:
            if note.path not in wanted:
                os.unlink(note.file)
        for path, note in wanted.items():
            _copy(note, target / path)
    except OSError as exc:
        raise UsageError(
            f"the notes cannot be copied: {exc.strerror}: {exc.filename}",
            remedy="see that there is space and the permission to read and write",
        ) from exc
    return scan(Workspace(root=target))


@contextmanager
def working_folder(named: Path | None) -> Generator[Path]:
    """Give a folder to work in: a temporary one, or the one that is named and kept.

    Raises:
        UsageError: it holds something else, another benchmark is in it, or it cannot
            be written.
    """
    if named is None:
        with TemporaryDirectory(prefix="notewell-bench-") as folder:
            yield Path(folder)
        return
    from filelock import Timeout

    mark = named / _MARK
    try:
        if named.is_dir() and not mark.exists() and any(named.iterdir()):
            raise UsageError(
                f"{named} holds something else",
                remedy="name a new folder, or an empty one",
            )
        lock = private_lock(mark)
    except OSError as exc:
        raise UsageError(
            f"{named} cannot be written: {exc.strerror or exc}",
            remedy="name another folder with --state",
        ) from exc
    try:
        with lock.acquire(timeout=0):
            yield named
    except Timeout as exc:
        raise UsageError(
            f"another benchmark works in {named}", remedy="wait for it, or name another"
        ) from exc


def leave_out(folder: Path, gaps: Sequence[Gap]) -> None:
    """Take words out of lines of a copy; see `left_out`.

    Raises:
        UsageError: the copy cannot be written.
    """
    by_note: dict[str, list[Gap]] = {}
    for gap in gaps:
        by_note.setdefault(gap.path, []).append(gap)
    for path, each in by_note.items():
        file = folder / path
        try:
            times = file.stat()
            lines = split_lines(read_note(str(file)).text)
            for gap in each:
                lines[gap.line - 1] = gap.text
            file.write_text("\n".join(lines), encoding="utf-8", newline="")
            os.utime(file, ns=(times.st_mtime_ns, times.st_mtime_ns))
        except OSError as exc:
            raise UsageError(
                f"the copy of a note cannot be changed: {exc.strerror}: {path}",
                remedy="see that there is space and the permission to write",
            ) from exc


class Change:
    """One note of the copy with a line more, until it is taken back."""

    def __init__(self, note: Note) -> None:
        self._file = Path(note.file)
        self._was = self._file.read_bytes()
        self._times = (note.mtime_ns, note.mtime_ns)

    def make(self) -> None:
        """Add a line."""
        self._file.write_bytes(self._was + _LINE.encode())

    def take_back(self) -> None:
        """Make the note what it was."""
        self._file.write_bytes(self._was)
        os.utime(self._file, ns=self._times)


def middling(notes: Sequence[Note]) -> Note | None:
    """Return the note of median size, the first by path among equals."""
    ordered = sorted(notes, key=lambda note: (note.size, note.path))
    return ordered[len(ordered) // 2] if ordered else None


def line_reader(root: Path) -> Callable[[str], Sequence[str]]:
    """Return what reads the lines of a note in the folder `root`, each note once.

    What is no note there has no lines: a judgement may name any file of this machine.
    """
    notes = {composed(note.path): note for note in scan(Workspace(root=root)).notes}
    known: dict[str, list[str]] = {}

    def read(path: str) -> Sequence[str]:
        if path not in known:
            known[path] = []
            note = notes.get(composed(path))
            if note is not None:
                with suppress(OSError):
                    known[path] = split_lines(read_note(note.file).text)
        return known[path]

    return read


def _check_own(place: Path, folder: Path) -> None:
    """Refuse a way that leads out of the folder: what is there is somebody's.

    Raises:
        UsageError: a part of it is a symbolic link.
    """
    own = os.path.join(os.path.realpath(folder), place.relative_to(folder))
    if os.path.realpath(place) != own:
        raise UsageError(
            f"{place} is a symbolic link, or behind one",
            remedy="take the link away, or name another folder with --state",
        )


def _copy(note: Note, file: Path) -> None:
    with suppress(OSError):
        there = file.stat()
        if (there.st_size, there.st_mtime_ns) == (note.size, note.mtime_ns):
            return
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        # A link that has come in the place of a note since would be followed.
        text = read_regular(note.file)
    except FileNotFoundError:
        return  # it was deleted since the folder was read
    file.unlink(missing_ok=True)  # whatever it is, it is not written through
    file.write_bytes(text)
    os.utime(file, ns=(note.mtime_ns, note.mtime_ns))
