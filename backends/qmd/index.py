"""Writing QMD's index: notes by `qmd update`, vectors by `qmd embed`, one writer at a time.

`qmd update` must not be killed: documents can be lost from its full-text index for
good. So the record says when a run began, the index is counted afterwards, and
whatever is doubtful is built anew beside the old one, which answers meanwhile.
Vectors are made in modes that need them, and never in a search.
"""

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import msgspec

from notewell.backends.base import PLAIN_RUN, Listener, Run, Site
from notewell.backends.loops import off_the_loop
from notewell.backends.qmd.client import QmdClient
from notewell.backends.qmd.drift import (
    Audit,
    DatabaseDamaged,
    Drift,
    audit_database,
    count_indexed,
    database_state,
    measure_drift,
    missing_notes,
    signature_of,
    skipped_notes,
)
from notewell.backends.qmd.home import (
    IndexRecord,
    QmdHome,
    embedding_model,
    is_local_model,
    link_models_of_user,
)
from notewell.backends.qmd.paths import has_handle
from notewell.backends.qmd.program import BACKEND, Program
from notewell.backends.qmd.transcripts import TranscriptCopies
from notewell.errors import BackendError, BackendFailed, BackendUnavailable
from notewell.types import IndexReport

_GRACE: Final = 20.0
"""Seconds that a running update is given to end by itself when its time is up."""

_QUICK: Final = 0.5
"""Share of the time at hand that the last update may have taken for a new one."""

_PENDING: Final = re.compile(r"Pending:\s+(\d+) need embedding")
_VECTORS: Final = re.compile(r"Vectors:\s+(\d+) embedded")
_CRASHES: Final = 3
"""Times that an embedding run that crashed is taken up again."""


class QmdWriter:
    """Writes the index of one home."""

    def __init__(
        self,
        site: Site,
        home: QmdHome,
        copies: TranscriptCopies,
        program: Program,
        environ: Mapping[str, str],
    ) -> None:
        self._site = site
        self._home = home
        self._copies = copies
        self._program = program
        self._environ = environ
        self._limit = site.memory.qmd.update.update_timeout_ms / 1000

    async def refresh(
        self, run: Run = PLAIN_RUN, *, patient: bool = True
    ) -> IndexReport:
        """Bring the index up to date; see `Backend.refresh`.

        A run cannot be cut short, so with little time it is begun only if the last
        one would have fitted in.

        Args:
            patient: Wait for another writer, unless time is short.
        """
        before, listener = await self._measure(), run.listener
        if not run.force and self._agrees(before):
            self._tell(listener, before)
            return self._report(before, changed=0)
        if run.within is not None and not self._fits(before, run.within):
            return self._report(before, changed=0)
        patient = patient and run.within is None
        async with self._home.only_writer(patient=patient, listener=listener) as mine:
            if not mine:
                busy = "Another process is indexing; its result is used."
                return self._report(before, changed=0, warnings=(busy,))
            before = await self._measure()
            if run.force or not self._agrees(before):
                await self._write(before, force=run.force, listener=listener)
        return self._report(
            await self._measure(), changed=before.pending, removed=before.gone
        )

    async def _measure(self) -> Drift:
        """Measure the drift; refuse if the workspace cannot be read.

        QMD takes a folder that is gone for one without files and empties its index.
        """
        before = await off_the_loop(measure_drift, self._site, self._home, self._copies)
        for skipped in before.scanned.skipped:
            if skipped.path == "." and skipped.reason in ("unreadable", "missing"):
                raise BackendUnavailable(
                    BACKEND,
                    f"the workspace cannot be read: {skipped.detail}",
                    remedy="see its permissions; the index is kept as it was",
                )
        return before

    def _agrees(self, before: Drift) -> bool:
        same = before.record.version == self._program.version
        return before.current and same and not before.pending

    def _fits(self, before: Drift, within: float) -> bool:
        usual = before.record.seconds
        if within >= self._limit:
            return True
        return before.current and 0 < usual <= within * _QUICK

    async def _write(self, before: Drift, *, force: bool, listener: Listener) -> None:
        self._tell(listener, before, done=0)
        try:
            copied = await off_the_loop(
                self._copies.write, before.transcripts, force=force
            )
            number = before.record.generation
            anew = force or not before.current or self._is_other_program(before)
            if anew or not await self._updated(before, number):
                await self._build(before)
            await off_the_loop(self._copies.remember, before.transcripts, copied)
        except BackendError as error:
            self._note(error)
            raise
        except OSError as exc:
            raise BackendFailed(
                BACKEND,
                f"its home cannot be written: {exc.strerror}",
                reason="exit",
                remedy="make room, or see the permissions of the state folder",
            ) from exc
        self._tell(listener, before)

    def _note(self, error: BackendError) -> None:
        record = self._home.record()
        self._home.write(msgspec.structs.replace(record, last_error=error.message))

    def _is_other_program(self, before: Drift) -> bool:
        """Say whether another version wrote the index: it may keep other names."""
        return before.record.version != self._program.version

    async def _updated(self, before: Drift, number: int) -> bool:
        """Update in place, and say whether the index is whole afterwards."""
        self._home.write(msgspec.structs.replace(before.record, unfinished=True))
        try:
            counted, seconds = await self._run_update(number)
        except BackendFailed:
            # What fails once may fail for ever: a row that was left behind, a
            # damaged page. Whatever it is, a new index does not have it.
            return False
        if counted is not None and not counted.whole:
            return False
        await off_the_loop(self._finish, before, number, counted, seconds)
        return True

    async def _build(self, before: Drift) -> None:
        """Build the next generation, and let it answer once it is whole."""
        number = self._next()
        abilities = self._program.abilities
        files = [note.file for note in before.scanned.notes]
        self._home.configure(
            number,
            before.collections,
            self._environ,
            abilities,
            unnamed=[
                each
                for each in files
                if not (abilities.literal_paths or has_handle(each))
            ],
        )
        try:
            counted, seconds = await self._run_update(number)
            if counted is not None and not counted.whole:
                raise BackendFailed(
                    BACKEND,
                    "`update` left notes out of its full-text index",
                    reason="corrupt",
                    remedy="run `notewell index --force`",
                )
        except BaseException:
            self._home.discard(number)
            raise
        await off_the_loop(self._finish, before, number, counted, seconds)
        await off_the_loop(self._home.discard_others, number)

    def _next(self) -> int:
        there = [int(p.name) for p in self._home.folder.iterdir() if p.name.isdecimal()]
        return max(there, default=self._home.record().generation) + 1

    async def _run_update(self, number: int) -> tuple[Audit | None, float]:
        started = time.monotonic()
        await self._client(number).run(
            "update",
            within=self._limit,
            grace=_GRACE,
        )
        seconds = time.monotonic() - started
        try:
            return await off_the_loop(
                audit_database, self._home.database(number)
            ), seconds
        except DatabaseDamaged as exc:
            raise BackendFailed(
                BACKEND,
                "`update` left a damaged index behind",
                reason="corrupt",
                remedy="see whether the disk is well, and run `notewell index --force`",
            ) from exc

    def _finish(
        self, before: Drift, number: int, counted: Audit | None, seconds: float
    ) -> None:
        self._home.write_notes(
            {note.path: signature_of(note) for note in before.scanned.notes}
        )
        same = number == before.record.generation
        self._home.write(
            IndexRecord(
                generation=number,
                version=self._program.version,
                collections=before.collections,
                indexed_at=time.time(),
                seconds=seconds,
                file=database_state(self._home.database(number)),
                digest=counted.digest if counted else "",
                documents=len(counted.documents if counted else before.scanned.notes),
                counts=Counter(each.collection for each in counted.documents)
                if counted
                else {},
                embedded_at=before.record.embedded_at if same else None,
                model=before.record.model if same else "",
                vectors=before.record.vectors and same,
                not_read=self._left_out(before, counted),
            )
        )

    def _left_out(self, before: Drift, counted: Audit | None) -> dict[str, str]:
        if counted is None:
            return {}
        literal = self._program.abilities.literal_paths
        return missing_notes(
            before.scanned.notes, before.collections, counted, literal=literal
        )

    def _client(self, number: int) -> QmdClient:
        return QmdClient(self._program, self._home, self._environ, number)

    def _tell(
        self, listener: Listener, before: Drift, *, done: int | None = None
    ) -> None:
        total = len(before.scanned.notes)
        if total:
            listener.indexing(total if done is None else done, total)

    def _report(
        self,
        now: Drift,
        *,
        changed: int,
        removed: int = 0,
        warnings: Sequence[str] = (),
    ) -> IndexReport:
        return IndexReport(
            files=count_indexed(now),
            chunks=now.record.documents,
            pending=now.pending,
            changed=changed,
            removed=removed,
            skipped=(
                *now.scanned.skipped,
                *now.transcripts.skipped,
                *skipped_notes(now.record),
            ),
            warnings=(*now.warnings, *warnings),
        )


class QmdVectors:
    """Makes the vectors of an index. A run that fails keeps what it has made.

    Attributes:
        wanted: The mode searches by meaning, in a version that can.
    """

    def __init__(
        self, site: Site, home: QmdHome, program: Program, environ: Mapping[str, str]
    ) -> None:
        self._site = site
        self._home = home
        self._program = program
        self._environ = environ
        self._model = embedding_model(environ)
        mode = site.memory.qmd.search_mode
        self.wanted = program.abilities.semantic and mode != "search"

    async def report(self, report: IndexReport) -> IndexReport:
        """Make the vectors that are missing, and count them in a report."""
        warnings = report.warnings
        try:
            await self.make()
        except BackendError as error:
            warnings = (*warnings, error.with_remedy)
        record = await off_the_loop(self._home.record)
        left = record.pending_vectors
        if left:  # all of it is found by words, so nothing of it is pending
            said = f"{left:,} documents have no vector yet; `notewell index` goes on."
            warnings = (*warnings, said)
        known = record.vectors and left is not None
        return replace(
            report,
            embedded=max(0, record.documents - (left or 0)) if known else 0,
            warnings=warnings,
        )

    async def make(self) -> None:
        """Make the vectors that are missing, in bounded time.

        Raises:
            BackendError: some could not be made.
        """
        await off_the_loop(link_models_of_user, self._environ, self._home.models)
        self._check_model()
        async with self._home.only_writer(patient=False) as mine:
            record = self._home.record()
            number = record.generation
            if not mine or not number:
                return
            client = QmdClient(self._program, self._home, self._environ, number)
            other = record.model not in ("", self._model)
            # A model may have come, or be another one, since the index was built.
            await off_the_loop(
                self._home.configure,
                number,
                record.collections,
                self._environ,
                self._program.abilities,
            )
            if record.pending_vectors == 0 and not other:
                return
            failed: BackendError | None = None
            try:
                await self._embed(client, anew=other)
            except BackendError as error:
                failed = error
            await self._count(client, failed)
        if failed is not None:
            raise failed

    def _check_model(self) -> None:
        """Refuse to fetch a model where nothing may open a connection."""
        here = is_local_model(self._model, self._home.models)
        if self._site.memory.offline and not here:
            raise BackendFailed(
                BACKEND,
                "its embedding model is not here, and memory.offline is on: "
                f"{self._model}",
                reason="offline",
                remedy="name a model file in QMD_EMBED_MODEL",
            )

    async def _embed(self, client: QmdClient, *, anew: bool) -> None:
        until = time.monotonic() + self._site.memory.qmd.update.embed_timeout_ms / 1000
        for attempt in range(1, _CRASHES + 1):
            left = until - time.monotonic()
            again = ("-f",) if anew and attempt == 1 else ()
            try:
                await client.run("embed", *again, within=left)
            except BackendFailed as failed:
                # llama.cpp can abort in the middle; the next run goes on from there.
                if "signal" not in failed.message or attempt == _CRASHES:
                    raise
            else:
                return

    async def _count(self, client: QmdClient, failed: BackendError | None) -> None:
        within = self._site.memory.qmd.update.command_timeout_ms / 1000
        try:
            out = (await client.run("status", within=within)).out
        except BackendError:
            return
        said = out.decode("utf-8", "replace")
        pending, made = _PENDING.search(said), _VECTORS.search(said)
        record = self._home.record()
        done = made is not None and pending is None
        self._home.write(
            msgspec.structs.replace(
                record,
                model=self._model,
                pending_vectors=int(pending[1]) if pending else 0,
                file=database_state(self._home.database(record.generation)),
                vectors=made is not None and made[1] != "0",
                embedded_at=time.time() if done else record.embedded_at,
                last_error=failed.message if failed else None,
            )
        )
