"""Which notes of a space a question may be answered with: visible, and let pass by its filter.

The rows of notes are read for it only where a question has a filter, or hides much. The
server is then told whose passages are wanted.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from notewell.backends.base import Query
from notewell.backends.remote.records import properties_of, recorded_day
from notewell.backends.remote.store import (
    ANYWHERE,
    Among,
    NoteRecord,
    SpaceSnapshot,
)
from notewell.backends.text.filtering import FilterTest, filter_warnings
from notewell.backends.text.query import filter_test_of
from notewell.filters import Filter

NOTHING: Final = Among(only=frozenset())


class SpaceNotes:
    """The notes of a space, for one question.

    Attributes:
        holdings: Those that are live, by owner.
        test: What the filter lets pass; None: everything.
    """

    def __init__(self, space: SpaceSnapshot, query: Query) -> None:
        self._space = space
        self._query = query
        self.holdings = [each for each in space.holdings() if each.live is not None]
        self.test = filter_test_of(query)

    def visible(self, path: str) -> bool:
        """Whether passages of a note may be shown."""
        return "memory" in self._query.sources and not self._query.hides(path)

    @cached_property
    def among(self) -> Among:
        """Whose passages are wanted."""
        if "memory" not in self._query.sources:
            return NOTHING
        if self.test is None and not self._query.hides_many:
            return ANYWHERE
        return Among(only=frozenset(each.id for each in self._passing()))

    def newest(self) -> list[NoteRecord]:
        """Return the notes that pass, the newest first; of a day by path."""
        by_path = sorted(self._passing(), key=lambda each: each.path)
        return sorted(by_path, key=lambda each: each.day or "", reverse=True)

    def warnings(self) -> tuple[str, ...]:
        """Say which part of the filter left nothing, if one did."""
        if self._query.filter is None or not self._query.filter.narrows:
            return ()
        return filter_warnings(self._query.filter, self._any_passes)

    def _any_passes(self, part: Filter) -> bool:
        test = FilterTest(part)
        notes = [each for each in self._seen if _passes(each, test)]
        if not test.text:
            return bool(notes)
        found = self._space.passages_of([each.id for each in notes])
        return any(test.text(each.text) for each in found)

    def _passing(self) -> Sequence[NoteRecord]:
        test = self.test
        return [each for each in self._seen if test is None or _passes(each, test)]

    @cached_property
    def _seen(self) -> list[NoteRecord]:
        return [each for each in self._space.notes() if self.visible(each.path)]


def _passes(note: NoteRecord, test: FilterTest) -> bool:
    if not test.path(note.path) or not test.day(recorded_day(note)):
        return False
    properties = properties_of(note) if test.wanted else ()
    return all(one.is_in(properties) for one in test.wanted)
