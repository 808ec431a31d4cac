"""Which conversation a client speaks for, and the memory as that one sees it."""

import asyncio
from collections.abc import Mapping
from typing import Final

from notewell.errors import UsageError
from notewell.memory import Memory
from notewell.scope import ChatType, chat_type

KEY_HEADER: Final = "notewell-session-key"
TYPE_HEADER: Final = "notewell-chat-type"
_TYPES: Final = ("direct", "group", "channel")


class Conversations:
    """One memory for all clients, opened when the first of them needs it."""

    def __init__(self, memory: Memory) -> None:
        """Serve a memory that is not open yet.

        Its own conversation, if it has one, holds for all clients.
        """
        self._memory = memory
        self._opening = asyncio.Lock()
        self._open = False

    async def of(self, headers: Mapping[str, str]) -> Memory:
        """Return the memory as the client sees it that sent these headers.

        Raises:
            UsageError: the headers name another conversation than the server's own,
                or no kind of chat.
            BackendUnknown: no backend has the configured name.
        """
        async with self._opening:
            if not self._open:
                await self._memory.open()
                self._open = True
        own = self._memory.session_key
        asked = conversation_key(headers.get(KEY_HEADER), headers.get(TYPE_HEADER))
        if own is None:
            return self._memory if asked is None else self._memory.seen_from(asked)
        if asked not in (None, own):
            raise UsageError(
                "this server speaks for one conversation only",
                remedy=f"leave out the headers {KEY_HEADER} and {TYPE_HEADER}",
            )
        return self._memory

    async def close(self) -> None:
        """Close the memory, and end what goes on in the background."""
        await self._memory.close()


def conversation_key(session_key: str | None, kind: str | None) -> str | None:
    """Return the session key of a conversation of which the kind of chat is known.

    A kind only ever narrows: a key that names a group is never a direct chat.

    >>> conversation_key(None, "group")
    'mcp:group'
    >>> conversation_key("agent:main:telegram:group:42", "direct")
    'agent:main:telegram:group:42'

    Raises:
        UsageError: there is no such kind.
    """
    if kind is not None and kind not in _TYPES:
        known = ", ".join(_TYPES)
        raise UsageError(
            f"there is no chat type {kind!r}", remedy=f"use one of: {known}"
        )
    shared: frozenset[ChatType] = frozenset({"group", "channel"})
    if kind not in shared or chat_type(session_key) in shared:
        return session_key or None
    return f"{session_key or 'mcp'}:{kind}"
