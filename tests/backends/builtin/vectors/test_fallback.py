"""Who answers when a provider fails, and what the answer says of it."""

from typing import TYPE_CHECKING

import pytest

from notewell.adapters.embeddings.base import EmbeddingIdentity
from notewell.backends.builtin.vectors import query_embedder
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from tests.backends.builtin.vectors.conftest import Concepts, Meant

NOTES = {
    "memory/automobile.md": "An automobile.\n",
    "memory/soup.md": "Lunch was soup.\n",
}


def failing(reason: str, *, retry_after: float | None = None) -> EmbeddingError:
    """Return what a provider fails with."""
    return EmbeddingError(
        "concepts",
        "it failed",
        reason=reason,
        remedy="mend it",
        retry_after=retry_after,
    )


@pytest.fixture
def second(concepts: "Concepts") -> "Concepts":
    """Another embedder, with vectors of its own."""
    return type(concepts)("second", dimension=48)


@pytest.mark.parametrize(
    "reason", ["timeout", "auth", "quota", "rate-limit", "network"]
)
def test_words_answer_when_the_only_provider_fails(
    meant: "Meant", concepts: "Concepts", reason: str
) -> None:
    meant.notebook.write(NOTES)
    meant.index()
    concepts.fails = failing(reason)

    found = meant.notebook.ask("soup")

    assert found.hits[0].path == "memory/soup.md"
    assert (found.mode, found.provider) == ("keyword", None)
    [step] = found.fallbacks
    assert (step.kind, step.from_, step.to) == ("embedding", "concepts", "none")
    assert (step.reason, step.message) == (reason, "concepts: it failed; mend it")
    assert not found.local_to_remote


def test_the_second_provider_answers_with_its_own_complete_vectors(
    meant: "Meant", concepts: "Concepts", second: "Concepts"
) -> None:
    meant.notebook.write(NOTES)
    meant.has(second.provider())
    meant.index()
    concepts.fails = failing("timeout")
    meant.has(concepts.provider(), second.provider())

    found = meant.notebook.ask("vehicle")

    assert found.hits[0].path == "memory/automobile.md"
    assert (found.mode, found.provider, found.model) == (
        "hybrid",
        "second",
        "second-model",
    )
    [step] = found.fallbacks
    assert (step.from_, step.to, step.reason) == ("concepts", "second", "not-ready")


def test_the_second_provider_is_not_asked_while_its_vectors_are_incomplete(
    meant: "Meant", concepts: "Concepts", second: "Concepts"
) -> None:
    meant.notebook.write(NOTES)
    meant.has(second.provider())
    meant.index()
    meant.has(concepts.provider(), second.provider())
    meant.index()
    meant.notebook.write({"memory/new.md": "A note that came later.\n"})
    meant.notebook.refresh()
    concepts.fails = failing("network")

    found = meant.notebook.ask("soup")

    assert found.mode == "keyword"
    assert [(step.from_, step.to, step.reason) for step in found.fallbacks] == [
        ("concepts", "second", "network"),
        ("second", "none", "not-ready"),
    ]
    assert second.queries == []
    assert not found.local_to_remote


def test_a_question_that_leaves_the_machine_for_a_local_failure_is_flagged(
    meant: "Meant", concepts: "Concepts", second: "Concepts"
) -> None:
    meant.notebook.write(NOTES)
    away = second.provider(remote=True)
    concepts.fails = failing("missing")
    meant.has(concepts.provider(), away)
    report = meant.index()

    found = meant.notebook.ask("vehicle")
    meant.has(concepts.provider(remote=True), away)
    remote_all_along = meant.notebook.ask("vehicle")

    assert report.local_to_remote
    assert [upload.host for upload in meant.uploads] == ["second.example"]
    assert found.provider == "second"
    assert found.local_to_remote
    assert remote_all_along.provider == "second"
    assert not remote_all_along.local_to_remote


def test_index_makes_the_second_vectors_only_when_the_first_provider_fails(
    meant: "Meant", concepts: "Concepts", second: "Concepts"
) -> None:
    meant.notebook.write(NOTES)
    meant.has(concepts.provider(), second.provider())

    meant.index()
    healthy = list(second.texts)
    meant.notebook.write({"memory/new.md": "A later note.\n"})
    concepts.fails = failing("quota")
    report = meant.index()

    assert healthy == []
    assert len(second.texts) == 3
    assert (report.embedded, report.pending) == (3, 0)
    assert report.warnings == ("concepts: it failed; mend it",)


def test_a_provider_that_failed_rests_and_is_asked_again_later(
    meant: "Meant", concepts: "Concepts", monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr(query_embedder.time, "monotonic", lambda: clock[0])
    calls: list[int] = []
    concepts.before = lambda texts: calls.append(1)
    meant.notebook.write(NOTES)
    meant.index()
    calls.clear()
    concepts.fails = failing("rate-limit", retry_after=5)

    first = meant.notebook.ask("soup")
    resting = meant.notebook.ask("soup lunch")
    clock[0] += 6
    concepts.fails = None
    healthy = meant.notebook.ask("soup")

    assert [step.reason for step in first.fallbacks] == ["rate-limit"]
    assert [step.reason for step in resting.fallbacks] == ["cooldown"]
    assert "it failed; concepts is asked again in 5 s" in resting.fallbacks[0].message
    assert (healthy.mode, healthy.fallbacks) == ("hybrid", ())
    assert len(calls) == 2


def test_a_vector_that_cannot_be_used_is_a_failure(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(NOTES)
    meant.index()

    found = meant.notebook.ask("unembeddable soup")

    assert found.hits[0].path == "memory/soup.md"
    assert [step.reason for step in found.fallbacks] == ["bad-vector"]


def test_the_same_question_is_embedded_once(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(NOTES)
    meant.index()

    first, second = meant.notebook.ask("vehicle"), meant.notebook.ask("vehicle")

    assert first == second
    assert concepts.queries == ["vehicle"]


def test_a_search_without_vectors_sends_nothing(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(NOTES)
    meant.notebook.refresh()

    found = meant.notebook.ask("soup")

    assert [step.reason for step in found.fallbacks] == ["not-ready"]
    assert concepts.queries == concepts.texts == []


def test_closing_the_engine_closes_its_providers(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(NOTES)
    meant.index()

    meant.notebook.engine.close()
    meant.notebook.engine.close()

    assert concepts.closed


def test_a_provider_rests_too_when_it_does_not_even_say_its_dimension(
    meant: "Meant", concepts: "Concepts", monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def identity() -> EmbeddingIdentity:
        asked.append(1)
        raise failing("timeout")

    meant.notebook.write(NOTES)
    meant.index()
    monkeypatch.setattr(concepts, "identity", identity)

    reasons = [
        [step.reason for step in meant.notebook.ask(text).fallbacks]
        for text in ("soup", "lunch")
    ]

    assert reasons == [["timeout"], ["cooldown"]]
    assert len(asked) == 1


def test_a_question_without_words_hides_no_step_down(
    meant: "Meant", concepts: "Concepts", second: "Concepts"
) -> None:
    meant.notebook.write(NOTES)
    concepts.fails = failing("exit")
    meant.has(concepts.provider(), second.provider(remote=True))
    meant.index()

    found = meant.notebook.ask("?!")

    assert found.reason == "empty-query"
    assert found.local_to_remote == bool(second.queries)


def test_a_question_without_words_is_not_sent(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(NOTES)
    meant.index()

    found = meant.notebook.ask("?!")

    assert found.reason == "empty-query"
    assert concepts.queries == []
