"""Making vectors by a provider's batch interface: what was paid for is never lost."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest
from tests.backends.builtin.vectors.conftest import Concepts

from notewell.adapters.embeddings.base import EmbeddingSettings
from notewell.adapters.embeddings.remote import batch
from notewell.adapters.embeddings.remote.batch import BatchEmbedder, JobJournal
from notewell.adapters.embeddings.remote.dialect import JobState
from notewell.adapters.embeddings.remote.errors import ErrorMap
from notewell.backends.builtin.vectors import passage_embedder
from notewell.config.schema import BatchSettings
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from tests.backends.builtin.vectors.conftest import Meant

NOTES = {f"memory/n{n:02}.md": f"# Note {n}\n\nword{n} text\n" for n in range(30)}
HASTY = BatchSettings(poll_interval_ms=1, timeout_minutes=0, concurrency=3)


class Service:
    """A provider's jobs: each runs until it was looked at so many times.

    Attributes:
        looks: How many.
        handed_in: Every text that was paid for.
    """

    limit: ClassVar[int] = 4

    def __init__(self, looks: int) -> None:
        self.looks = looks
        self.handed_in: list[str] = []
        self._jobs: list[tuple[Sequence[str], list[int]]] = []

    def submit(self, texts: Sequence[str]) -> str:
        self.handed_in.extend(texts)
        self._jobs.append((texts, []))
        return str(len(self._jobs))

    def look(self, job: str, count: int) -> JobState:
        texts, looked = self._jobs[int(job) - 1]
        looked.append(1)
        if len(looked) <= self.looks:
            return JobState(state="running")
        return JobState(state="done", vectors=list(Concepts().embed(texts, "document")))

    def forget(self, job: str) -> None:
        _, looked = self._jobs[int(job) - 1]
        assert len(looked) > self.looks


class Batched(Concepts):
    """The concepts, with such a service."""

    def __init__(self, service: Service) -> None:
        super().__init__("batched")
        self._service = service

    def batches(self, settings: BatchSettings, journals: Path) -> BatchEmbedder:
        request = EmbeddingSettings(name=self.name, state_dir=journals)
        return BatchEmbedder(
            self._service,
            JobJournal(journals / "jobs.json"),
            dimension=self.dimension,
            settings=HASTY,
            errors=ErrorMap(settings=request, host="batched.example", model=self.model),
        )


@pytest.mark.parametrize("looks", [0, 1, 4])
def test_every_text_is_paid_for_once_however_late_its_job_ends(
    meant: "Meant", monkeypatch: pytest.MonkeyPatch, looks: int
) -> None:
    monkeypatch.setattr(batch, "WORTH_IT", 5)
    monkeypatch.setattr(passage_embedder, "_HANDED_IN", 10)
    service = Service(looks)
    embedder = Batched(service)
    meant.has(embedder.provider(remote=True))
    meant.notebook.write(NOTES)

    runs = [meant.index() for _ in range(6)]

    paid = [*service.handed_in, *embedder.texts]
    assert len(paid) == len(set(paid)) == 30
    assert service.handed_in
    assert runs[-1].embedded == 30
    assert runs[-1].warnings == ()


def test_a_change_of_the_notes_meanwhile_loses_nothing_that_was_paid_for(
    meant: "Meant", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "WORTH_IT", 5)
    service = Service(looks=1)
    embedder = Batched(service)
    meant.has(embedder.provider(remote=True))
    meant.notebook.write(NOTES)
    meant.index()
    early = {"memory/n00.md": "another text\n"}

    meant.notebook.write(early)
    meant.index()
    meant.notebook.write({"memory/n00.md": NOTES["memory/n00.md"]})
    report = meant.index()

    paid = [*service.handed_in, *embedder.texts]
    assert len(paid) == len(set(paid)) == 31
    assert report.embedded == 30


def test_a_few_texts_are_sent_as_usual(
    meant: "Meant", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "WORTH_IT", 31)
    service = Service(looks=0)
    embedder = Batched(service)
    meant.has(embedder.provider(remote=True))
    meant.notebook.write(NOTES)

    report = meant.index()

    assert (report.embedded, len(embedder.texts), service.handed_in) == (30, 30, [])


def test_the_rest_is_sent_as_usual_when_the_interface_breaks(
    meant: "Meant", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "WORTH_IT", 5)
    service = Service(looks=0)
    service.submit = broken
    embedder = Batched(service)
    meant.has(embedder.provider(remote=True))
    meant.notebook.write(NOTES)

    report = meant.index()

    assert (report.embedded, len(embedder.texts)) == (30, 30)
    assert report.warnings == ("batched: it broke; wait",)


def broken(texts: Sequence[str]) -> str:
    raise EmbeddingError("batched", "it broke", reason="network", remedy="wait")
