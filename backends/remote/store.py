"""What a server has to do for an engine: keep rows, count terms, find passages.

Everything that ranks is on our side; a server gives what may answer. It keeps *spaces*,
which know nothing of one another. In a space each *member*, an agent on a machine, has a
*holding*: its notes in numbered generations, of which one is live. A member writes its
own holding alone, and a search reads the live generations of all.

Terms are text here. How a server keeps them (hashed, or as they are) is its own affair,
as long as those of two generations, and of two spaces, are told apart.

Every method blocks, and every failure is a `notewell.errors.BackendError` with one of the
reasons of `notewell.types.FallbackReason`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from msgspec import Struct

BODY_WEIGHT = 5
EXTRA_WEIGHT = 3
CONTEXT_WEIGHT = 4
"""What one occurrence of a term counts in a passage's text, among its other forms, and
beside it, in the path and headings: in fifths of an occurrence in the text."""

MOST_WEIGHT = 255
"""More than this a term does not count in a passage."""


class Owner(NamedTuple):
    """Whose notes: an agent of a member."""

    member: str
    agent: str


class Holding(Struct, frozen=True, kw_only=True):
    """What a member has in a space.

    Attributes:
        owner: Whose it is.
        live: The generation that searches read; None: there is none yet.
        building: The one that a rebuild fills.
        identity: What the live one was built with; see `remote.sync.identity_of`.
        building_identity: The same of the other.
        files: Notes in the live generation that can be read.
        passages: Passages in it.
        mean_length: Terms of a passage's text, on average, at least 1.
        indexed_at: When it last agreed with the files, in seconds since 1970.
    """

    owner: Owner
    live: int | None = None
    building: int | None = None
    identity: str | None = None
    building_identity: str | None = None
    files: int = 0
    passages: int = 0
    mean_length: int = 1
    indexed_at: int | None = None


class NoteRecord(Struct, frozen=True, kw_only=True):
    """A note as the server holds it.

    Attributes:
        path: Relative, as cited on its own machine.
        signature: Size, mtime and ctime of the file.
        digest: Of its bytes.
        problem: Why it could not be read, or None.
        remark: What was guessed about its encoding, or None.
        day: Its day in ISO 8601, or None.
        dated: It names that day itself.
        properties: What it says of itself, each `key`, a zero byte's stand-in `\\x1f`, and
            a form of the value; see `text.filtering.note_properties`.
        id: Given by the server; 0 for a note that is new there.
        generation: In which it is; 0 for a note that is on its way there.
    """

    path: str
    signature: tuple[int, int, int]
    digest: bytes
    problem: str | None = None
    remark: str | None = None
    day: str | None = None
    dated: bool = False
    properties: tuple[str, ...] = ()
    id: int = 0
    generation: int = 0


class PassageRecord(Struct, frozen=True, kw_only=True):
    """A passage on its way to the server.

    Attributes:
        start_line: Its first line.
        end_line: Its last one, included.
        piece: It is a piece of one endless line.
        heading: The headings above it.
        length: Terms of its text.
        row_length: All its terms, with those of its other forms and of what is beside it:
            the length by which BM25 measures it.
        digest: Of its text, by which its vector is found.
        text: Its text.
        weights: What each term counts in it; see BODY_WEIGHT.
        unwritten: Those of the terms that stand only among its other forms: stems.
    """

    start_line: int
    end_line: int
    piece: bool
    heading: str
    length: int
    row_length: int
    digest: bytes
    text: str
    weights: Mapping[str, int]
    unwritten: frozenset[str] = frozenset()


class FoundPassage(Struct, frozen=True, kw_only=True):
    """A passage that may answer.

    Attributes:
        id: Given by the server, growing in the order in which passages were written.
        generation: In which it is.
        note: The id of its note.
        path: As in `NoteRecord`, as are `signature` and `day`.
        start_line: As in `PassageRecord`, as are the others.
    """

    id: int
    generation: int
    note: int
    path: str
    signature: tuple[int, int, int]
    day: str | None
    start_line: int
    end_line: int
    piece: bool
    heading: str
    length: int
    text: str


class TermClause(Struct, frozen=True, kw_only=True):
    """A clause of a question: what a passage may hold.

    Attributes:
        terms: It holds all of these. Where there are several, they stand for words that
            follow each other; a server that knows no places takes all that hold them.
        beginning: It holds a term that begins with the one that is named.
    """

    terms: tuple[str, ...]
    beginning: bool = False


class Among(Struct, frozen=True, kw_only=True):
    """Which notes a passage is to be of.

    Attributes:
        only: Ids of notes; None: all.
        never: Ids of notes of which none is wanted.
    """

    only: frozenset[int] | None = None
    never: frozenset[int] = frozenset()


ANYWHERE = Among()


class SpaceSnapshot(Protocol):
    """A space as it is at one moment: nothing that is written meanwhile shows."""

    def holdings(self) -> Sequence[Holding]:
        """Return every member's holding, by owner."""
        ...

    def frequencies(self, terms: Collection[str]) -> dict[str, int]:
        """Return in how many live passages each term stands; those in none are left out.

        Counted up to a bound that the server may set (it is a share of the passages, and
        never below 2,000); from there on recorded when a run was completed.
        """
        ...

    def vocabulary(self, first: str, end: str) -> Collection[str]:
        """Return the terms from `first` up to `end`, which is not one of them.

        Compared by code points. Terms of passages that have gone may be among them.
        """
        ...

    def vocabulary_with(self, part: str) -> Collection[str]:
        """Return the terms with a string inside; otherwise as `vocabulary`."""
        ...

    def written(self, term: str) -> bool:
        """Say whether a term was ever written in a text, a path or a heading."""
        ...

    def notes_with(self, term: str, limit: int) -> Sequence[NoteRecord]:
        """Return notes of which a passage holds a term, at most `limit`."""
        ...

    def candidates(
        self, wanted: Sequence[TermClause], limit: int, among: Among = ANYWHERE
    ) -> Sequence[FoundPassage]:
        """Return the passages that match any clause, the best first.

        By BM25 as SQLite's FTS5 has it (k1 1.2, b 0.75, the weights over five, an inverse
        document frequency of at least 1e-6), over the live generations as one set;
        equals by id. The caller has seen to it that not too many match.
        """
        ...

    def passages_of(
        self, notes: Collection[int], limit: int | None = None
    ) -> Sequence[FoundPassage]:
        """Return the passages of notes, by note in the given order, then by line."""
        ...

    def notes(self) -> Sequence[NoteRecord]:
        """Return every note of the live generations."""
        ...

    def notes_of(self, owner: Owner, generation: int) -> Sequence[NoteRecord]:
        """Return every note of a generation, live or not."""
        ...


class SpaceWriter(Protocol):
    """The one who may write a holding, in one transaction.

    What was put is kept by `commit`, also when the run does not come to its end; leaving
    the context by an error keeps what was committed.
    """

    def holding(self) -> Holding:
        """Return the holding as it is."""
        ...

    def notes_of(self, generation: int) -> Sequence[NoteRecord]:
        """Return every note of a generation, what was put included."""
        ...

    def begin_generation(self, identity: str) -> int:
        """Begin to fill a new generation; an unfinished one is dropped. Return it."""
        ...

    def put_note(
        self,
        generation: int,
        note: NoteRecord,
        passages: Sequence[PassageRecord] | None,
    ) -> None:
        """Write a note, in the place of the one with its `id` unless that is 0.

        Args:
            generation: Where to.
            note: The note; its `id` says what is replaced.
            passages: What it holds; None: as it was, so that only the note's row changes.
        """
        ...

    def copy_note(self, source: int, generation: int, note: NoteRecord) -> None:
        """Write into a generation a note and the passages that it has in another one."""
        ...

    def delete_notes(self, generation: int, notes: Iterable[int]) -> None:
        """Take notes out of a generation, with their passages."""
        ...

    def commit(self) -> None:
        """Keep what was written until now, and go on; the lock is taken again."""
        ...

    def publish(self, generation: int, *, indexed_at: int) -> None:
        """Let searches read a generation, count it, and drop the one before it.

        Called at the end of every complete run, for the live generation, too.
        """
        ...


class SpaceStore(Protocol):
    """A space in a server. Safe to share between threads.

    Attributes:
        name: Of the engine, for its errors.
        location: Where it is, fit to be shown: no password.
        host: The machine to which notes go; None: they stay on this one.
        warnings: What a person should know of the connection.
    """

    name: str
    location: str
    host: str | None
    warnings: Sequence[str]

    def open(self) -> None:
        """Connect, and see that the server can be used. Makes no tables.

        Raises:
            BackendError: it cannot be reached, is too old, lets nobody in.
        """
        ...

    def close(self) -> None:
        """Let every connection go; twice is harmless."""
        ...

    def prepare(self) -> None:
        """Make the tables that are missing, before the first write.

        Raises:
            BackendError: there are others of another version, or no right to make them.
        """
        ...

    def snapshot(self) -> AbstractContextManager[SpaceSnapshot]:
        """Lend the space as it is now, for reading.

        Raises:
            BackendFailed: on entering, reason `not-ready`: there are no tables yet.
        """
        ...

    def writing(
        self, owner: Owner, *, wait: float | None
    ) -> AbstractContextManager[SpaceWriter]:
        """Lend the right to write a holding, which one process has at a time in a space.

        Args:
            owner: Whose holding; it is begun if there is none.
            wait: Seconds to wait for another writer; None: as long as it takes.

        Raises:
            BackendFailed: on entering, reason `busy`: another process writes.
        """
        ...

    def stored_bytes(self) -> int | None:
        """Return what the space takes in the server, about; None: not known."""
        ...
