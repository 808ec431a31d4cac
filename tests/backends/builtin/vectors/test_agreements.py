"""What leaves this machine: notes where somebody agreed, questions where all was made."""

import os
from typing import TYPE_CHECKING

import pytest

from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.backends.builtin.vectors.conftest import Concepts, Meant

NOTES = {f"memory/n{n:02}.md": f"# Note {n}\n\nword{n} car\n" for n in range(12)}


@pytest.fixture
def away(meant: "Meant", concepts: "Concepts") -> "Meant":
    meant.has(concepts.provider(remote=True))
    meant.notebook.write(NOTES)
    return meant


@pytest.fixture
def second(concepts: "Concepts") -> "Concepts":
    return type(concepts)("second", dimension=48)


def refuse_to_answer(concepts: "Concepts", monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where the provider is so much as asked what it is."""

    def asked() -> None:
        raise AssertionError("the provider was asked")

    monkeypatch.setattr(concepts, "identity", asked)


def test_nothing_is_sent_or_asked_before_somebody_has_agreed(
    away: "Meant", concepts: "Concepts", monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_to_answer(concepts, monkeypatch)
    away.agrees = False

    report = away.index()

    assert (concepts.texts, concepts.queries) == ([], [])
    [upload] = away.uploads
    assert (upload.host, upload.passages) == ("concepts.example", 12)
    [warning, *_] = report.warnings
    assert "concepts.example" in warning
    assert "12 passages" in warning
    assert "index --yes" in warning


def test_an_agreement_holds_for_its_host_and_no_other(
    away: "Meant", concepts: "Concepts", second: "Concepts"
) -> None:
    away.index()
    away.agrees = False
    away.notebook.write({"memory/new.md": "a new note\n"})

    away.has()  # opened anew, as by another process
    away.index()
    made = len(concepts.texts)
    away.has(second.provider(remote=True))
    away.index()

    assert made == 13
    assert second.texts == []


def test_a_file_of_agreements_that_is_damaged_agrees_to_nothing(
    away: "Meant", concepts: "Concepts"
) -> None:
    file = away.notebook.site().state_dir / "notewell-hosts.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('{"hosts": "concepts.example', encoding="utf-8")
    away.agrees = False

    away.index()

    assert concepts.texts == []


def test_what_stands_at_the_place_of_agreements_and_is_no_file_is_not_waited_for(
    away: "Meant", concepts: "Concepts"
) -> None:
    file = away.notebook.site().state_dir / "notewell-hosts.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(file)
    away.agrees = False

    away.index()

    assert concepts.texts == []


def test_a_search_before_index_asks_nobody_elsewhere(
    away: "Meant", concepts: "Concepts", monkeypatch: pytest.MonkeyPatch
) -> None:
    away.notebook.refresh()
    refuse_to_answer(concepts, monkeypatch)

    found = away.notebook.ask("car")

    assert found.mode == "keyword"
    assert found.hits
    [step] = found.fallbacks
    assert (step.from_, step.reason) == ("concepts", "not-ready")


def test_a_question_goes_nowhere_while_the_vectors_were_never_complete(
    away: "Meant", concepts: "Concepts"
) -> None:
    def breaks_off(texts: "Sequence[str]") -> None:
        if len(concepts.texts) >= concepts.batch_size:
            raise EmbeddingError("concepts", "gone", reason="network", remedy="wait")

    concepts.batch_size = 4
    concepts.before = breaks_off
    away.index()
    concepts.before = lambda texts: None
    broken_off = away.notebook.ask("car")
    asked = list(concepts.queries)
    away.index()
    away.notebook.write({"memory/new.md": "a new note about a car\n"})
    away.notebook.refresh()
    with_a_new_note = away.notebook.ask("car")

    assert len(concepts.texts) >= 4
    assert (broken_off.mode, asked) == ("keyword", [])
    assert with_a_new_note.mode == "hybrid"
