"""Who may see what: in a shared conversation the personal notes stay closed."""

import posixpath
import unicodedata
from typing import Final, Literal, TypeAlias

ChatType: TypeAlias = Literal["direct", "group", "channel"]
ConversationKind: TypeAlias = Literal["main", "direct", "group", "channel"]

# What the owner of a folder is like, not what the work is about.
_PERSONAL_NOTES: Final = frozenset({"memory.md", "user.md", "dreams.md"})


def chat_type(session_key: str | None) -> ChatType:
    """What kind of conversation a session key names.

    No key, or an empty one, is the owner's own direct session, as on the command line.

    >>> chat_type("agent:main:telegram:group:-100200")
    'group'
    """
    # With the colons added, a key that begins or ends with the word is shared, too.
    key = f":{session_key or ''}:".lower()
    if ":group:" in key:
        return "group"
    return "channel" if ":channel:" in key else "direct"


def conversation_kind(session_key: str | None) -> ConversationKind:
    """What kind of conversation it is, and whether it is the owner's main session.

    A direct chat that has a key of its own may be with anybody, so it is not `main`.

    >>> conversation_kind("agent:main:main"), conversation_kind("agent:main:dm:42")
    ('main', 'direct')
    """
    kind = chat_type(session_key)
    parts = (session_key or "main").lower().split(":")
    is_main = parts == ["main"] or (
        len(parts) == 3 and parts[0] == "agent" and parts[2] == "main"
    )
    return "main" if is_main and kind == "direct" else kind


def is_hidden(path: str, session_key: str | None) -> bool:
    """Whether nobody in this conversation may see `path`, however it is spelled.

    The personal notes lie in the root of a workspace. Any folder outside this one may
    be the root of another; inside, `memory/user.md` is a note like others.

    Args:
        path: Relative to the workspace, as in a hit.
        session_key: The conversation.
    """
    if chat_type(session_key) == "direct":
        return False
    folder, name = posixpath.split(posixpath.normpath(path.replace("\\", "/")))
    if folder and not f"{folder}/".startswith(("../", "/")):
        return False
    return unicodedata.normalize("NFKC", name).casefold() in _PERSONAL_NOTES
