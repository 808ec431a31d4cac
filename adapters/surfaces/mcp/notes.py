"""Notes as resources: `memory:` and the path, as in a search result."""

from typing import Final
from urllib.parse import quote, unquote

from notewell.backends.blocking import off_the_loop
from notewell.errors import UsageError
from notewell.memory import Memory
from notewell.workspace import scan

SCHEME: Final = "memory:"
TEMPLATE: Final = "memory:{+path}"
MOST_CHARS: Final = 200_000
"""Characters of a note that a resource may have; memory_get reads parts of any."""


async def note_paths(memory: Memory) -> list[str]:
    """Return the notes that this conversation may see, by path."""
    if not memory.enabled:
        return []
    found = await off_the_loop(scan, memory.workspace)
    return [
        note.path
        for note in found.notes
        if not memory.hides(note.path) and not memory.leaves_out(note.path)
    ]


def uri_of(path: str) -> str:
    """Return the address of a note.

    >>> uri_of("memory/京都.md")
    'memory:memory/%E4%BA%AC%E9%83%BD.md'
    """
    return SCHEME + quote(path)


async def note_text(memory: Memory, uri: str) -> str:
    """Return the whole text of a note.

    Raises:
        UsageError: it is no address of a note, or the note is too long.
        PathRefused: not a note of this workspace, or closed in this conversation.
    """
    path = unquote(uri.removeprefix(SCHEME))
    if not uri.startswith(SCHEME) or not path:
        raise UsageError(
            "that is no address of a note",
            remedy=f"it looks like {uri_of('MEMORY.md')}",
        )
    found = await memory.get(path, max_chars=MOST_CHARS)
    if not found.found:
        raise UsageError(
            f"there is no note {path!r}", remedy="list the resources, or search"
        )
    if found.truncated:
        raise UsageError(
            f"{path!r} has more than {MOST_CHARS:,} characters",
            remedy="read parts of it with memory_get",
        )
    return found.text
