"""Many passages at a lower price: the batch interfaces, which answer within a day."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, runtime_checkable

from notewell.adapters.embeddings.failures import Refused
from notewell.adapters.embeddings.jobs import Look
from notewell.adapters.embeddings.journal import Job, Journal
from notewell.adapters.embeddings.vectors import unit_rows, usable
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from notewell.adapters.embeddings.base import Embedder, Matrix
    from notewell.adapters.embeddings.failures import Blame
    from notewell.adapters.embeddings.jobs import Jobs
    from notewell.config.search import BatchSettings

WORTH_IT: Final = 1000
"""From so many missing passages on a batch is worth its wait."""

Progress: TypeAlias = Callable[[int, int], None]
"""Called with (passages embedded, passages handed in)."""

Finished: TypeAlias = tuple[Sequence[int], "Matrix"]
"""Which of the texts, and their vectors, as from `Embedder.embed`."""


@runtime_checkable
class HasBatches(Protocol):
    """An Embedder whose provider may have a batch interface."""

    def batches(self, settings: BatchSettings) -> Batches | None:
        """Return it; None where another server is asked, or none is published."""
        ...


def batches_of(embedder: Embedder, settings: BatchSettings) -> Batches | None:
    """Return the batch interface of an embedder, if it has one and it is enabled."""
    if not settings.enabled or not isinstance(embedder, HasBatches):
        return None
    return embedder.batches(settings)


class Batches:
    """Embeds passages in jobs, and remembers those that are under way.

    A journal in the state folder keeps the jobs that were paid for, so that a later
    run fetches them instead of handing the same passages in again.
    """

    def __init__(
        self,
        jobs: Jobs,
        journal: Journal,
        *,
        dimension: int,
        settings: BatchSettings,
        blame: Blame,
    ) -> None:
        self._jobs = jobs
        self._journal = journal
        self._dimension = dimension
        self._settings = settings
        self._blame = blame

    def embed(
        self, texts: Sequence[str], *, progress: Progress | None = None
    ) -> Generator[Finished, None, None]:
        """Yield vectors as jobs end. What was yielded is not remembered any more.

        Texts that are not yielded are under way, or handed in by a later run, which
        also fetches them. With `wait` off, only what has ended already is yielded. A
        row is all NaN if the provider refuses its text.

        Raises:
            EmbeddingError: a job cannot be handed in, or failed as a whole. What is
                `under_way` stays so; the other texts are to be embedded inline.
        """
        places: dict[str, list[int]] = {}
        for place, text in enumerate(texts):
            places.setdefault(_hash(text), []).append(place)
        under_way = self._journal.jobs()
        known = {text for job in under_way for text in job.texts}
        fresh = [where[0] for text, where in places.items() if text not in known]
        waiting = self._portions(fresh)
        until = time.monotonic() + 60 * self._settings.timeout_minutes
        tell, done = progress or _say_nothing, 0
        while waiting or under_way:
            while waiting and len(under_way) < self._settings.concurrency:
                under_way.append(self._submit(texts, waiting.pop(0)))
            for finished in self._ended(under_way, places):
                yield finished
                done += len(finished[0])
                tell(done, len(texts))
            if not self._settings.wait or time.monotonic() > until:
                return
            if under_way:
                time.sleep(self._settings.poll_interval_ms / 1000)

    def under_way(self, texts: Sequence[str]) -> Sequence[int]:
        """Return which of the texts were paid for and not fetched yet."""
        known = {text for job in self._journal.jobs() for text in job.texts}
        return [place for place, text in enumerate(texts) if _hash(text) in known]

    def _portions(self, places: Sequence[int]) -> list[Sequence[int]]:
        limit = self._jobs.limit
        return [places[i : i + limit] for i in range(0, len(places), limit)]

    def _submit(self, texts: Sequence[str], places: Sequence[int]) -> Job:
        portion = [texts[place] for place in places]
        try:
            self._journal.check()
            job = Job(
                id=self._jobs.submit(portion), texts=[_hash(text) for text in portion]
            )
            if not job.id:
                raise self._failed("did not take a batch")
            self._journal.add(job)
        except Refused:
            raise self._failed("refuses a batch") from None
        except OSError as exc:
            raise self._failed("gets no batch: its journal cannot be written") from exc
        return job

    def _ended(
        self, under_way: list[Job], places: Mapping[str, Sequence[int]]
    ) -> Iterator[Finished]:
        """Yield what jobs that have ended bring; they are forgotten after that."""
        for job in tuple(under_way):
            look = self._look(job)
            if look.state == "running":
                continue
            if look.state == "failed" or all(v is None for v in look.vectors):
                self._end(job)
                raise self._failed("could not work on a batch")
            yield self._finished(job, look, places)
            self._end(job)
            under_way.remove(job)

    def _look(self, job: Job) -> Look:
        try:
            return self._jobs.look(job.id, len(job.texts))
        except Refused:
            return Look(state="failed")
        except EmbeddingError as exc:
            if exc.reason == "model-missing":  # HTTP 404: it knows no such job
                return Look(state="failed")
            if exc.terminal:
                raise
            return Look(state="running")  # for all we know

    def _finished(
        self, job: Job, look: Look, places: Mapping[str, Sequence[int]]
    ) -> Finished:
        rows = unit_rows(look.vectors, self._dimension)
        good = usable(rows)
        kept = [
            (place, number)
            for number, text in enumerate(job.texts)
            # Those that a job did not come to are handed in again, and those that
            # changed meanwhile are of no use.
            if good[number] or look.state == "done"
            for place in places.get(text, ())
        ]
        return [place for place, _ in kept], rows[[number for _, number in kept]]

    def _end(self, job: Job) -> None:
        with contextlib.suppress(OSError):  # then it is fetched once more, for nothing
            self._journal.remove(job)
        self._jobs.forget(job.id)

    def _failed(self, said: str) -> EmbeddingError:
        return self._blame.error(
            f"{self._blame.host} {said}",
            reason="network",
            remedy="the rest is embedded without batches; set remote.batch.enabled to "
            "false to do without them",
        )


def _say_nothing(done: int, given: int) -> None:
    pass


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
