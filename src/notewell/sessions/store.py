"""OpenClaw's `sessions.json`: which conversation has which transcript. Only read."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from notewell.foreign import read_json, read_member, read_names
from notewell.workspace.notes import read_regular

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
