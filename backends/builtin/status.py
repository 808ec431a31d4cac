"""What an index holds and lacks, counted when it is asked for."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from notewell.backends.base import Site
from notewell.backends.builtin.changes import count_unindexed
from notewell.backends.builtin.errors import BACKEND, IndexUnreadable
from notewell.backends.builtin.index_file import IndexLocation, index_bytes
from notewell.backends.builtin.readers import ReaderPool
from notewell.backends.builtin.schema import Generation, IndexIdentity
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.outcome import EmbedReport
from notewell.backends.builtin.vectors.sets import (
    all_sets,
)
from notewell.backends.builtin.writer import SyncReport
from notewell.backends.changes import Inventory, take_inventory
from notewell.backends.text.passages import with_silent_transcripts
from notewell.backends.weighing.answer import unread_warnings
from notewell.errors import BackendFailed, PathRefused
from notewell.types import (
    VECTOR_SEARCH,
    IndexReport,
    IndexStatus,
    Skipped,
    VectorStatus,
    source_of,
)
from notewell.workspace import locate, read_note
from notewell.workspace.decoding import NOT_TEXT, holds_no_text
from notewell.workspace.layout import show_name

_CHECKED_AT_ONCE: Final = 64 * 2**20
"""Bytes of an index that are looked over before it is counted: some 60 ms."""

_NAMED: Final = 5
"""Notes that a sentence names."""

_REBUILD: Final = "run `notewell index`; no note was touched"


class StatusReader:
    """Counts what the index of one workspace holds and lacks."""

    def __init__(
        self,
        site: Site,
        location: IndexLocation,
        readers: ReaderPool,
        identity: IndexIdentity,
    ) -> None:
        self._site = site
        self._path = location.path
        self._notice = (location.notice,) if location.notice else ()
        self._readers = readers
        self._identity = identity

    def status(self, last_problem: str | None) -> IndexStatus:
        """Count, and look over a small index.

        Args:
            last_problem: What the last run in the background failed with.
        """
        scanned = take_inventory(self._site)
        last = (f"The last run: {last_problem}",) if last_problem else ()
        try:
            with self._readers.one() as store:
                if index_bytes(self._path) <= _CHECKED_AT_ONCE:
                    store.require_sound()
                held, others = self._counted(store, scanned)
        except IndexUnreadable as error:
            closed = unread_warnings(scanned.unread())
            warnings = (*self._notice, *closed, *last)
            return self._unreadable(len(scanned), error, warnings)
        still = {path: why for path, why in others.items() if not self._reads(path)}
        closed = unread_warnings({**still, **scanned.unread()})
        return replace(held, warnings=(*self._notice, *closed, *held.warnings, *last))

    def report(self, synced: SyncReport, embedded: EmbedReport) -> IndexReport:
        """Count after a run; what is pending too, if it is not known.

        Raises:
            BackendFailed: the index that was written cannot be read.
        """
        unread = synced.scanned.unread()
        others = (*synced.warnings, *embedded.warnings)
        try:
            with self._readers.one() as store:
                held, more = self._counted(store, synced.scanned, pending=synced.left)
        except IndexUnreadable as error:
            warnings = (*self._notice, *unread_warnings(unread), *others)
            return self._unfinished(synced, error, warnings)
        closed = unread_warnings({**more, **unread})
        return IndexReport(
            files=held.files,
            chunks=held.chunks,
            embedded=embedded.embedded,
            pending=held.pending,
            changed=synced.done,
            removed=synced.removed,
            skipped=(*synced.scanned.skipped, *held.skipped),
            local_to_remote=embedded.local_to_remote,
            warnings=(*self._notice, *closed, *held.warnings, *others),
        )

    def _counted(
        self, store: Store, scanned: Inventory, pending: int | None = None
    ) -> tuple[IndexStatus, dict[str, str]]:
        """Count what the live generation holds, and what it lacks if that is not known.

        Returns:
            The counts; and what could not be read when it was indexed and lies where all
            can be: why, by path. What the inventory names itself is not named again.
        """
        search = self._site.agent.search
        live = store.live()
        assert live is not None
        chunks = store.one(f"select count(*) from {live.chunks}")
        gone, vectors = 0, _VectorState()
        if pending is None:  # a report after a run has no use for the others
            vectors = _vectors(store, live, self._site, chunks)
            pending, gone = count_unindexed(store, scanned, self._identity, search)
        identity = IndexIdentity.decoded(store.built_with(live) or "")
        named = scanned.unread()
        remarks = store.remarks(live)
        problems = {
            path: why
            for path, why, _ in remarks
            if why and path not in named and scanned.notes.why_unread(path) is None
        }
        others = {p: why for p, why in problems.items() if not holds_no_text(why)}
        held = IndexStatus(
            location=str(self._path),
            bytes=index_bytes(self._path),
            files=store.one(f"select count(*) from {live.files} where problem is null"),
            chunks=chunks,
            pending=pending,
            indexed_at=store.indexed_at(),
            last_error=store.get("last_error"),
            identity={"chunker": identity.chunker, "tokenizer": identity.tokenizer},
            vectors=vectors.sets,
            vector_problems=dict(vectors.problems),
            gone=gone,
            skipped=tuple(
                _skipped(show_name(path), why) for path, why in problems.items()
            ),
            warnings=_guessed(
                {path: said for path, why, said in remarks if said and not why}
            ),
            details={**vectors.details, **_transcripts(store, live)},
        )
        return held, others

    def _reads(self, path: str) -> bool:
        """Say whether a note can be read now; of a transcript that is not tried."""
        if source_of(path) == "sessions":
            return False
        try:
            file = locate(self._site.workspace, path, exactly=True).file
            return file is not None and bool(read_note(os.fspath(file)))
        except (PathRefused, OSError, ValueError):
            return False

    def _unreadable(
        self, notes: int, error: IndexUnreadable, warnings: tuple[str, ...]
    ) -> IndexStatus:
        """Return the status of an index that cannot be read."""
        from notewell.backends.builtin.vectors.wanted import problems_unbuilt

        unbuilt = notes > 0 and error.reason == "not-ready"
        return IndexStatus(
            location=str(self._path),
            bytes=index_bytes(self._path),
            files=0,
            chunks=0,
            pending=notes,
            last_error=None if error.reason == "not-ready" else error.why,
            warnings=warnings,
            vector_problems=problems_unbuilt(self._site.embedding) if unbuilt else {},
        )

    def _unfinished(
        self, synced: SyncReport, error: IndexUnreadable, warnings: tuple[str, ...]
    ) -> IndexReport:
        """Return the report of a run after which no index answers."""
        if synced.left == 0:
            if error.reason not in ("not-ready", "version"):
                raise BackendFailed(
                    BACKEND, error.why, reason=error.reason, remedy=_REBUILD
                ) from error
            replaced = f"Another program has replaced the index: {error.why}."
            warnings = (*warnings, replaced)
        return IndexReport(
            files=0,
            chunks=0,
            pending=synced.left or len(synced.scanned),
            changed=synced.done,
            removed=synced.removed,
            skipped=synced.scanned.skipped,
            warnings=warnings,
        )


def _skipped(path: str, why: str) -> Skipped:
    if holds_no_text(why):
        detail = why.removeprefix(f"{NOT_TEXT}: ")
        return Skipped(path=path, reason="not-text", detail=detail)
    return Skipped(path=path, reason="unreadable", detail=why)


def _guessed(remarks: Mapping[str, str]) -> tuple[str, ...]:
    """Say of which notes the encoding is a guess."""
    if not remarks:
        return ()
    named = [f"{show_name(path)} ({said})" for path, said in remarks.items()]
    left = len(named) - _NAMED
    more = f" and {left:,} more" if left > 0 else ""
    listed = ", ".join(named[:_NAMED]) + more
    return (f"Not UTF-8, and read as what it looks like: {listed}. Better saved anew.",)


def _transcripts(store: Store, live: Generation) -> dict[str, str]:
    """Say how many there are, and in which of them there is nothing to search."""
    files = store.one(f"select count(*) from {live.transcripts}")
    if not files:
        return {}
    passages = store.one(f"select count(*) from {live.origins}")
    silent = store.rows(
        f"select f.path from {live.transcripts} as t"
        f" join {live.files} as f on f.id = t.file_id"
        " where f.problem is null and f.size > 0 and not exists"
        f" (select 1 from {live.chunks} as c where c.file_id = f.id) order by f.path"
    )
    counted = f"{files:,} with {passages:,} passages"
    return {
        "transcripts": with_silent_transcripts(counted, [path for (path,) in silent])
    }


class _VectorState(NamedTuple):
    """What there is of vectors, and what is missing of those that are wanted.

    Attributes:
        sets: The sets.
        details: What they are searched by.
        problems: As `IndexStatus.vector_problems`.
    """

    sets: tuple[VectorStatus, ...] = ()
    details: Mapping[str, str] = {}
    problems: Mapping[str, str] = {}


def _vectors(store: Store, live: Generation, site: Site, passages: int) -> _VectorState:
    """Count the sets, and hold them against what the configuration asks for."""
    kept, providers = all_sets(store), site.embedding.providers
    if not (kept or providers):
        return _VectorState()
    from notewell.backends.builtin.vectors.wanted import WantedVectors

    wanted = WantedVectors(store, live, site, kept, passages)
    problems = wanted.problems()
    if not kept:
        return _VectorState(problems=problems)
    from notewell.backends.builtin.vectors.nearest import hindrance, needs_codes
    from notewell.backends.builtin.vectors.sqlite_vec import (
        IN_PROCESS,
        NAME,
        load_extension,
    )

    extension = load_extension(store, site.agent.search.store.vector)
    said = f"{NAME} {extension.version}, {extension.path}"
    if extension.version is None:
        said = f"{IN_PROCESS}: {extension.why}"
    found: list[VectorStatus] = []
    for identity, each in kept:
        hindered = hindrance(store, each, extension, many=needs_codes(store, each))
        if hindered:
            said = f"{IN_PROCESS}: {hindered.message}"
        by_hand = hindered or not extension.version
        found.append(wanted.state(identity, each, IN_PROCESS if by_hand else NAME))
    return _VectorState(tuple(found), {VECTOR_SEARCH: said}, problems)
