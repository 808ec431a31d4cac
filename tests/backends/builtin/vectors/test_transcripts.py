"""Vectors of what was said, beside those of the notes."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from notewell.adapters.embeddings.base import ProviderChoice
from notewell.backends.base import Findings, Query, Run
from notewell.backends.builtin.engine import Engine
from notewell.backends.builtin.vectors import nearest
from notewell.backends.weighing import answer
from notewell.types import IndexReport, Source

if TYPE_CHECKING:
    from tests.backends.builtin.vectors.conftest import Concepts
    from tests.backends.conftest import Notebook


class Spoken:
    """A notebook whose engine reads transcripts as well, and has an embedder."""

    def __init__(self, notebook: "Notebook", concepts: "Concepts") -> None:
        self.notebook = notebook
        self.folder = notebook.state / "agents" / "main" / "sessions"
        self.folder.mkdir(parents=True)
        site = replace(
            notebook.site(),
            embedding=ProviderChoice(first=concepts.provider()),
            transcripts=True,
        )
        notebook.engine.close()
        notebook.engine = Engine(site)

    def say(self, name: str, *texts: str) -> Path:
        """Write a transcript."""
        file = self.folder / name
        records = (
            {"type": "message", "message": {"role": "user", "content": text}}
            for text in texts
        )
        lines = "".join(f"{json.dumps(record)}\n" for record in records)
        file.write_text(lines, encoding="utf-8")
        return file

    def index(self) -> IndexReport:
        """Bring texts and vectors up to date."""
        return self.notebook.engine.refresh(Run(vectors="all"))

    def ask(
        self,
        text: str,
        *sources: Source,
        hides: Callable[[str], bool] = lambda path: False,
    ) -> Findings:
        """Put a question about some sources."""
        query = Query(text=text, limit=5, sources=frozenset(sources), hides=hides)
        return self.notebook.engine.search(query)


@pytest.fixture
def spoken(notebook: "Notebook", concepts: "Concepts") -> Spoken:
    """Such a notebook, without notes and transcripts."""
    return Spoken(notebook, concepts)


@pytest.fixture(params=["one by one", "by codes"])
def searched(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors are compared in either way, with few candidates."""
    if request.param == "by codes":
        monkeypatch.setattr(nearest, "ONE_BY_ONE", 0)
    monkeypatch.setattr(nearest, "_CANDIDATES", 5)
    monkeypatch.setattr(answer, "_FEWEST_CANDIDATES", 5)


@pytest.mark.usefixtures("searched")
def test_a_source_is_found_by_meaning_however_many_of_the_other_one_are_nearer(
    spoken: Spoken,
) -> None:
    spoken.notebook.write({"memory/far.md": "my automobile\n"})
    for number in range(200):
        spoken.say(f"s{number}.jsonl", f"automobile {number}")
    spoken.say("sea.jsonl", "the ocean")
    spoken.notebook.write({f"memory/n{n}.md": f"ocean {n}\n" for n in range(40)})
    report = spoken.index()

    notes = spoken.ask("vehicle", "memory")
    talks = spoken.ask("sea", "sessions")

    assert report.embedded == 242
    assert [hit.path for hit in notes.hits] == ["memory/far.md"]
    assert talks.hits[0].path == "sessions/sea.jsonl"
    assert {hit.source for hit in talks.hits} == {"sessions"}
    assert talks.hits[0].vector_score


@pytest.mark.usefixtures("searched")
def test_transcripts_that_are_closed_take_no_place_from_one_that_is_open(
    spoken: Spoken,
) -> None:
    for number in range(100):
        spoken.say(f"other{number}.jsonl", f"automobile {number}")
    spoken.say("own.jsonl", "my automobile")
    spoken.index()

    found = spoken.ask(
        "vehicle", "sessions", hides=lambda path: path.startswith("sessions/other")
    )

    assert [hit.path for hit in found.hits] == ["sessions/own.jsonl"]


def test_a_transcript_that_is_deleted_or_renamed_while_it_is_embedded_is_not_kept(
    spoken: Spoken, concepts: "Concepts"
) -> None:
    deleted = spoken.say("deleted.jsonl", "mango")
    renamed = spoken.say("renamed.jsonl", "papaya")

    def change(texts: Sequence[str]) -> None:
        deleted.unlink(missing_ok=True)
        if renamed.exists():
            renamed.rename(spoken.folder / "renamed.jsonl.reset.2026-01-01T04")
        spoken.notebook.refresh()

    concepts.before = change
    spoken.index()
    concepts.before = lambda texts: None
    report = spoken.index()

    assert spoken.ask("mango", "sessions").reason == "no-match"
    assert [hit.path for hit in spoken.ask("papaya", "sessions").hits] == [
        "sessions/renamed.jsonl.reset.2026-01-01T04"
    ]
    assert (report.pending, report.embedded) == (0, 1)
