"""Vectors of what was said, beside those of the notes."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from notewell.adapters.embeddings.base import ProviderChoice
from notewell.backends.base import Findings, Listener, Query, Run, Upload
from notewell.backends.builtin.engine import Engine
from notewell.backends.builtin.vectors import nearest
from notewell.backends.weighing import answer
from notewell.sessions.programs import ProgramTranscripts
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


class ProgramTalk:
    """A notebook with a note and a transcript of Claude Code, and a provider elsewhere."""

    def __init__(self, notebook: "Notebook", concepts: "Concepts") -> None:
        self.notebook = notebook
        self.concepts = concepts
        self._home = notebook.state.resolve() / "claude"
        file = self._home / "projects" / "-code-shop" / "a.jsonl"
        file.parent.mkdir(parents=True)
        for text in ("The surgeon is Odo.", "Both say this."):
            message = {"role": "user", "content": text}
            record = {"type": "user", "cwd": "/code/shop", "message": message}
            with file.open("a", encoding="utf-8") as opened:
                opened.write(json.dumps(record) + "\n")
        notebook.write({"MEMORY.md": "The vehicle is red.\n"})

    def index(self, *, remote: bool, allowed: bool, **run: bool) -> IndexReport:
        source = ProgramTranscripts(
            program="claude-code",
            project="/code/shop",
            folder=self._home,
            remote=allowed,
        )
        self.notebook.engine.close()
        provider = self.concepts.provider(remote=remote)
        self.notebook.engine = Engine(
            replace(
                self.notebook.site(),
                embedding=ProviderChoice(first=provider),
                transcripts=True,
                own_transcripts=False,
                programs=(source,),
            )
        )
        return self.notebook.engine.refresh(
            Run(vectors="all", listener=Agreeing(), **run)
        )

    @property
    def sent(self) -> str:
        return "\n".join((*self.concepts.texts, *self.concepts.queries))


class Agreeing(Listener):
    def __init__(self) -> None:
        self.uploads: list[Upload] = []

    def uploading(self, upload: Upload) -> bool:
        self.uploads.append(upload)
        return True


@pytest.fixture
def program_talk(notebook: "Notebook", concepts: "Concepts") -> ProgramTalk:
    return ProgramTalk(notebook, concepts)


def test_transcripts_of_other_programs_are_sent_nowhere_unless_that_is_allowed(
    program_talk: ProgramTalk,
) -> None:
    for force in (False, True):
        report = program_talk.index(remote=True, allowed=False, force=force)

        assert "vehicle" in program_talk.sent
        assert "surgeon" not in program_talk.sent
        assert not report.warnings, "the set of vectors is whole without them"

    program_talk.index(remote=True, allowed=True)
    assert "surgeon" in program_talk.sent


def test_what_may_no_longer_be_sent_is_dropped_and_not_measured_again(
    program_talk: ProgramTalk,
) -> None:
    program_talk.index(remote=True, allowed=True)
    program_talk.concepts.texts.clear()
    program_talk.concepts.queries.clear()

    program_talk.index(remote=True, allowed=False, force=True)

    assert "surgeon" not in program_talk.sent


def test_a_provider_on_this_machine_gets_them_all(program_talk: ProgramTalk) -> None:
    program_talk.index(remote=False, allowed=False)

    assert "surgeon" in program_talk.sent
