"""Which passages of an index a question may be answered with, said to SQLite.

What may not be seen, and what the caller's filter leaves out, is left out before the best
are chosen. A filter that leaves little is put first: only its passages are weighed. One
that leaves much is held against the best ones, and more of these are taken until there are
enough; the answer is the same.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

import apsw

from notewell.backends.builtin.store import Snapshot
from notewell.backends.text.filtering import (
    FilterTest,
    WantedProperty,
    filter_warnings,
    phrase_words,
)
from notewell.backends.text.scoring import quoted
from notewell.filters import Filter, literal_runs

_NARROW: Final = 0.1
"""The share of the files that a filter leaves at most to be put first."""

_FEW_FILES: Final = 200
"""Up to as many files are few, whatever their share."""

_PATH_TEST: Final = "notewell_path"
_TEXT_TEST: Final = "notewell_text"

_MOST_AT_ONCE: Final = 5_000
"""Passages among which those of a wide filter are looked for."""


class ChosenPassages:
    """The passages that a filter lets pass, in one generation of an index.

    Attributes:
        condition: What has to hold of a file `f` and its chunk `c`.
        narrow: It leaves so few that they are looked at first.
        text: Says of a text whether the phrases let it pass.
    """

    def __init__(self, index: Snapshot, chosen: Filter, *, spoken: bool) -> None:
        self._index = index
        self._chosen = chosen
        self._spoken = spoken
        self._test = FilterTest(chosen)
        self.text = self._test.text
        self._define_functions()
        words = dict.fromkeys(phrase_words(chosen.phrases))
        self._words = " AND ".join(map(quoted, words))
        files: int = index.store.one(f"select count(*) from {index.tables.files}") or 0
        left = self._count()
        self._share = max(1, left) / max(1, files)
        self.narrow = left <= max(_FEW_FILES, _NARROW * files)
        self._of_notes = " and ".join(
            [*self._days(), *self._paths(), *self._properties()]
        )
        if self._of_notes and not spoken and left <= _MOST_AT_ONCE and self.narrow:
            self._of_notes = f"f.id in ({self._files()})"  # looked for once
        text = [f"{_TEXT_TEST}(c.text)"] if self.text else []
        self.condition = " and ".join(filter(None, [self._of_notes, *text])) or "true"

    @property
    def chunks(self) -> str:
        """The SQL that gives the ids of its passages, phrases apart."""
        tables = self._index.tables
        return (
            f"select c.id from {tables.files} as f cross join {tables.chunks} as c"
            f" on c.file_id = f.id where {self._of_notes or 'true'}"
        )

    @property
    def put_first(self) -> str:
        """Further terms of a `where` over the full-text index."""
        tables = self._index.tables
        terms = f" and +{tables.fts}.rowid in ({self.chunks})" if self._of_notes else ""
        if not self.text:
            return terms
        text = (
            f"select c.text from {tables.chunks} as c where c.id = {tables.fts}.rowid"
        )
        return f"{terms} and {_TEXT_TEST}(({text}))"

    def with_words(self, expression: str) -> str:
        """Return an FTS5 query narrowed to what holds the words of the phrases."""
        return f"({expression}) AND {self._words}" if self._words else expression

    def enough(self, limit: int) -> int:
        """Return how many of the best to take for about `limit` of them to pass."""
        return min(max(limit, _MOST_AT_ONCE), round(2 * limit / self._share))

    def newest(self, limit: int) -> list[int]:
        """Return the newest chunks that pass, at most `limit`; of a day by path and line."""
        files, chunks = self._index.tables.files, self._index.tables.chunks
        rows = self._index.store.rows(
            f"select c.id from {files} as f cross join {chunks} as c"
            f" on c.file_id = f.id where {self._with_index()}"
            f" order by {self._day} desc, f.path, c.start_line, c.id limit ?",
            limit,
        )
        return [key for (key,) in rows]

    def warnings(self, visible: Callable[[str], bool]) -> tuple[str, ...]:
        """Say which part of the filter left nothing, if one did.

        Args:
            visible: Says of a path whether it may be seen.
        """

        def passes(part: Filter) -> bool:
            chosen = ChosenPassages(self._index, part, spoken=self._spoken)
            return any(map(visible, chosen.paths()))

        said = filter_warnings(self._chosen, passes)
        self._define_functions()
        return said

    def paths(self) -> list[str]:
        """Return the paths of which a passage passes."""
        files, chunks = self._index.tables.files, self._index.tables.chunks
        rows = self._index.store.rows(
            f"select f.path from {files} as f where exists (select 1 from {chunks} as c"
            f" where c.file_id = f.id and {self._with_index()})"
        )
        return [path for (path,) in rows]

    def _with_index(self) -> str:
        """Return the condition, with what the full-text index says of phrases first."""
        if not self._words:
            return self.condition
        fts = self._index.tables.fts
        held = f"select rowid from {fts} where {fts} match {_literal(self._words)}"
        return f"c.id in ({held}) and {self.condition}"

    def _define_functions(self) -> None:
        """Make functions of SQL of the tests of paths and texts."""
        path, text = self._test.path, self.text
        define = self._index.store.connection.create_scalar_function
        define(_PATH_TEST, lambda *read: path(str(*read)), 1, deterministic=True)
        define(_TEXT_TEST, lambda *read: text(str(*read)), 1, deterministic=True)

    def _files(self) -> str:
        """Return the ids of the files that pass."""
        rows = self._index.store.rows(
            f"select f.id from {self._index.tables.files} as f where {self._of_notes}"
        )
        return ",".join(str(key) for (key,) in rows)

    def _count(self) -> int:
        """Return an upper bound of the number of files that pass."""
        conditions = ["true", *self._likely_paths(), *self._properties()]
        if not self._spoken:  # what was said has many days
            conditions += self._days()
        counted: int = self._index.store.one(
            f"select count(*) from {self._index.tables.files} as f"
            f" where {' and '.join(conditions)}"
        )
        return counted

    def _days(self) -> Iterator[str]:
        if since := self._chosen.since:
            yield f"{self._day} >= '{since.isoformat()}'"
        if until := self._chosen.until:
            yield f"{self._day} <= '{until.isoformat()}'"

    @property
    def _day(self) -> str:
        """The SQL of a passage's day: of a transcript, when its beginning was said."""
        if not self._spoken:
            return "f.day"
        return (
            f"iif(f.id in (select file_id from {self._index.tables.transcripts})"
            f" and c.heading glob '{_ISO_DAY}', c.heading, f.day)"
        )

    def _paths(self) -> Iterator[str]:
        if self._chosen.paths or self._chosen.exclude:
            yield from self._likely_paths()
            yield f"{_PATH_TEST}(f.path)"

    def _likely_paths(self) -> Iterator[str]:
        """Yield conditions that are cheap, and true of every path that passes."""
        if self._chosen.paths:
            likely = [
                f"f.path like {_literal(_like(glob))} escape '\\'"
                for glob in self._chosen.paths
            ]
            yield f"({' or '.join([*likely, _BEYOND_ASCII])})"

    def _properties(self) -> Iterator[str]:
        table = self._index.tables.properties
        for one in self._test.wanted:
            yield f"f.id in (select file_id from {table} where {_property(one)})"


_ISO_DAY: Final = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"

_BEYOND_ASCII: Final = "f.path glob '*[^ -~]*'"
"""Paths in which other letters are the same when case does not count."""


def _property(wanted: WantedProperty) -> str:
    values = ", ".join(map(_literal, wanted.values))
    condition = f"value in ({values})"
    if wanted.first:
        span = f"value between {_literal(wanted.first)} and {_literal(wanted.last)}"
        condition = f"({condition} or {span})"
    return f"key = {_literal(wanted.key)} and {condition}"


def _like(glob: str) -> str:
    """Return a pattern of `like` that holds of every ASCII path that a glob means."""
    runs = [re.sub(r"([\\%_])", r"\\\1", run) for run in literal_runs(glob) if run]
    return f"%{'%'.join(runs)}%"


def _literal(text: str) -> str:
    return apsw.format_sql_value(text)
