"""Counts of transcripts, as every engine tells them."""

from collections.abc import Sequence
from typing import Final

_SHOWN: Final = 3


def with_silent(counted: str, silent: Sequence[str]) -> str:
    """Add to a count the transcripts in which there is nothing to search.

    >>> with_silent("2 with 9 passages", ["sessions/a.jsonl"])
    '2 with 9 passages; nothing to search in sessions/a.jsonl'
    """
    if not silent:
        return counted
    names = ", ".join(silent[:_SHOWN])
    left = len(silent) - _SHOWN
    more = f" and {left:,} more" if left > 0 else ""
    return f"{counted}; nothing to search in {names}{more}"
