"""What the second stage asks of an index.

An engine makes one `PassageIndex` for each question: it knows who asks, and what the
filter of the question lets pass.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from notewell.backends.text.passages import Passage, ScoredPassage
from notewell.backends.text.query import QueryTerm
from notewell.backends.text.scoring import ExactMatch
from notewell.types import Fallback

if TYPE_CHECKING:  # loaded where there is a filter
    from notewell.backends.text.filtering import PhraseTest


class EmbeddingOutcome(Protocol):
    """What is known of a question's vector, or why there is none."""

    @property
    def provider(self) -> str | None:
        """Who made it; None: nobody."""
        ...

    @property
    def model(self) -> str | None:
        """With which model."""
        ...

    @property
    def fallbacks(self) -> tuple[Fallback, ...]:
        """Steps down that were taken."""
        ...

    @property
    def local_to_remote(self) -> bool:
        """Whether the question left this machine because a local provider failed."""
        ...


class _NoEmbedding(NamedTuple):
    provider: str | None = None
    model: str | None = None
    fallbacks: tuple[Fallback, ...] = ()
    local_to_remote: bool = False


NO_EMBEDDING: Final[EmbeddingOutcome] = _NoEmbedding()
"""Of a question that only words answer."""


class Near(Protocol):
    """A passage, the cosine of its best window with the question, and which one it is."""

    @property
    def chunk(self) -> int:
        """The passage's id."""
        ...

    @property
    def cosine(self) -> float:
        """How near it is."""
        ...

    @property
    def window(self) -> int:
        """The number of its window."""
        ...


class NearWindow(Protocol):
    """A part of a passage."""

    @property
    def text(self) -> str:
        """Its lines, or a part of one."""
        ...

    @property
    def middle_line(self) -> int:
        """The line in its middle, 0-based in the passage."""
        ...


class VectorLeg(Protocol):
    """The vectors of an index, compared with one question."""

    @property
    def fallbacks(self) -> tuple[Fallback, ...]:
        """Why they were not compared as they were to be, if they were not."""
        ...

    @property
    def background(self) -> float:
        """The mean cosine of the question with all passages."""
        ...

    @property
    def unrelated(self) -> float:
        """The mean cosine of questions that have nothing to do with the notes."""
        ...

    @property
    def script(self) -> str:
        """In which most of the question is written."""
        ...

    @property
    def gate(self) -> float:
        """In [0, 1], how well the model tells these notes apart."""
        ...

    def floor(self, *, words: bool) -> float | None:
        """Return the cosine from which a passage resembles the question, if known.

        Args:
            words: The question is spelled like words.
        """
        ...

    def nearest(self, limit: int) -> Sequence[Near]:
        """Return the nearest passages that may be shown and are wanted, best first."""
        ...

    def passages(self, near: Sequence[Near]) -> list[Passage]:
        """Return these passages."""
        ...

    def cosines(self, chunks: Sequence[int]) -> Mapping[int, Near]:
        """Return for each of these passages that has a vector how near it is."""
        ...

    def window(self, text: str, number: int) -> NearWindow:
        """Return a window of a passage's text."""
        ...


class PassageIndex(Protocol):
    """An index, as one question meets it."""

    @property
    def passages(self) -> int:
        """How many there are."""
        ...

    @property
    def mean_length(self) -> float:
        """Body terms of a passage, on average, at least 1."""
        ...

    @property
    def languages(self) -> Collection[str]:
        """The languages beside English that notes are in."""
        ...

    @property
    def vectors(self) -> VectorLeg | None:
        """What compares passages by meaning; None: words alone are searched."""
        ...

    @property
    def lacking(self) -> int:
        """How many texts of passages wait for a vector."""
        ...

    def visible(self, path: str) -> bool:
        """Whether passages of a note or a transcript may be shown."""
        ...

    def warnings(self) -> tuple[str, ...]:
        """Say which part of the question's filter left nothing, if one did."""
        ...

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return in how many passages each term stands; those in none are 0 or left out."""
        ...

    def held(self, terms: Collection[str]) -> dict[str, int]:
        """Return of a great many terms those that stand somewhere, counted."""
        ...

    def between(
        self, first: str, end: str, lengths: tuple[int, int] = (0, 1_000)
    ) -> dict[str, int]:
        """Return the terms from one up to another, and how many passages hold each.

        Args:
            lengths: The fewest and the most characters of one.
        """
        ...

    def with_inside(self, part: str) -> dict[str, int]:
        """Return the terms with a string inside, and how many passages hold each."""
        ...

    def stands(self, term: str, *, written: bool = False) -> bool:
        """Say whether a term is one of a passage that may be seen.

        Args:
            written: In its text or beside it, and not only as the stem of words.
        """
        ...

    def matching(
        self,
        query_terms: Sequence[QueryTerm],
        frequencies: Mapping[str, int],
        literal: ExactMatch,
        limit: int,
    ) -> list[Passage]:
        """Return the passages that match best by BM25, at most `limit` and one more.

        When words of the question stand in some passages as they are written, at least
        one of these is among them.
        """
        ...


class FilteredIndex(Protocol):
    """An index, as a question without a word meets it."""

    @property
    def passages(self) -> int:
        """How many there are."""
        ...

    @property
    def phrases(self) -> "PhraseTest":
        """Says whether the phrases of the filter let a text pass."""
        ...

    def visible(self, path: str) -> bool:
        """Whether passages of a note or a transcript may be shown."""
        ...

    def warnings(self) -> tuple[str, ...]:
        """Say which part of the filter left nothing, if one did."""
        ...

    def newest(self, limit: int) -> Sequence[Passage]:
        """Return the newest passages that pass, at most `limit`; fewer: there are no more."""
        ...


class CitedTranscripts(Protocol):
    """The transcripts of one answer."""

    def stands(self, path: str) -> bool:
        """Whether what was read of a transcript still stands in it."""
        ...

    def cited(self, scored: ScoredPassage) -> tuple[int, int, int]:
        """Return the lines of the file behind a passage: first, last, best."""
        ...
