"""What an engine is. Read this before writing one.

`notewell.backends.contract` states these promises as tests that an engine's
own test suite inherits.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field, replace
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Final,
    Literal,
    Protocol,
    Self,
    TypeAlias,
    TypeVar,
    cast,
    runtime_checkable,
)

from notewell.adapters.embeddings.base import NO_PROVIDER, ProviderChoice
from notewell.config import AgentSettings, MemorySettings
from notewell.errors import BackendError, BackendFailed, BackendTimeout
from notewell.types import (
    EmptyReason,
    Fallback,
    FallbackReason,
    Freshness,
    Hit,
    IndexReport,
    IndexStatus,
    Mode,
    Source,
)
from notewell.values import dataclass
from notewell.workspace import NoteNames, Workspace

if TYPE_CHECKING:
    from datetime import date

    from notewell.dates import DateRange
    from notewell.filters import Filter  # most questions have none
    from notewell.sessions import Transcripts
    from notewell.sessions.programs import ProgramTranscripts


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """Text of notes that is about to be sent to another machine.

    Attributes:
        provider: The name of the provider.
        host: Where the text goes.
        passages: How many are sent.
        tokens: About how many tokens they have.
    """

    provider: str
    host: str
    passages: int
    tokens: int


class Listener:
    """Hears how a run goes. To be overridden: by default nothing happens.

    It is called by the thread that does the work. What it raises ends the run there;
    what was finished is kept.
    """

    def indexing(self, done: int, total: int) -> None:
        """So many of the files are indexed."""

    def embedding(self, done: int, total: int) -> None:
        """So many of the passages have a vector."""

    def waiting(self) -> None:
        """Another process is indexing, and it is waited for. Called once."""

    def uploading(self, upload: Upload) -> bool:
        """Text of notes is about to be sent to another machine.

        Returns:
            Whether a person agrees to that host; what was agreed to before is sent all
            the same.
        """
        return False

    def fetching(self, have: int, total: int | None) -> None:
        """So many bytes of a missing model are here; `total`: None if unknown."""


SILENT: Final = Listener()
"""It hears, and nothing happens."""

MissingVectors: TypeAlias = Literal["none", "instant", "all"]
"""Which of the missing vectors a run makes. `instant`: somebody waits, so only those that
cost next to nothing are made, where few are missing, and for a second at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How an index is to be made to agree with the files.

    Attributes:
        force: Build everything anew; searches go on meanwhile.
        within: Stop after about this many seconds, at the next note; what is left is
            `pending`. None: take as long as it takes.
        vectors: Which of the missing vectors are made, too. Engines without vectors
            have nothing to do.
        listener: Hears how far the run is.
    """

    force: bool = False
    within: float | None = None
    vectors: MissingVectors = "none"
    listener: Listener = SILENT


PLAIN_RUN: Final = Run()
"""What has changed, and no vectors."""


def _tells_nobody(*told: object) -> None:
    return None


def _agrees_to_nothing(upload: Upload) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorWork:
    """Functions that are told of vectors, for `Memory.refresh`; engines get a `Run`.

    Attributes:
        progress: As `Listener.embedding`.
        uploading: As `Listener.uploading`.
        fetching: As `Listener.fetching`.
        at_once: Only the `instant` ones of `Run` are made.
    """

    progress: Callable[[int, int], None] = _tells_nobody
    uploading: Callable[[Upload], bool] = _agrees_to_nothing
    fetching: Callable[[int, int | None], None] = _tells_nobody
    at_once: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where an engine works, and with which settings.

    Attributes:
        workspace: The folder of notes and its extra paths.
        agent: The agent's settings, resolved.
        memory: The settings under `memory`, resolved.
        state_dir: `<state>`, where engines keep what they derive from the notes.
        environ: The environment, for programs that an engine starts.
        embedding: The providers of vectors that the agent has.
        fallback_embedding: Those that builtin has while it stands in for another engine:
            such as cost next to nothing.
        transcripts: Transcripts are a source, too.
        own_transcripts: Those that the host has written of the agent are among them.
        programs: The transcripts of other programs that are among them.
        stays: The program that opens the engine stays, so work may go on in the
            background.
    """

    workspace: Workspace
    agent: AgentSettings
    memory: MemorySettings
    state_dir: Path
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    embedding: ProviderChoice = NO_PROVIDER
    fallback_embedding: ProviderChoice = NO_PROVIDER
    transcripts: bool = False
    own_transcripts: bool = True
    programs: "tuple[ProgramTranscripts, ...]" = ()
    stays: bool = False

    @property
    def local_prefixes(self) -> tuple[str, ...]:
        """Beginnings of paths whose text is sent to no other machine."""
        from notewell.sessions.programs import local_prefixes

        return local_prefixes(self.programs)

    def list_transcripts(self) -> "Transcripts":
        """Find the transcripts that are a source here; see `notewell.sessions`."""
        from notewell.sessions import Transcripts, list_transcripts

        own = Transcripts((), ())
        if self.own_transcripts:
            own = list_transcripts(self.state_dir, self.agent.id)
        if not self.programs:
            return own
        from notewell.sessions.programs import list_program_transcripts

        theirs = list_program_transcripts(self.programs)
        return Transcripts(
            tuple(sorted((*own.found, *theirs.found), key=lambda each: each.path)),
            tuple(sorted((*own.skipped, *theirs.skipped), key=lambda each: each.path)),
        )

    def transcript_file(self, path: str) -> Path:
        """Return the file behind the path of a transcript."""
        if self.programs:
            from notewell.sessions.programs import program_file

            file = program_file(self.programs, path)
            if file is not None:
                return file
        from notewell.sessions import sessions_folder

        folder = sessions_folder(self.state_dir, self.agent.id)
        return folder / path.removeprefix("sessions/")


def _hides_nothing(path: str) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question to an engine.

    Attributes:
        text: What was asked, as it was asked.
        limit: The most hits wanted, at least 1.
        min_score: Hits with a lower score are left out, exact words excepted; None: only
            those that resemble too little by what is configured.
        sources: Where to look.
        hides: Says of a path whether nobody in this conversation may see it.
        hides_many: It may be said of most paths, so they are left out before any are
            chosen.
        snippet_chars: The most characters of a snippet, at least 1; None: as usual.
        keywords_only: Only what stands there is looked for, and nothing that resembles.
        dates: The days that it names: passages of notes of these days are lifted, and
            none is left out for another day.
        today: The day on the user's calendar, from which age is counted; None: on this
            machine's.
        filter: Which passages are wanted; the best are chosen among these. Without a word
            in `text`, they are the answer: the newest first. None: all are.
    """

    text: str
    limit: int
    min_score: float | None = None
    sources: frozenset[Source] = frozenset({"memory"})
    hides: Callable[[str], bool] = _hides_nothing
    hides_many: bool = False
    snippet_chars: int | None = None
    keywords_only: bool = False
    dates: "tuple[DateRange, ...]" = ()
    today: "date | None" = None
    filter: "Filter | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What an engine was told to keep to; whoever stands in for it keeps to it, too.

    Attributes:
        holds: Says of a path, as cited, whether the engine is to read it.
        snippet_chars: The most characters of a snippet.
    """

    holds: Callable[[str], bool]
    snippet_chars: int

    def within(self, query: Query) -> Query:
        """Return the question as it may be answered."""

        def hides(path: str) -> bool:
            return query.hides(path) or not self.holds(path)

        return replace(
            query, hides=hides, hides_many=True, snippet_chars=self.snippet_chars
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """An engine's part of the answer.

    Attributes:
        hits: Best first; of equal scores notes without a day in their name, then daily
            logs, the newest first; then by path and line.
        mode: How they were found.
        reason: Why `hits` is empty, else None.
        doubt: Why the engine may have missed what stands in the notes (`cjk`, `syntax`,
            `missing`): another engine should be asked as well.
        backend: Who answered, when it is another engine than the one that was asked.
    """

    hits: Sequence[Hit]
    mode: Mode
    provider: str | None = None
    model: str | None = None
    fallbacks: tuple[Fallback, ...] = ()
    local_to_remote: bool = False
    degraded: bool = False
    reason: EmptyReason | None = None
    freshness: Freshness = field(default_factory=Freshness)
    warnings: tuple[str, ...] = ()
    doubt: FallbackReason | None = None
    backend: str | None = None


def in_order(hits: Iterable[Hit]) -> list[Hit]:
    """Return hits in the order of `Findings`."""
    by_place = sorted(hits, key=lambda hit: (-hit.score, hit.path, hit.start_line))
    return newest_in_ties(
        by_place, [hit.score for hit in by_place], [hit.path for hit in by_place]
    )


Item = TypeVar("Item")


def newest_in_ties(
    ordered: Sequence[Item], scores: Sequence[float], paths: Sequence[str]
) -> list[Item]:
    """Return what is in order, with daily logs of one score put newest first.

    They stand behind the other notes of that score. Names are read for days only where
    scores are equal and a digit is in the name: few are.

    Args:
        scores: Of each item.
        paths: Of the note of each.
    """
    found = list(ordered)
    start = 0
    for end in range(1, len(scores) + 1):
        if end < len(scores) and scores[end] == scores[start]:
            continue
        if end - start > 1 and any(map(_MAY_BE_DATED.search, paths[start:end])):
            places = sorted(range(start, end), key=lambda at: age_of(paths[at]))
            found[start:end] = [ordered[at] for at in places]
        start = end
    return found


def age_of(path: str) -> int:
    """Return what a note is ordered by where scores are equal."""
    from notewell.dates import day_in_name

    day = day_in_name(path)
    return -_BEFORE_ALL if day is None else -day.toordinal()


_MAY_BE_DATED: Final = re.compile(r"(?:\d\D*){4}")  # `12 Jan '26` has four

_BEFORE_ALL: Final = 10_000_000
"""More days than any date has."""


def share_lines(one: Hit, other: Hit) -> bool:
    """Say whether a line stands in both hits."""
    return (
        one.path == other.path
        and one.start_line <= other.end_line
        and other.start_line <= one.end_line
    )


def is_same(one: Hit, other: Hit) -> bool:
    """Say whether two hits show the same: a line, or copies of one passage."""
    return (
        share_lines(one, other)
        or one.citation in other.also_in
        or other.citation in one.also_in
    )


def reason_of(error: BackendError) -> FallbackReason:
    """Return the reason that a step away from an engine has for its error."""
    if isinstance(error, BackendTimeout):
        return "timeout"
    if isinstance(error, BackendFailed):
        return cast("FallbackReason", error.reason)
    return "missing"


class NoteCatalogue(NoteNames, Protocol):
    """What an index knows of notes beside their passages: names, and who links to them.

    It may be older than the files; `signatures` tells of which.
    """

    def linking(self, keys: Iterable[str]) -> set[str]:
        """Return the notes with a link to a file or a name of such a key."""
        ...

    def signatures(self) -> Mapping[str, tuple[int, int, int]]:
        """Return size, mtime and ctime of each note when it was indexed, by path."""
        ...


class Backend(Protocol):
    """A search engine over one folder of Markdown notes.

    Safe to share between tasks. Every failure is a BackendError.
    """

    @classmethod
    async def open(cls, site: Site) -> Self:
        """Attach to the notes of `site`. Cheap: builds and repairs nothing.

        Raises:
            BackendUnavailable: the engine cannot start here.
        """
        ...

    async def built(self) -> bool:
        """Whether an index was ever completed, so that searches are answered by it."""
        ...

    async def refresh(self, run: Run = PLAIN_RUN) -> IndexReport:
        """Make the index agree with the files. Idempotent; notes are never written.

        Raises:
            BackendFailed: the index cannot be written (disk full, no permission).
        """
        ...

    async def search(self, query: Query) -> Findings:
        """Return at most `query.limit` hits.

        Never waits for a sync, never writes a note, never repairs or deletes.
        """
        ...

    async def status(self) -> IndexStatus:
        """Count what the index holds and what it lacks."""
        ...

    async def close(self) -> None:
        """Release processes and files. Calling it twice is harmless."""
        ...


@runtime_checkable
class HasBounds(Protocol):
    """A backend that can be told to read less than the workspace has, or to show less."""

    @classmethod
    def bounds(cls, site: Site) -> Bounds:
        """Return what it keeps to, from the settings alone: it may not be there."""
        ...


@runtime_checkable
class HasCatalogue(Protocol):
    """A backend whose index knows the names of notes and their links."""

    @classmethod
    def catalogue(cls, site: Site) -> AbstractContextManager[NoteCatalogue]:
        """Lend what the index of `site` knows, as it is: nothing is built.

        Raises:
            BackendError: on entering, there is no index that can be read.
        """
        ...


@runtime_checkable
class KeepsFresh(Protocol):
    """A backend that keeps its own index up to date where a program stays.

    One without this is kept up to date through its `refresh`.
    """

    def refresh_soon(self, *, changed: bool = True) -> None:
        """Say that the index should be brought up to date. Returns at once.

        Args:
            changed: A note is known to have changed, so answers are stale until then.
        """
        ...
