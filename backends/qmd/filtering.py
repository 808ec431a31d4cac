"""Filters where QMD searches: what it found is held against them before the best are taken.

QMD cannot be asked for days, tags or phrases. Where its list was cut off and too little of
it passes, the notes that may pass are read themselves, as long as there is time; an answer
for which there was too little says so.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeVar

from notewell.backends.base import Query
from notewell.backends.qmd.client import Deadline
from notewell.backends.qmd.paths import NotePassages, NotePaths
from notewell.backends.qmd.transcripts import TranscriptPassages, cited_lines
from notewell.backends.text.analysis import terms_of
from notewell.backends.text.filtering import (
    FilterTest,
    any_passes,
    filter_warnings,
)
from notewell.backends.text.listing import (
    group_copies,
    listed_hit,
    newest_first,
    score_newest,
)
from notewell.backends.text.passages import Passage
from notewell.backends.text.query import QueryTerm
from notewell.dates import day_in_name
from notewell.filters import Filter
from notewell.types import Hit, source_of

_Each = TypeVar("_Each")

_KEPT_BACK: Final = 0.25
"""Seconds of the time limit that are left for what follows the reading."""

_TOO_LATE: Final = (
    "Not all notes that the filter may let pass could be read within"
    " memory.qmd.limits.timeoutMs; there may be more."
)


class ChosenNotes:
    """The notes that the filter of one question lets pass.

    Attributes:
        late: There was no time to read all that may pass.
    """

    def __init__(
        self,
        query: Query,
        test: FilterTest,
        *,
        names: NotePaths,
        notes: NotePassages,
        transcripts: TranscriptPassages,
    ) -> None:
        self._query = query
        self._test = test
        self._names = names
        self._notes = notes
        self._transcripts = transcripts
        self._passing: dict[str, bool] = {}
        self.late = False

    def passes(self, passage: Passage) -> bool:
        """Whether a passage passes; its note is looked at once."""
        path = passage.path
        if source_of(path) == "sessions":
            passes = self._test.spoken(path, passage.written)
        else:
            passes = self._passes(path)
        return passes and self._test.text(passage.text)

    def collections(self, names: Sequence[str]) -> Sequence[str]:
        """Return those collections in which there may be a path that passes."""
        if len(names) < 2 or not self._query.filter or not self._query.filter.paths:
            return names
        held = self._names.collections_of(self._paths())
        others = set(names) - self._names.of_notes
        return [name for name in names if name in held or name in others] or names

    def passages(
        self, query_terms: Iterable[QueryTerm], deadline: Deadline
    ) -> list[Passage]:
        """Return the passages that pass and hold something of a question."""
        terms = {term for query_term in query_terms for term in query_term.terms()}
        return [
            passage
            for path in self._in_time(self._paths(), deadline)
            if self._passes(path)
            for passage in self._notes.passages_at(path, self._names.locator)
            if not terms.isdisjoint(terms_of(f"{passage.beside} {passage.text}"))
        ]

    def newest(self, deadline: Deadline) -> list[Hit]:
        """Return the newest passages that pass, as hits."""
        found = [
            passage
            for path in self._in_time(self._paths(), deadline)
            if self._passes(path)
            for passage in self._notes.passages_at(path, self._names.locator)
        ]
        if "sessions" in self._query.sources:
            found += self._transcripts.every()
        chosen = newest_first(each for each in found if self.passes(each))
        listed = score_newest(chosen, self._test.text)
        return [
            listed_hit(
                group,
                [cited_lines(one.passage, one.match_line) for one in group],
                self._query.snippet_chars,
            )
            for group in group_copies(listed)[: self._query.limit]
        ]

    def warnings(self, hits: Sequence[Hit], deadline: Deadline) -> tuple[str, ...]:
        """Say what an answer with these hits may lack, and what left it without any."""
        if len(hits) >= self._query.limit:
            return ()
        if self.late:
            return (_TOO_LATE,)
        if hits:
            return ()

        def passes(part: Filter) -> bool:
            test = FilterTest(part)
            paths = filter(test.path, self._paths(everything=True))
            read = (self._notes.note_at(path, self._names.locator) for path in paths)
            in_time = self._in_time(read, deadline)
            return any_passes(part, (note for note in in_time if note)) or any(
                test.spoken(each.path, each.written) and test.text(each.text)
                for each in self._spoken()
            )

        said = filter_warnings(self._test.chosen, passes)
        return () if self.late else said

    def _spoken(self) -> Iterator[Passage]:
        if "sessions" in self._query.sources:
            yield from self._transcripts.every()

    def _passes(self, path: str) -> bool:
        if path not in self._passing:
            self._passing[path] = self._note_passes(path)
        return self._passing[path]

    def _note_passes(self, path: str) -> bool:
        if not self._test.path(path):
            return False
        if not self._test.wants_metadata:
            return True
        named = day_in_name(path)
        if named is not None and not self._test.day(named):
            return False
        note = self._notes.note_at(path, self._names.locator)
        return note is not None and self._test.note(*note)

    def _paths(self, *, everything: bool = False) -> list[str]:
        """Return the paths of the notes that may pass, by their paths alone."""
        if "memory" not in self._query.sources:
            return []
        return [
            path
            for path in self._names.known()
            if not self._query.hides(path) and (everything or self._test.path(path))
        ]

    def _in_time(
        self, several: "Iterable[_Each]", deadline: Deadline
    ) -> "Iterator[_Each]":
        for each in several:
            if deadline.left < _KEPT_BACK:
                self.late = True
                return
            yield each
