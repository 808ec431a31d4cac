"""Transcripts of Claude Code and Codex: those of one project, and of no other.

<folder>/projects/<project>/<session>.jsonl        Claude Code, below ~/.claude
<folder>/sessions/<year>/<month>/<day>/rollout-<time>-<session>.jsonl     Codex, below ~/.codex

Two projects may have the same name there, and all projects of Codex lie together. So a
transcript counts for the folder in which its session was begun, which it says itself.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from notewell.config.memory_schema import TranscriptSource
from notewell.files import LINK_REFUSED, open_regular
from notewell.foreign import read_json, read_member
from notewell.sessions.files import Transcript, Transcripts
from notewell.types import Skipped
from notewell.workspace.layout import is_valid_name, nanoseconds

_MOST_NAME: Final = 200
"""Characters of a project's name, after which Claude Code writes a number instead."""

_HEAD_LINES: Final = 50
_HEAD_BYTES: Final = 4 * 1024 * 1024
"""Of a transcript, in which it says where its session was begun."""

_DEPTH: Final = 3
"""Folders that Codex puts transcripts into: of a year, a month and a day."""

_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"

_FOLDERS: Final = {"claude-code": ".claude", "codex": ".codex"}
"""Where each program keeps its files, in the home folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramTranscripts:
    """Whose transcripts are a source of a workspace.

    Attributes:
        program: `claude-code` or `codex`.
        project: The folder in which their sessions were begun, resolved.
        folder: Where the program keeps its files, resolved.
        remote: Their text may be sent to a provider on another machine.
    """

    program: str
    project: str
    folder: Path
    remote: bool = False

    @property
    def prefix(self) -> str:
        """What the paths of these transcripts begin with in citations."""
        return f"sessions/{self.program}/"

    @property
    def top(self) -> Path:
        """The folder below which they are, those of other projects perhaps as well."""
        if self.program == "codex":
            return self.folder / "sessions"
        return self.folder / "projects" / project_name(self.project)

    def file_of(self, path: str) -> Path:
        """Return the file behind a path as citations show it."""
        below = path.removeprefix(self.prefix)
        if self.program == "codex":
            return self.top / below
        return self.folder / "projects" / below

    def watched(self) -> list[Path]:
        """Return the folders in which this program writes now."""
        folders = [self.top]
        while self.program == "codex" and len(folders) <= _DEPTH:
            try:
                below = [name for name in os.listdir(folders[-1]) if name.isdecimal()]
            except OSError:
                break
            if not below:
                break
            folders.append(folders[-1] / max(below))
        return folders


def project_name(project: str) -> str:
    """Return what Claude Code calls the folder of a project's transcripts.

    >>> project_name("/home/me/my.notes")
    '-home-me-my-notes'
    """
    units = [
        int.from_bytes(pair, "little")
        for pair in _pairs(project.encode("utf-16-le", "surrogatepass"))
    ]
    name = "".join(
        chr(unit) if unit < 128 and chr(unit).isalnum() else "-" for unit in units
    )
    if len(name) <= _MOST_NAME:
        return name
    number = 0
    for unit in units:
        number = (number * 31 + unit) & 0xFFFFFFFF
    number = abs(number - (1 << 32) if number >> 31 else number)
    digits = ""
    while number or not digits:
        number, rest = divmod(number, 36)
        digits = _DIGITS[rest] + digits
    return f"{name[:_MOST_NAME]}-{digits}"


def sources_of(
    configured: Sequence[TranscriptSource], root: Path
) -> tuple[tuple[ProgramTranscripts, ...], tuple[str, ...]]:
    """Return the sources of a workspace, and a sentence for each that counts for none.

    Args:
        configured: `memory.transcripts`.
        root: The workspace.
    """
    here = os.path.realpath(root)
    found: list[ProgramTranscripts] = []
    warnings: list[str] = []
    owners: dict[tuple[str, str, str], str] = {}
    for place, each in enumerate(configured):
        workspace = os.path.realpath(each.workspace)
        project = os.path.realpath(each.project or each.workspace)
        usual = Path(os.path.expanduser("~")) / _FOLDERS[each.program]
        folder = os.path.realpath(each.folder or usual)
        owner = owners.setdefault((each.program, project, folder), workspace)
        if owner != workspace:
            warnings.append(
                f"memory.transcripts[{place}] is left out: transcripts of {project} are"
                f" a source of {owner} already, and have one workspace"
            )
        elif workspace == here:
            found.append(
                ProgramTranscripts(
                    program=each.program,
                    project=project,
                    folder=Path(folder),
                    remote=each.remote,
                )
            )
    return tuple(found), tuple(warnings)


def list_program_transcripts(sources: Iterable[ProgramTranscripts]) -> Transcripts:
    """Find the transcripts of projects.

    Never raises for what is on the disk: what cannot be read is in `skipped`.
    """
    found: dict[str, Transcript] = {}
    skipped: list[Skipped] = []
    for source in sources:
        listing = _Listing(source)
        listing.look_into(source.top)
        skipped += listing.skipped
        for each in listing.found:
            found.setdefault(each.path, each)
    return Transcripts(
        tuple(found[path] for path in sorted(found)),
        tuple(sorted(skipped, key=lambda each: each.path)),
    )


def program_file(sources: Iterable[ProgramTranscripts], path: str) -> Path | None:
    """Return the file behind a path of a transcript of a program, or None."""
    for source in sources:
        if path.startswith(source.prefix):
            file = source.file_of(path)
            if _is_below(file, source.top):
                return file
    return None


def local_prefixes(sources: Sequence[ProgramTranscripts]) -> tuple[str, ...]:
    """Return beginnings of paths whose text is sent to no other machine.

    A program's transcripts are not told apart: all of its sources have to allow it. What
    an index holds of a program that is no source any more is not sent, either.
    """
    asked = {source.prefix: True for source in sources}
    for source in sources:
        asked[source.prefix] &= source.remote
    prefixes = (f"sessions/{program}/" for program in _FOLDERS)
    return tuple(prefix for prefix in prefixes if not asked.get(prefix))


class _Listing:
    """Collects the transcripts of one source."""

    def __init__(self, source: ProgramTranscripts) -> None:
        self._source = source
        self.found: list[Transcript] = []
        self.skipped: list[Skipped] = []

    def look_into(self, folder: Path, *, depth: int = _DEPTH) -> None:
        """Take what is in a folder, and for Codex in those below."""
        # A link could lead to another project, or to another person's sessions.
        if os.path.realpath(folder) != str(folder):
            if os.path.lexists(folder):
                self._skip(folder, "symlink", LINK_REFUSED)
            return
        try:
            with os.scandir(folder) as entries:
                listed = [each.name for each in entries if is_valid_name(each.name)]
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            self._skip(folder, "unreadable", error.strerror or "cannot be read")
            return
        for name in listed:
            if self._source.program == "codex" and depth and name.isdecimal():
                self.look_into(folder / name, depth=depth - 1)
            elif _is_named_so(self._source, name):
                self._take(folder / name)

    def _take(self, file: Path) -> None:
        try:
            there = os.lstat(file)
            if stat.S_ISLNK(there.st_mode):
                self._skip(file, "symlink", LINK_REFUSED)
            elif stat.S_ISREG(there.st_mode) and self._is_of_project(file, there):
                self.found.append(_transcript(self._source, file, there))
        except FileNotFoundError:
            return
        except OSError as error:
            self._skip(file, "unreadable", error.strerror or "cannot be read")

    def _is_of_project(self, file: Path, there: os.stat_result) -> bool:
        begun = _begun(
            _Looked(str(file), there.st_ino, there.st_size, there.st_mtime_ns)
        )
        return begun is not None and os.path.realpath(begun) == self._source.project

    def _skip(self, file: Path, reason: str, detail: str) -> None:
        shown = _shown(self._source, file)
        self.skipped.append(Skipped(path=shown, reason=reason, detail=detail))


def _is_named_so(source: ProgramTranscripts, name: str) -> bool:
    if not name.endswith(".jsonl") or name.startswith("."):
        return False
    if source.program == "codex":
        return name.startswith("rollout-")
    return not name.startswith("agent-")  # what one agent said to another


def _transcript(
    source: ProgramTranscripts, file: Path, there: os.stat_result
) -> Transcript:
    name = file.name.removesuffix(".jsonl")
    return Transcript(
        path=_shown(source, file),
        file=str(file),
        session_id=name[-36:] if source.program == "codex" else name,
        kind="live",
        session_key=None,
        size=there.st_size,
        mtime_ns=nanoseconds(there.st_mtime_ns),
    )


class _Looked(NamedTuple):
    """A file as it was looked at."""

    file: str
    inode: int
    size: int
    mtime_ns: int


@lru_cache(maxsize=20_000)
def _begun(looked: _Looked) -> str | None:
    """Return the folder in which a session was begun; None where it is not said.

    Raises:
        OSError: the transcript cannot be read.
    """
    with open_regular(looked.file) as opened:
        for _ in range(_HEAD_LINES):
            line = opened.readline(_HEAD_BYTES)
            if not line.endswith(b"\n"):
                return None  # not written yet, or too long for one
            try:
                record = read_json(line)
            except ValueError:
                continue
            for place in (("cwd",), ("payload", "cwd")):
                cwd = read_member(record, *place)
                if isinstance(cwd, str) and os.path.isabs(cwd) and "\0" not in cwd:
                    return cwd
    return None


def _shown(source: ProgramTranscripts, file: Path) -> str:
    """Return the path of a file as citations show it."""
    top = source.top if source.program == "codex" else source.folder / "projects"
    below = file.relative_to(top).as_posix()
    return source.prefix.rstrip("/") if below == "." else f"{source.prefix}{below}"


def _is_below(file: Path, top: Path) -> bool:
    return ".." not in file.parts and file.is_relative_to(top)


def _pairs(raw: bytes) -> Iterator[bytes]:
    return (raw[at : at + 2] for at in range(0, len(raw), 2))
