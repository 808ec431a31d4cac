"""Copies of the agent's transcripts as Markdown, in a folder that QMD reads.

They are brought up to date with the index, by its one writer, and never in a search.
What is shown of a transcript is read from itself; see `sayings`.
"""

import os
import time
from collections.abc import Container, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from notewell.backends.base import Site
from notewell.backends.qmd.collections import Collection, free_name
from notewell.backends.qmd.contract import BACKEND
from notewell.backends.qmd.home import Home
from notewell.backends.text.passages import with_silent_transcripts
from notewell.errors import BackendFailed, NoteNotWritten
from notewell.files import create_folder, replace_file
from notewell.sessions import (
    ExportReport,
    Position,
    Transcript,
    export_name,
    export_transcripts,
    has_news,
    list_transcripts,
    retained_transcripts,
)
from notewell.types import Skipped
from notewell.workspace.extra import resolve_extra_paths
from notewell.workspace.scan import IGNORE_FILE

_KEY: Final = "memory.qmd.sessions.exportDir"
_IGNORED: Final = b"*\n"
"""Whoever has the folder among notes of theirs does not want copies there. It also says
that the folder is ours."""


class Copied(msgspec.Struct, frozen=True, kw_only=True):
    """A transcript as it was when it was last looked into.

    Attributes:
        size: In bytes.
        mtime_ns: Its last change then.
        read: Up to where it was read; None when it could not be.
        silent: Nothing in it is worth a copy.
    """

    size: int
    mtime_ns: int
    read: Position | None
    silent: bool


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    """What we know of the copies, and the folder where they are."""

    folder: str = ""
    copies: dict[str, Copied] = {}


class Due(NamedTuple):
    """The transcripts on disk against their copies.

    Attributes:
        found: Those that are to have a copy.
        settled: Paths of those whose copy is right.
        pending: Transcripts whose copy is not, or that are gone.
        skipped: What is no transcript of ours.
        problem: Why there are no copies, though they are wanted.
    """

    found: Sequence[Transcript] = ()
    settled: frozenset[str] = frozenset()
    pending: int = 0
    skipped: tuple[Skipped, ...] = ()
    problem: str | None = None


class Copies:
    """The copies of one agent's transcripts.

    Attributes:
        folder: Where they are.
        wanted: Transcripts are a source.
    """

    def __init__(self, site: Site, home: Home) -> None:
        self._site = site
        self._settings = site.memory.qmd.sessions
        self._file = home.folder / "transcripts.json"
        chosen = self._settings.export_dir
        # Agents may share a folder, and none sees what another one has heard.
        self.folder = chosen / site.agent.id if chosen else home.folder / "transcripts"
        self.wanted = site.transcripts

    def collection(self, taken: Sequence[str]) -> Collection:
        """Return what QMD reads of them."""
        return Collection(
            name=free_name("sessions", taken),
            folder=os.path.realpath(self.folder),
            pattern="*.md",
            spoken=True,
        )

    def retained(self) -> tuple[Sequence[Transcript], tuple[Skipped, ...]]:
        """Return the transcripts that may be searched, and what is left out."""
        found, skipped = list_transcripts(self._site.state_dir, self._site.agent.id)
        days = self._settings.retention_days
        return retained_transcripts(found, days, now_ns=time.time_ns()), skipped

    def look(self) -> Due:
        """Compare the transcripts with their copies. Writes none."""
        known = self._known()
        if not self.wanted:
            return Due(pending=max(len(known.copies), bool(known.folder)))
        problem = self.problem()
        if problem:
            return Due(problem=problem)
        copies = known.copies if known.folder == str(self.folder) else {}
        here = self._here()
        found, skipped = self.retained()
        settled = {t.path for t in found if self._is_settled(t, copies, here)}
        in_vain = {t.path for t in found if _is_unreadable_still(t, copies)}
        unreadable = (
            Skipped(path=path, reason="unreadable", detail="it could not be read")
            for path in sorted(in_vain)
        )
        gone = known.copies.keys() - {transcript.path for transcript in found}
        return Due(
            found=found,
            settled=frozenset(settled),
            pending=len(found) - len(settled | in_vain) + len(gone),
            skipped=(*skipped, *unreadable),
        )

    def write(self, due: Due, *, force: bool = False) -> ExportReport:
        """Bring the copies up to date; those that are not wanted any more are removed.

        They are due as before until `remember` is called: QMD may never read them.

        Raises:
            BackendFailed: the disk refuses.
        """
        self._leave(self._known().folder)
        if not self.wanted or due.problem:
            return ExportReport()
        try:
            create_folder(self.folder)
            replace_file(self.folder / IGNORE_FILE, _IGNORED)
            self._keep_folder()
            return export_transcripts(
                due.found,
                self.folder,
                now_ns=time.time_ns(),
                settled=() if force else due.settled,
            )
        except NoteNotWritten as exc:
            raise self._refused(exc.message) from exc
        except OSError as exc:
            raise self._refused(exc.strerror or "the disk refuses") from exc

    def remember(self, due: Due, report: ExportReport) -> None:
        """Write down that QMD has read what was written."""
        if not self.wanted or due.problem:
            return
        old = self._known().copies
        here = self._here()
        copies = {
            transcript.path: old[transcript.path]
            if transcript.path in due.settled and transcript.path not in report.read
            else Copied(
                size=transcript.size,
                mtime_ns=transcript.mtime_ns,
                read=report.read.get(transcript.path),
                silent=export_name(transcript) not in here,
            )
            for transcript in due.found
        }
        kept = _Kept(folder=str(self.folder), copies=copies)
        replace_file(self._file, msgspec.json.encode(kept))

    def said(self) -> str:
        """Say for a person how many there are."""
        copies = self._known().copies
        silent = sorted(
            path for path, each in copies.items() if each.silent and each.read
        )
        counted = f"{len(copies) - len(silent):,} of {len(copies):,} in {self.folder}"
        return with_silent_transcripts(counted, silent)

    def _is_settled(
        self, transcript: Transcript, copies: dict[str, Copied], here: Container[str]
    ) -> bool:
        copied = copies.get(transcript.path)
        if copied is None or copied.read is None:
            return False
        if not copied.silent and export_name(transcript) not in here:
            return False
        if _is_same(transcript, copied):
            return True
        settings = self._site.agent.search.sync.sessions
        return not has_news(transcript, copied.size, copied.read, settings)

    def problem(self) -> str | None:
        """Say in a sentence why nothing is copied though it is wanted; None if it is."""
        if not self.wanted:
            return None
        real = os.path.join(os.path.realpath(self.folder), "")
        tops = [extra.top for extra in resolve_extra_paths(self._site.workspace)]
        for notes in (os.path.realpath(self._site.workspace.root), *tops):
            if real.startswith(os.path.join(notes, "")):
                return _not_searched(f"{self.folder} lies among notes")
        parents = (self.folder, *self.folder.parents)
        there = next(folder for folder in parents if os.path.lexists(folder))
        if not there.is_dir() or not os.access(there, os.R_OK | os.W_OK | os.X_OK):
            return _not_searched(f"{self.folder} cannot be written")
        if not _is_free(self.folder):
            return _not_searched(f"{self.folder} holds something else")
        return None

    def _keep_folder(self) -> None:
        """Write down where copies are before there are any, so that they are found."""
        known = self._known()
        if known.folder != str(self.folder):
            kept = _Kept(folder=str(self.folder))
            replace_file(self._file, msgspec.json.encode(kept))

    def _here(self) -> frozenset[str]:
        with suppress(OSError):
            return frozenset(os.listdir(self.folder))
        return frozenset()

    def _refused(self, why: str) -> BackendFailed:
        return BackendFailed(
            BACKEND,
            f"transcripts cannot be exported: {why}",
            reason="exit",
            remedy=f"make room in {self.folder}, or choose another {_KEY}",
        )

    def _known(self) -> _Kept:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=_Kept)
        except (OSError, msgspec.MsgspecError):
            return _Kept()

    def _leave(self, folder: str) -> None:
        """Remove the copies from a folder that is not, or no more, the one for them."""
        if folder and (folder != str(self.folder) or not self.wanted):
            with suppress(NoteNotWritten, OSError):
                if os.path.isdir(folder):
                    export_transcripts((), Path(folder), now_ns=0)
                    _give_back(Path(folder))
            self._file.unlink(missing_ok=True)


def _not_searched(why: str) -> str:
    return f"Transcripts are not searched: {why}; choose another {_KEY}."


def _is_free(folder: Path) -> bool:
    """Whether a folder is ours, is empty, or is not there."""
    with suppress(OSError):
        return (folder / IGNORE_FILE).read_bytes() == _IGNORED
    return not folder.is_dir() or not os.listdir(folder)


def _give_back(folder: Path) -> None:
    """Take what says that a folder is ours away, and the folder if that was all.

    Raises:
        OSError: something else is in it, or it cannot be written.
    """
    ignore = folder / IGNORE_FILE
    if _is_free(folder):
        ignore.unlink(missing_ok=True)
    folder.rmdir()


def _is_same(transcript: Transcript, copied: Copied) -> bool:
    return (transcript.size, transcript.mtime_ns) == (copied.size, copied.mtime_ns)


def _is_unreadable_still(transcript: Transcript, copies: dict[str, Copied]) -> bool:
    """Whether it could not be read, and has not changed since."""
    copied = copies.get(transcript.path)
    return copied is not None and copied.read is None and _is_same(transcript, copied)
