"""Many passages at a lower price: the batch interfaces, which answer within a day.

The jobs that were paid for and not fetched yet are in a small file, the `JobJournal`.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, runtime_checkable

from notewell.adapters.embeddings.remote.dialect import JobState
from notewell.adapters.embeddings.remote.errors import Refusal
from notewell.adapters.embeddings.vectors import unit_rows, usable_rows
from notewell.errors import EmbeddingError
from notewell.files import create_folder, replace_file
from notewell.foreign import read_items, read_json, read_member

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.adapters.embeddings.base import Embedder, Matrix
    from notewell.adapters.embeddings.remote.dialect import BatchJobs
    from notewell.adapters.embeddings.remote.errors import ErrorMap
    from notewell.config.schema import BatchSettings

WORTH_IT: Final = 1000
"""From so many missing passages on a batch is worth its wait."""

EmbeddedBatch: TypeAlias = tuple[Sequence[bytes], "Matrix"]
"""The keys of some texts, and their vectors, as from `Embedder.embed`."""


@runtime_checkable
class HasBatches(Protocol):
    """An Embedder whose provider may have a batch interface."""

    def batches(self, settings: BatchSettings, journals: Path) -> BatchEmbedder | None:
        """Return it; None where another server is asked, or none is published.

        Args:
            settings: How long to wait.
            journals: The folder in which jobs that are under way are written down.
        """
        ...


def batches_of(
    embedder: Embedder, settings: BatchSettings, journals: Path
) -> BatchEmbedder | None:
    """Return the batch interface of an embedder, if it has one and it is enabled."""
    if not settings.enabled or not isinstance(embedder, HasBatches):
        return None
    return embedder.batches(settings, journals)


class BatchEmbedder:
    """Embeds passages in jobs, and remembers those that are under way.

    A journal keeps the jobs that were paid for, so that a later run fetches them
    instead of handing the same passages in again. Texts have keys, which the caller
    chooses and which stay the same from run to run.
    """

    def __init__(
        self,
        jobs: BatchJobs,
        journal: JobJournal,
        *,
        dimension: int,
        settings: BatchSettings,
        errors: ErrorMap,
    ) -> None:
        self._jobs = jobs
        self._journal = journal
        self._dimension = dimension
        self._settings = settings
        self._errors = errors

    def embed(self, texts: Mapping[bytes, str]) -> Generator[EmbeddedBatch, None, None]:
        """Yield vectors as jobs end. What was yielded is not remembered any more.

        Whatever an earlier run has handed in is yielded as well, wanted or not: it
        was paid for. Texts that are not yielded are under way, or handed in by a later
        run, which also fetches them. With `wait` off, only what has ended already is
        yielded. A row is all NaN if the provider refuses its text.

        Raises:
            EmbeddingError: a job cannot be handed in, or failed as a whole. What is
                `under_way` stays so; the other texts are to be embedded inline.
        """
        under_way = self._journal.jobs()
        known = {key for job in under_way for key in job.texts}
        waiting = self._portions([key for key in texts if key not in known])
        until = time.monotonic() + 60 * self._settings.timeout_minutes
        while waiting or under_way:
            while waiting and len(under_way) < self._settings.concurrency:
                under_way.append(self._submit(texts, waiting.pop(0)))
            yield from self._ended(under_way)
            if not self._settings.wait or time.monotonic() > until:
                return
            if under_way:
                time.sleep(self._settings.poll_interval_ms / 1000)

    def under_way(self, keys: Collection[bytes]) -> set[bytes]:
        """Return which of the texts were paid for and not fetched yet."""
        known = {key for job in self._journal.jobs() for key in job.texts}
        return known.intersection(keys)

    def _portions(self, keys: Sequence[bytes]) -> list[Sequence[bytes]]:
        limit = self._jobs.limit
        return [keys[i : i + limit] for i in range(0, len(keys), limit)]

    def _submit(self, texts: Mapping[bytes, str], keys: Sequence[bytes]) -> BatchJob:
        try:
            self._journal.check()
            job = BatchJob(
                id=self._jobs.submit([texts[key] for key in keys]), texts=keys
            )
            if not job.id:
                raise self._failed("did not take a batch")
            self._journal.add(job)
        except Refusal:
            raise self._failed("refuses a batch") from None
        except OSError as exc:
            raise self._failed("gets no batch: its journal cannot be written") from exc
        return job

    def _ended(self, under_way: list[BatchJob]) -> Iterator[EmbeddedBatch]:
        """Yield what jobs that have ended bring; they are forgotten after that."""
        for job in tuple(under_way):
            look = self._look(job)
            if look.state == "running":
                continue
            if look.state == "failed" or all(v is None for v in look.vectors):
                self._end(job)
                raise self._failed("could not work on a batch")
            yield self._finished(job, look)
            self._end(job)
            under_way.remove(job)

    def _look(self, job: BatchJob) -> JobState:
        try:
            return self._jobs.look(job.id, len(job.texts))
        except Refusal:
            return JobState(state="failed")
        except EmbeddingError as exc:
            if exc.reason == "model-missing":  # HTTP 404: it knows no such job
                return JobState(state="failed")
            if exc.terminal:
                raise
            return JobState(state="running")  # for all we know

    def _finished(self, job: BatchJob, look: JobState) -> EmbeddedBatch:
        rows = unit_rows(look.vectors, self._dimension)
        # Those that a job did not come to are handed in again.
        kept = [
            place
            for place, good in enumerate(usable_rows(rows))
            if good or look.state == "done"
        ]
        return [job.texts[place] for place in kept], rows[kept]

    def _end(self, job: BatchJob) -> None:
        with contextlib.suppress(OSError):  # then it is fetched once more, for nothing
            self._journal.remove(job)
        self._jobs.forget(job.id)

    def _failed(self, said: str) -> EmbeddingError:
        return self._errors.error(
            f"{self._errors.host} {said}",
            reason="network",
            remedy="the rest is embedded without batches; set remote.batch.enabled to "
            "false to do without them",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchJob:
    """A job at a provider.

    Attributes:
        id: Its id there.
        texts: Keys of its texts, in order.
    """

    id: str
    texts: Sequence[bytes]


class JobJournal:
    """The open jobs of one identity of vectors. For one process at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def jobs(self) -> list[BatchJob]:
        """Return the open jobs; a file that cannot be read holds none."""
        try:
            found = read_json(self._path.read_bytes())
            return [_job(item) for item in read_items(read_member(found, "jobs"))]
        except (OSError, ValueError):
            return []

    def add(self, job: BatchJob) -> None:
        """Remember a job.

        Raises:
            OSError: the file cannot be written.
        """
        self._write([*self.jobs(), job])

    def remove(self, job: BatchJob) -> None:
        """Forget a job.

        Raises:
            OSError: the file cannot be written.
        """
        self._write([other for other in self.jobs() if other.id != job.id])

    def check(self) -> None:
        """Make sure that a job can be remembered before one is paid for.

        Raises:
            OSError: the file cannot be written.
        """
        self._write(self.jobs())

    def _write(self, jobs: Sequence[BatchJob]) -> None:
        create_folder(self._path.parent)
        written = [
            {"id": job.id, "texts": [key.hex() for key in job.texts]} for job in jobs
        ]
        replace_file(self._path, json.dumps({"jobs": written}).encode())


def _job(item: object) -> BatchJob:
    keys = read_items(read_member(item, "texts"))
    return BatchJob(
        id=str(read_member(item, "id")),
        texts=[bytes.fromhex(str(key)) for key in keys],
    )
