"""How many texts go into one request: published limits, and what refusals teach."""

import threading
from collections.abc import Sequence
from typing import Final

from notewell.adapters.embeddings.dialect import Limits

_STREAK: Final = 8
_LONGEST_STREAK: Final = 256


class Portions:
    """The size of the next request. Safe to share between threads.

    A server may hold fewer texts than published, and words its refusals as it likes.
    So the size that worked is kept, and twice as many are tried only after a
    streak of successes, which grows each time that fails.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._size = limits.items
        self._streak = 0
        self._wanted = _STREAK
        self._lock = threading.Lock()

    def next(self, texts: Sequence[str], start: int) -> range:
        """Return which texts, from `start` on, go into the next request."""
        end = start
        tokens = 0
        while end < len(texts) and end - start < self._size:
            tokens += _tokens(texts[end])
            if end > start and tokens > self._limits.tokens:
                break
            end += 1
        return range(start, end)

    def learn(self, *, largest: int, refused: bool) -> None:
        """Remember how a request went.

        Args:
            largest: The most texts that were answered at once; 0 if none were.
            refused: More texts than that were refused.
        """
        with self._lock:
            if refused:
                self._size = max(1, largest)
                self._streak = 0
                self._wanted = min(2 * self._wanted, _LONGEST_STREAK)
            elif largest == self._size < self._limits.items:
                self._streak += 1
                if self._streak >= self._wanted:
                    self._size = min(2 * self._size, self._limits.items)
                    self._streak = 0


def _tokens(text: str) -> int:
    """Estimate generously: four bytes of English are a token, three of Chinese."""
    return len(text.encode("utf-8", "replace")) // 3 + 1
