"""Large backfills through a provider's batch interface: nothing is paid for twice."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pytest

from notewell.adapters.embeddings import batch
from notewell.config.search import BatchSettings
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from tests.backends.builtin.vectors.conftest import Concepts, Meant

    from notewell.adapters.embeddings.base import Matrix

NOTES = {f"memory/n{n:02}.md": f"Note word{n}.\n" for n in range(30)}


class Jobs:
    """A batch interface in this process.

    Attributes:
        handed_in: Every text that was paid for.
        late: Jobs end in a later run.
        fails_after: Texts after which it breaks down.
    """

    def __init__(self, concepts: "Concepts") -> None:
        self._concepts = concepts
        self._pending: list[str] = []
        self.handed_in: list[str] = []
        self.late = False
        self.fails_after: int | None = None

    def embed(self, texts: Sequence[str]) -> Iterator[tuple[Sequence[int], "Matrix"]]:
        fresh = [text for text in texts if text not in self._pending]
        taken = fresh[: self.fails_after]
        self.handed_in += taken
        self._pending += taken
        if self.fails_after is not None:
            raise EmbeddingError("concepts", "broke", reason="network", remedy="wait")
        if self.late:
            return
        places = [place for place, text in enumerate(texts) if text in self._pending]
        rows = self._concepts.embed([texts[place] for place in places], "document")
        self._concepts.texts.clear()
        self._pending.clear()
        yield places, rows

    def under_way(self, texts: Sequence[str]) -> list[int]:
        return [place for place, text in enumerate(texts) if text in self._pending]


@pytest.fixture
def jobs(meant: "Meant", concepts: "Concepts", monkeypatch: pytest.MonkeyPatch) -> Jobs:
    """The batch interface of the notebook's provider, worth it from ten texts on."""
    made = Jobs(concepts)

    def batches(settings: BatchSettings) -> Jobs:
        return made

    monkeypatch.setattr(concepts, "batches", batches, raising=False)
    monkeypatch.setattr(batch, "WORTH_IT", 10)
    meant.has(concepts.provider(remote=True))
    meant.notebook.write(NOTES)
    return made


def test_many_texts_are_handed_in_and_none_is_sent_by_itself(
    meant: "Meant", concepts: "Concepts", jobs: Jobs
) -> None:
    report = meant.index()

    assert (report.embedded, len(jobs.handed_in), concepts.texts) == (30, 30, [])
    assert meant.progress[-1] == (30, 30)
    assert [upload.passages for upload in meant.uploads] == [30]


def test_a_few_texts_are_sent_as_usual(
    meant: "Meant", concepts: "Concepts", jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "WORTH_IT", 31)

    report = meant.index()

    assert (report.embedded, jobs.handed_in, len(concepts.texts)) == (30, [], 30)


def test_what_is_under_way_is_waited_for_by_a_later_run_and_not_sent_again(
    meant: "Meant", concepts: "Concepts", jobs: Jobs
) -> None:
    jobs.late = True
    first = meant.index()
    jobs.late = False
    second = meant.index()

    assert (first.embedded, second.embedded) == (0, 30)
    assert "found by words alone: 30;" in first.warnings[0]
    assert (len(jobs.handed_in), concepts.texts) == (30, [])


def test_the_rest_is_sent_as_usual_when_the_interface_breaks(
    meant: "Meant", concepts: "Concepts", jobs: Jobs
) -> None:
    jobs.fails_after = 12
    report = meant.index()

    assert report.embedded == 18
    assert report.warnings[0] == "concepts: broke; wait"
    assert sorted([*jobs.handed_in, *concepts.texts]) == sorted(
        text.strip() for text in NOTES.values()
    )
