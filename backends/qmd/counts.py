"""How many documents hold something: what QMD's own full-text index says.

QMD tells of no word how rare it is, and what it names is chosen by the very words that
are to be weighed. So its index is asked, reading only, in the form in which QMD asks it.
A version that keeps it otherwise gives no counts.
"""

import re
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import apsw

_PATIENCE_MS: Final = 200
_PARTS: Final = re.compile(r'"([^"]*)"|(\S+)')
_BY_CHARACTER: Final = re.compile(
    "[\u2e80-\u2fd5\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb\uff66-\uff9d"
    "\U00020000-\U0003ffff]"
)
"""Han, kana and Hangul, of which QMD takes each character as a word since 2.5."""


class Counts:
    """Counts of one index, each made once. Open while a question is being read."""

    def __init__(self, database: Path, *, by_character: bool) -> None:
        """Take QMD's file.

        Args:
            by_character: Runs without spaces are kept character by character.
        """
        self._database = database
        self._by_character = by_character
        self._connection: apsw.Connection | None = None
        self._known: dict[tuple[str, int], int] = {}

    def __enter__(self) -> Self:
        try:
            self._connection = apsw.Connection(
                str(self._database), flags=apsw.SQLITE_OPEN_READONLY
            )
            self._connection.set_busy_timeout(_PATIENCE_MS)
            self.of("a")
        except apsw.Error:
            self.__exit__(None, None, None)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    @property
    def are_there(self) -> bool:
        """Whether the index can be asked."""
        return self._connection is not None

    def of(self, search: str, most: int = -1) -> int:
        """Return how many documents a search finds, counting no further than `most`."""
        if self._connection is None:
            return 0
        known = self._known.get((search, most))
        if known is None:
            found = self._connection.execute(
                "select count(*) from (select 1 from documents_fts"
                " where documents_fts match ? limit ?)",
                (self._expression(search), most),
            ).get
            known = self._known[search, most] = int(found or 0)
        return known

    def _expression(self, search: str) -> str:
        """Return a search as QMD would put it: beginnings of words, and phrases."""
        return " AND ".join(
            self._term(phrase or word, is_word=bool(word))
            for phrase, word in _PARTS.findall(search)
        )

    def _term(self, text: str, *, is_word: bool) -> str:
        if self._by_character:
            text, found = _BY_CHARACTER.subn(r" \g<0> ", text)
            is_word = is_word and not found
        is_word = is_word and "-" not in text
        return f'"{" ".join(text.split())}"{"*" if is_word else ""}'


def can_be_cut(text: str) -> bool:
    """Whether QMD finds any part of a run of this script, and not its beginning alone.

    >>> can_be_cut("数据库"), can_be_cut("ไทย")
    (True, False)
    """
    return all(map(_BY_CHARACTER.match, text))
