"""Writing something down, so that it is found from now on."""

import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime

from notewell.backends.loops import cancellable
from notewell.config.file import OWN_NAME
from notewell.errors import BackendError, NoteNotWritten, PathRefused, UsageError
from notewell.memory.setup import Setup, sentences
from notewell.types import IndexReport, citation_of
from notewell.workspace import Workspace, scan
from notewell.workspace.daily_format import DailyFormat, daily_format
from notewell.workspace.days import daily_note, daily_title
from notewell.workspace.layout import (
    LONG_TERM_NOTE,
    MEMORY_FOLDER,
    has_workspace_layout,
    long_term_note,
)
from notewell.writing import AppendResult, append_note, finish_notes
from notewell.zones import moment_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What became of a text that was to be remembered.

    Attributes:
        path: The note it stands in, relative to the workspace.
        start_line: Its first line there; if it stood there before, where.
        end_line: Its last line.
        written: Whether anything of it was new.
        repeated: How many of its blocks stood there already and were not repeated.
        indexed: Whether a search finds it from now on.
        warnings: Anything a person should know.
    """

    path: str
    start_line: int
    end_line: int
    written: bool
    repeated: int = 0
    indexed: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def citation(self) -> str:
        """`path#L<start>-L<end>`, or `path#L<n>`."""
        return citation_of(self.path, self.start_line, self.end_line)


async def remember(
    setup: Setup,
    text: str,
    *,
    long_term: bool,
    hides: Callable[[str], bool],
    index: Callable[[], Awaitable[IndexReport]],
) -> Remembered:
    """Write a text down and bring the index up to date, for about two seconds.

    Raises:
        UsageError, PathRefused, NoteNotWritten, ValueError: as `write_down`.
    """
    appended = await cancellable(
        write_down, setup, text, long_term=long_term, hides=hides
    )
    indexed, warnings = await indexed_now(index)
    return Remembered(
        path=appended.path,
        start_line=appended.start_line,
        end_line=appended.end_line,
        written=appended.written,
        repeated=appended.repeated,
        indexed=indexed,
        warnings=(*appended.finished, *warnings),
    )


def write_down(
    setup: Setup,
    text: str,
    *,
    long_term: bool,
    hides: Callable[[str], bool],
    now: datetime | None = None,
    stop: threading.Event | None = None,
) -> AppendResult:
    """Append a text to today's log, or to the long-term note.

    Raises:
        UsageError: memory is switched off, or the folder is no place to write to.
        PathRefused: the note is closed in this conversation, or no place for notes.
        NoteNotWritten: the disk refuses, or somebody else is writing for long.
        ValueError: the text is empty.
    """
    if not text.strip():
        raise ValueError("there is nothing to remember: the text is empty")
    check_writable(setup, long_term=long_term)
    root = str(setup.workspace.root)
    day = moment_in(setup.settings.user_timezone, now).date()
    path = long_term_note(root) if long_term else daily_note(setup.workspace, day)
    if hides(path):
        raise PathRefused(path, "denied in this conversation")
    return append_note(
        setup.workspace,
        path,
        text,
        state_dir=setup.settings.state_dir,
        title=None if long_term else daily_title(path, day),
        stop=stop,
    )


def check_writable(setup: Setup, *, long_term: bool = False) -> None:
    """Make sure that a note may be written into this workspace.

    Raises:
        UsageError: memory is switched off, or a folder that is read whole has not said
            where its daily notes go: `memory/` or `MEMORY.md` would hide the others.
    """
    if not setup.enabled:
        raise UsageError(
            f"memory is switched off for {setup.agent.id!r}: {setup.switch}",
            remedy="`notewell config` shows every switch",
        )
    workspace = setup.workspace
    if not _is_read_whole(workspace):
        return
    if long_term:
        raise UsageError(
            f"{workspace.root} is read whole; with {LONG_TERM_NOTE} in it, only that "
            "would be read",
            remedy="leave out --long-term, or make the file yourself if that is meant",
        )
    said = workspace.daily_notes
    if said is None or said.partition("/")[0] == MEMORY_FOLDER:
        form = daily_format(replace(workspace, daily_notes=None))
        raise UsageError(
            f"{workspace.root} is read whole, and nobody has said where in it daily "
            "notes are written",
            remedy=_line_to_set(setup, form),
        )


def _line_to_set(setup: Setup, form: DailyFormat | None) -> str:
    """Return the line that says where daily notes go, as they go now if that is known."""
    pattern = form.pattern if form else "Journal/YYYY-MM-DD"
    line = f'{{agents: {{defaults: {{memorySearch: {{dailyNotes: "{pattern}"}}}}}}}}'
    whose = f" (as in {form.origin})" if form else ", or another place"
    return f"write into {setup.settings.state_dir / OWN_NAME}: {line}{whose}"


def _is_read_whole(workspace: Workspace) -> bool:
    """Whether the folder holds notes and has not the layout of a workspace."""
    if has_workspace_layout(str(workspace.root)):
        return False
    own = Workspace(root=workspace.root)
    return bool(scan(own).notes)


def finished_texts(setup: Setup) -> tuple[str, ...]:
    """Finish the text of a writer that was killed; say what was done, or why not."""
    state_dir = setup.settings.state_dir
    try:
        return finish_notes(setup.workspace, state_dir=state_dir)
    except NoteNotWritten as error:
        return (f"{error.message}; a text waits to be finished there",)


async def indexed_now(
    index: Callable[[], Awaitable[IndexReport]],
) -> tuple[bool, tuple[str, ...]]:
    """Bring the index up to date; say if it is, and what a person should know."""
    try:
        report = await index()
    except BackendError as error:
        return False, sentences(error)
    if not report.pending:
        return True, ()
    said = f"{report.pending:,} notes wait to be indexed; run `notewell index`"
    return False, (said,)
