"""The values that cross boundaries: answers, hits, documents, reports.

These are the fields of the answer schema (docs/answers.md) in Python's spelling;
only surfaces write them in camelCase. Every line number is 1-based, both ends are included,
and a line ends at LF only.
"""

from collections.abc import Mapping
from dataclasses import field
from datetime import date, datetime
from typing import Final, Literal, NamedTuple, TypeAlias

from notewell.values import dataclass

SCHEMA_VERSION = 1
_Day: TypeAlias = date

Source: TypeAlias = Literal["memory", "sessions"]
Mode: TypeAlias = Literal[
    "hybrid", "vector", "keyword", "scan", "search", "vsearch", "query"
]
FallbackKind: TypeAlias = Literal[
    "backend", "embedding", "mode", "vector-index", "lexical-index"
]
FallbackReason: TypeAlias = Literal[
    "missing",
    "not-ready",
    "timeout",
    "exit",
    "parse",
    "version",
    "busy",
    "corrupt",
    "offline",
    "auth",
    "quota",
    "rate-limit",
    "network",
    "model-missing",
    "bad-vector",
    "cooldown",
    "cjk",
    "syntax",
]
EmptyReason: TypeAlias = Literal[
    "no-match",
    "empty-query",
    "nothing-indexed",
    "source-disabled",
    "denied-by-scope",
    "memory-disabled",
    "unavailable",
]


def citation_of(path: str, start: int, end: int) -> str:
    """Return `path#L<start>-L<end>`, or `path#L<n>` for one line.

    >>> citation_of("MEMORY.md", 3, 9)
    'MEMORY.md#L3-L9'
    """
    return f"{path}#L{start}" if start == end else f"{path}#L{start}-L{end}"


def source_of(path: str) -> Source:
    """Return where a passage comes from, by its path alone.

    >>> source_of("sessions/4f2a.jsonl"), source_of("sessions/minutes.md")
    ('sessions', 'memory')
    """
    note = path[-9:].lower().endswith((".md", ".markdown"))
    transcript = path.startswith("sessions/") and not note
    return "sessions" if transcript else "memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallback:
    """One step down that was taken to answer.

    Attributes:
        kind: What was replaced.
        from_: What should have done the work.
        to: What did it instead.
        reason: Why, one word of `FallbackReason`.
        message: The same for a person, one sentence.
    """

    kind: FallbackKind
    from_: str
    to: str
    reason: FallbackReason
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """How well the index agrees with the files.

    Attributes:
        indexed_at: When the index last agreed with the files, UTC; None if never.
        pending: Files known to wait for indexing; None when it was not checked.
        stale: True when a file is known to have changed since it was indexed; None when
            that was not checked.
    """

    indexed_at: datetime | None = None
    pending: int | None = None
    stale: bool | None = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One passage that answers a query.

    Attributes:
        path: POSIX, relative to the workspace, as `get` accepts it.
        start_line: First line of the passage.
        end_line: Last line of the passage.
        match_line: The best-matching line in it.
        snippet: At most 700 characters of the passage around the match, unaltered.
        snippet_line: The line of the note in which the snippet begins; None where that
            is not known, as in a transcript.
        score: In [0, 1], higher is better; comparable within one answer only.
        vector_score: max(0, cosine); None when that leg did not see the passage.
        text_score: The keyword leg's score; None likewise.
        source: Where the passage comes from.
        heading: The heading path above the passage, `A > B`; empty without one.
        engine: The backend that found it, if that is another than the answer's.
        date: The day of its note: that in the name, in the front matter (`date`,
            `created`), else that of the file's last change; of a transcript, the day on
            which it was said. None: unknown.
        also_in: Citations of other places with the same text, at most 20.
    """

    path: str
    start_line: int
    end_line: int
    match_line: int
    snippet: str
    snippet_line: int | None = None
    score: float
    vector_score: float | None = None
    text_score: float | None = None
    source: Source = "memory"
    heading: str = ""
    engine: str | None = None
    date: _Day | None = None
    also_in: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.start_line <= self.match_line <= self.end_line:
            raise ValueError(
                "lines must satisfy 1 <= start <= match <= end, got "
                f"{self.start_line}, {self.match_line}, {self.end_line}"
            )
        first = self.snippet_line
        if first is not None and not self.start_line <= first <= self.match_line:
            raise ValueError(
                "a snippet must begin between the first line and the best one, got "
                f"{self.start_line}, {first}, {self.match_line}"
            )
        if not 0.0 <= self.score <= 1.0:
            raise ValueError(f"score must lie in [0, 1], got {self.score}")

    @property
    def citation(self) -> str:
        """`path#L<start>-L<end>`, or `path#L<n>` for one line."""
        return citation_of(self.path, self.start_line, self.end_line)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderstoodDate:
    """Days that a question names, and how they were read.

    Attributes:
        text: The words that name them.
        since: The first day, `2026-03-01`; of any year, `--03-01`.
        until: The last day, included, as `since`.
    """

    text: str
    since: str
    until: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """How a question was read, beyond its words.

    Attributes:
        dates: The days that it names, in its order; notes of these days are lifted.
        within: The folder that alone was asked, because it was asked from there.
        filters: Each thing that a filter says, in words: `path 'projects'`.
    """

    dates: tuple[UnderstoodDate, ...] = ()
    within: str | None = None
    filters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """What a search returns, whatever the backend. An empty one has a reason."""

    query: str
    workspace: str
    agent: str
    results: tuple[Hit, ...]
    backend: str
    requested_backend: str
    mode: Mode
    provider: str | None = None
    model: str | None = None
    requested_provider: str | None = None
    fallbacks: tuple[Fallback, ...] = ()
    local_to_remote: bool = False
    degraded: bool = False
    reason: EmptyReason | None = None
    freshness: Freshness = field(default_factory=Freshness)
    warnings: tuple[str, ...] = ()
    took_ms: float = 0.0
    understood: Understood | None = None
    schema_version: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        if not self.results and self.reason is None:
            raise ValueError("an answer without results must say why")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Lines of one file, the answer of `get`.

    Attributes:
        path: The file, relative to the workspace.
        text: The lines, joined by LF, without a final newline.
        start_line: First line of `text`.
        end_line: Last line of `text`; `start_line - 1` when it is empty.
        total_lines: Lines in the file; a final newline is not a further line.
        found: False when there is no such file.
        truncated: True when lines that were asked for are left out.
        next_from: The line to go on from when `truncated`.
        reason: Why `found` is False, or a note on how the path was read.
        links: The notes to which these lines link, as `get` takes them; at most 20.
        candidates: The notes that may be meant, if several are called so.
        nearest: The notes with the most similar names, if none is.
    """

    path: str
    text: str
    start_line: int
    end_line: int
    total_lines: int
    found: bool
    truncated: bool = False
    next_from: int | None = None
    reason: str | None = None
    links: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A file or folder that is left out of the index, and why.

    Attributes:
        path: As in a hit; undecodable bytes are shown as `\\xNN`.
        reason: One of `symlink`, `unreadable`, `not-a-file`, `too-large`,
            `bad-name`, `missing`, `ignored`, `duplicate`, `not-text`, `not-downloaded`.
        detail: The same for a person.
    """

    path: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexReport:
    """What an indexing run left behind.

    Attributes:
        files: Files in the index now.
        chunks: Chunks in the index now.
        embedded: Chunks that have a vector now.
        pending: Files that are still to do; passages without a vector are a warning.
        changed: Files that this run wrote or removed.
        removed: Those of them that it removed, for they are gone.
        skipped: Files and folders that are left out.
        local_to_remote: Text left this machine because a local choice failed.
        warnings: Anything a person should know.
    """

    files: int
    chunks: int
    embedded: int = 0
    pending: int = 0
    changed: int = 0
    removed: int = 0
    skipped: tuple[Skipped, ...] = ()
    local_to_remote: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorStatus:
    """One set of vectors in an index.

    Attributes:
        provider: Who made them.
        model: With which model.
        dimension: Numbers in a vector.
        passages: Passages that have one.
        lacking: Texts that wait for one; those that were refused do not.
        search: How they are searched: `sqlite-vec`, in the database, or `in-process`.
        vectors: How many there are: a passage has one for each of its windows.
        apart: How well the model tells these notes apart, by script: `well`, `partly`
            or `hardly`, and by how many deviations; empty where it was not measured.
        refused: Passages that the provider gave no usable vector for.
        used: Whether the configuration asks for these; others are only kept.
    """

    provider: str
    model: str
    dimension: int
    passages: int
    lacking: int
    search: str
    vectors: int = 0
    apart: dict[str, str] = field(default_factory=dict[str, str])
    refused: int = 0
    used: bool = True


VECTOR_SEARCH: Final = "vector search"
"""Among an index's details, what vectors are searched by: with a remedy behind a semicolon,
if that is not what was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStatus:
    """The state of one engine's index, counted when it was asked for.

    Attributes:
        location: The index on disk.
        bytes: Its size with its side files; 0 when it was never built.
        files: Files in the index.
        chunks: Chunks in the index.
        pending: Files on disk that the index does not hold as they are now,
            and files in the index that are gone.
        indexed_at: When the index last agreed with the files.
        last_error: What the last indexing run failed with, if it did.
        identity: What the index was built with (chunker, tokenizer, ...).
        vectors: The sets of vectors, the oldest first.
        skipped: Notes that could not be read when they were indexed.
        warnings: Anything a person should know.
        backend: Whose index it is, when another engine stands in.
        fallbacks: The step down that led to it.
        details: What else the engine says of itself, by a name for people.
        vector_problems: Why a provider that is configured has no vector of some passages,
            with what to do behind a semicolon, by its name.
        gone: Those of the pending files that are gone.
    """

    location: str
    bytes: int
    files: int
    chunks: int
    pending: int
    indexed_at: datetime | None = None
    last_error: str | None = None
    identity: dict[str, str] = field(default_factory=dict[str, str])
    vectors: tuple[VectorStatus, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()
    backend: str | None = None
    fallbacks: tuple[Fallback, ...] = ()
    details: dict[str, str] = field(default_factory=dict[str, str])
    vector_problems: dict[str, str] = field(default_factory=dict[str, str])
    gone: int = 0


class NarrowedPath(NamedTuple):
    """An extra path of which some files are read alone.

    Attributes:
        path: The folder, or one file, as configured.
        pattern: A glob over paths relative to the folder.
    """

    path: str
    pattern: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraPath:
    """A configured extra path, and what it stands for on this disk.

    Attributes:
        path: As configured.
        resolved: The absolute path.
        files: Markdown files in it.
        problem: Why it is not searched, or None.
    """

    path: str
    resolved: str
    files: int
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderProbe:
    """How a provider of vectors did when it was tried.

    Attributes:
        provider: Its name.
        model: Its model; None if it could not even be opened.
        stands_in: It is the second one, `memorySearch.fallback`.
        remote: Text that is given to it leaves this machine.
        dimension: Numbers in its vectors.
        took_ms: Wall time, the loading of a model included.
        problem: What is wrong, and what to do; None if it works.
    """

    provider: str
    model: str | None
    stands_in: bool
    remote: bool
    dimension: int | None
    took_ms: float
    problem: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusReport:
    """The state of one agent's memory.

    Attributes:
        key_hint: Which key of a provider was found where none is named, and how to use it.
        switch: What switched memory on or off, in words; empty where nothing did.
        ignored: What a `.notewellignore` leaves out; folders end in `/`.
        sockets: By which commands ask an open engine, and how many have.
    """

    agent: str
    workspace: str
    enabled: bool
    backend: str
    requested_backend: str
    requested_provider: str | None
    sources: tuple[Source, ...]
    disk_files: int
    disk_bytes: int
    index: IndexStatus
    extra_paths: tuple[ExtraPath, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    fallbacks: tuple[Fallback, ...] = ()
    local_to_remote: bool = False
    warnings: tuple[str, ...] = ()
    switch: str = ""
    key_hint: str = ""
    ignored: tuple[str, ...] = ()
    sockets: Mapping[str, int] = field(default_factory=dict[str, int])
