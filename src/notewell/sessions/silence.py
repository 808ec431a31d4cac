"""The words with which an agent says nothing, and taking them out of what it says."""

import re
from typing import Final

NO_REPLY: Final = "NO_REPLY"
"""What an agent answers to say nothing; the user never sees such an answer."""

_BEGINS: Final = re.compile(
    r"[\s*_`\"'(\[]*(?:NO_REPLY|HEARTBEAT_OK)(?![A-Za-z0-9_])", re.IGNORECASE
)
_ENDS: Final = re.compile(
    r"[\s*_`\"'(\[]*\b(?:NO_REPLY|HEARTBEAT_OK)[\s*_`\"').\]!]*\Z", re.IGNORECASE
)


def without_silence(text: str) -> str:
    """Return what an agent says besides the words that say nothing.

    A first or last line that begins with such a word is dropped whole: what follows
    there explains only why nothing is said.

    >>> without_silence("NO_REPLY"), without_silence("- a\\n\\nNO_REPLY")
    ('', '- a')
    """
    lines = text.split("\n")
    while lines and _says_nothing(lines[0]):
        lines.pop(0)
    while lines and _says_nothing(lines[-1]):
        lines.pop()
    if lines:
        lines[-1] = _ENDS.sub("", lines[-1])
    return "\n".join(lines)


def _says_nothing(line: str) -> bool:
    return not line.strip() or _BEGINS.match(line) is not None
