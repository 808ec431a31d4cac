"""The vectors of an index beside its words, for one question. See `VectorLeg`."""

import json
from collections.abc import Mapping, Sequence

from notewell.backends.builtin.lexical import PassageFilter, read_passages
from notewell.backends.builtin.store import Snapshot
from notewell.backends.builtin.vectors.calibration import script_of
from notewell.backends.builtin.vectors.nearest import Neighbour, VectorSearch
from notewell.backends.builtin.vectors.outcome import QueryVector
from notewell.backends.builtin.vectors.sets import answering_set, missing_now
from notewell.backends.text.passages import COLUMNS, Passage
from notewell.backends.text.windows import Window
from notewell.backends.weighing.index import Near
from notewell.types import Fallback


def vector_leg(
    index: Snapshot, text: str, vector: QueryVector, visible: PassageFilter
) -> "IndexedVectors | None":
    """Return what compares an index with a question's vector; None: no set answers.

    Args:
        index: Which one.
        text: The question.
        vector: Its vector.
        visible: What may be shown, and is wanted.
    """
    if vector.vector is None or vector.identity is None or vector.neighbours is None:
        return None
    kept = answering_set(index.store, index.tables, vector.identity, vector.cut)
    if kept is None:
        return None  # it was there a moment ago; somebody has begun anew
    lacking = missing_now(index.store, index.tables, kept)
    search = vector.neighbours.search(index.store, index.tables, kept, vector.vector)
    return IndexedVectors(index, text, search, visible, lacking)


class IndexedVectors:
    """One set of vectors and one question.

    Attributes:
        script: In which most of the question is written.
        lacking: How many texts wait for a vector.
    """

    def __init__(
        self,
        index: Snapshot,
        text: str,
        search: VectorSearch,
        visible: PassageFilter,
        lacking: int,
    ) -> None:
        self._index = index
        self.script = script_of(text)
        self._search = search
        self._visible = visible
        self.lacking = lacking

    @property
    def fallbacks(self) -> tuple[Fallback, ...]:
        """Why they were not compared as they were to be, if they were not."""
        return self._search.fallbacks

    @property
    def background(self) -> float:
        """The mean cosine of the question with all passages."""
        return self._search.background

    @property
    def unrelated(self) -> float:
        """The mean cosine of questions that have nothing to do with the notes."""
        return self._search.calibration.unrelated

    @property
    def gate(self) -> float:
        """In [0, 1], how well the model tells these notes apart."""
        return self._search.calibration.gate(self.script)

    def floor(self, *, words: bool) -> float | None:
        """Return the cosine from which a passage resembles the question, if known."""
        return self._search.calibration.floor(
            self.script, self._search.background, words=words
        )

    def nearest(self, limit: int) -> list[Neighbour]:
        """Return the nearest passages that may be shown and are wanted, best first."""
        return self._search.nearest(limit, self._visible, self._visible.chosen)

    def passages(self, near: Sequence[Near]) -> list[Passage]:
        """Return these passages."""
        tables = self._index.tables
        return read_passages(
            self._index.store,
            f"select {COLUMNS} from {tables.chunks} as c"
            f" join {tables.files} as f on f.id = c.file_id"
            " where c.id in (select value from json_each(?))",
            json.dumps([one.chunk for one in near]),
        )

    def cosines(self, chunks: Sequence[int]) -> Mapping[int, Neighbour]:
        """Return for each of these passages that has a vector how near it is."""
        return self._search.cosines(chunks)

    def window(self, text: str, number: int) -> Window:
        """Return a window of a passage's text."""
        return self._search.window(text, number)
