"""Which transcripts an agent has: those that grow, and those that were set aside.

<id>.jsonl                    the session that goes on
<id>.jsonl.reset.<time>       set aside when the conversation began anew
<id>.jsonl.deleted.<time>     set aside when somebody deleted it: read on request
<id>.jsonl.bak.<time>, <id>.checkpoint.<uuid>.jsonl, <id>.trajectory.jsonl
                              copies of what others hold: never read
sessions.json                 which conversation has which transcript: only read
"""

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias, cast

from notewell.files import read_regular
from notewell.foreign import read_json, read_member, read_names
from notewell.types import Skipped
from notewell.workspace.layout import is_markdown, is_valid_name, nanoseconds, show_name

TranscriptKind: TypeAlias = Literal["live", "reset", "deleted"]
_ARCHIVE: Final = re.compile(r"(?s)(.+)\.jsonl\.(reset|deleted)\.(.+)\Z")

_COPY: Final = re.compile(
    r"(?s).+(?:\.jsonl\.bak\..+|\.checkpoint\.[0-9a-fA-F-]{36}\.jsonl"
    r"|\.trajectory\.jsonl)\Z"
)

_PACKED: Final = (".zst", ".gz")
STORE_FILE: Final = "sessions.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEntry:
    """What OpenClaw notes of one conversation.

    Attributes:
        key: The session key, such as `agent:main:main`.
        session_id: The session that goes on under this key now; None if not said.
        file: The name of its transcript; None if not said.
        compactions: How often the conversation has been compacted.
        tokens: Tokens in its context, as last counted; None when nobody counted, or
            the count is known to be out of date.
        context_window: Tokens that fit; None if not said.
    """

    key: str
    session_id: str | None = None
    file: str | None = None
    compactions: int = 0
    tokens: int | None = None
    context_window: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """One file of a conversation.

    Attributes:
        path: As citations show it, `sessions/<file>`.
        file: The absolute path to open.
        session_id: The session.
        kind: Whether it grows, or how it was set aside.
        session_key: The conversation; None when `sessions.json` does not know it, as
            is usual for what was set aside long ago.
        size: In bytes.
        mtime_ns: Its last change.
    """

    path: str
    file: str
    session_id: str
    kind: TranscriptKind
    session_key: str | None
    size: int
    mtime_ns: int


class Transcripts(NamedTuple):
    """What was found in an agent's folder, both sorted by path.

    Attributes:
        found: The transcripts.
        skipped: What is left out.
    """

    found: tuple[Transcript, ...]
    skipped: tuple[Skipped, ...]

    def closed(self, path: str) -> bool:
        """Whether a transcript, or the folder it was in, is there and cannot be read now."""
        return any(
            each.reason == "unreadable"
            and (path == each.path or path.startswith(f"{each.path}/"))
            for each in self.skipped
        )


def list_transcripts(
    state_dir: Path, agent: str, *, deleted: bool = False
) -> Transcripts:
    """Find the transcripts of one agent, never those of another.

    Never raises for what is on the disk: what cannot be read is in `skipped`.

    Args:
        state_dir: `<state>`.
        agent: The agent's id.
        deleted: Also those of deleted sessions.
    """
    folder = sessions_folder(Path(os.path.realpath(state_dir)), agent)
    # A link could lead to the folder of another agent.
    if os.path.realpath(folder) != str(folder):
        detail = "symbolic links are not followed"
        return Transcripts(
            (), (Skipped(path="sessions", reason="symlink", detail=detail),)
        )
    listing = _Listing(read_store(folder))
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                listing.look_at(entry, deleted=deleted)
    except (FileNotFoundError, NotADirectoryError):
        return Transcripts((), ())
    except OSError as exc:
        listing.skip("", "unreadable", exc.strerror or "cannot be read")
    return listing.sorted()


def session_of(name: str) -> tuple[str, TranscriptKind] | None:
    """Return the session and the kind that a file's name stands for, or None.

    >>> session_of("4f2a.jsonl.reset.2026-01-01T04-00-00.000Z")
    ('4f2a', 'reset')
    """
    if name[:1] == "." or _COPY.match(name) or is_markdown(name):
        return None
    archive = _ARCHIVE.match(name)
    if archive:
        return archive[1], "reset" if archive[2] == "reset" else "deleted"
    stem = name.removesuffix(".jsonl")
    return (stem, "live") if stem not in ("", name) else None


class _Listing:
    """Collects what is in a folder."""

    def __init__(self, store: Mapping[str, SessionEntry]) -> None:
        self._found: list[Transcript] = []
        self._skipped: list[Skipped] = []
        self._keys = {entry.file: key for key, entry in store.items() if entry.file}
        self._keys |= {
            entry.session_id: key for key, entry in store.items() if entry.session_id
        }

    def look_at(self, entry: os.DirEntry[str], *, deleted: bool) -> None:
        """Take an entry of the folder for what it is."""
        meant = session_of(entry.name)
        if meant is None or (meant[1] == "deleted" and not deleted):
            return
        if not is_valid_name(entry.name):
            self.skip(entry.name, "bad-name", "the name is not valid UTF-8")
        elif entry.name.endswith(_PACKED):
            self.skip(entry.name, "ignored", "packed archives are not read")
        elif entry.is_symlink():
            self.skip(entry.name, "symlink", "a symbolic link, it is not followed")
        else:
            self._take(entry, *meant)

    def skip(self, name: str, reason: str, detail: str) -> None:
        """Remember what is left out."""
        path = f"sessions/{show_name(name)}".rstrip("/")
        self._skipped.append(Skipped(path=path, reason=reason, detail=detail))

    def sorted(self) -> Transcripts:
        """Return everything in the order of the paths."""
        found = sorted(self._found, key=lambda each: each.path)
        skipped = sorted(self._skipped, key=lambda each: each.path)
        return Transcripts(tuple(found), tuple(skipped))

    def _take(
        self, entry: os.DirEntry[str], session_id: str, kind: TranscriptKind
    ) -> None:
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            return  # it has vanished since it was listed
        if not stat.S_ISREG(found.st_mode):
            self.skip(entry.name, "not-a-file", "not a regular file")
            return
        key = self._keys.get(entry.name) or self._keys.get(session_id)
        transcript = Transcript(
            path=f"sessions/{entry.name}",
            file=entry.path,
            session_id=session_id,
            kind=kind,
            session_key=key,
            size=found.st_size,
            mtime_ns=nanoseconds(found.st_mtime_ns),
        )
        self._found.append(transcript)


def sessions_folder(state_dir: Path, agent: str) -> Path:
    """Return where an agent's transcripts are."""
    return state_dir / "agents" / agent / "sessions"


def read_store(folder: Path) -> Mapping[str, SessionEntry]:
    """Return the conversations that `sessions.json` in a folder knows, by key.

    Empty when there is no such file, or when it cannot be read: newer versions of
    OpenClaw keep this elsewhere.
    """
    try:
        store = read_json(read_regular(folder / STORE_FILE, below_links=True))
    except (OSError, ValueError):
        return {}
    return {key: _entry(key, read_member(store, key)) for key in read_names(store)}


def _entry(key: str, raw: object) -> SessionEntry:
    file = _text(read_member(raw, "sessionFile"))
    fresh = read_member(raw, "totalTokensFresh") is not False
    return SessionEntry(
        key=key,
        session_id=_text(read_member(raw, "sessionId")),
        file=os.path.basename(file) if file else None,
        compactions=_count(read_member(raw, "compactionCount")) or 0,
        tokens=_count(read_member(raw, "totalTokens")) if fresh else None,
        context_window=_count(read_member(raw, "contextTokens")),
    )


def _text(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _count(value: object) -> int | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= cast("float", value) < 2**53:
        return None
    return int(cast("float", value))
