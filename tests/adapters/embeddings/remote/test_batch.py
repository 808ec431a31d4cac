"""Many passages in a batch: handed in once, fetched when they are ready."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from notewell.adapters.embeddings.remote.batch import batches_of
from notewell.adapters.embeddings.remote.gemini import GEMINI
from notewell.adapters.embeddings.remote.openai import OPENAI, provider
from notewell.adapters.embeddings.remote.provider import remote_provider
from notewell.config.schema import BatchSettings
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from tests.adapters.embeddings.conftest import Asks, Opened, Reply, Seen, Server

    from notewell.adapters.embeddings.remote.batch import BatchEmbedder
    from notewell.adapters.embeddings.remote.dialect import Dialect

QUICK = BatchSettings(poll_interval_ms=1)
ONE_LOOK = BatchSettings(poll_interval_ms=1, wait=False)


class FakeOpenAI:
    """Batches as OpenAI runs them: `status` is what each look is told."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.status = "completed"
        self.texts: dict[str, list[str]] = {}
        self.missing: set[str] = set()

    @property
    def handed_in(self) -> list[str]:
        return [text for texts in self.texts.values() for text in texts]

    def __call__(self, seen: Seen) -> Reply:
        _, _, kind, *rest = seen.path.split("/")
        if seen.method == "DELETE":
            return self._server.reply(body={"deleted": True})
        if kind == "files" and seen.method == "POST":
            return self._upload(seen)
        if kind == "files":
            return self._server.reply(raw=self._answers(rest[0].removeprefix("out-")))
        if seen.method == "POST":
            assert seen.body["endpoint"] == "/v1/embeddings"
            return self._server.reply(body={"id": seen.body["input_file_id"]})
        return self._look(rest[0])

    def _upload(self, seen: Seen) -> Reply:
        assert b'name="purpose"\r\n\r\nbatch\r\n' in seen.body
        lines = [line for line in seen.body.splitlines() if line.startswith(b"{")]
        name = f"file-{len(self.texts)}"
        self.texts[name] = [json.loads(line)["body"]["input"][0] for line in lines]
        return self._server.reply(body={"id": name})

    def _look(self, job: str) -> Reply:
        if job not in self.texts:
            return self._server.reply(status=404)
        files = {"input_file_id": job, "output_file_id": f"out-{job}"}
        return self._server.reply(body={"status": self.status, **files})

    def _answers(self, job: str) -> bytes:
        lines: list[bytes] = []
        for number, text in enumerate(self.texts[job]):
            if text not in self.missing:
                body = {"data": [{"index": 0, "embedding": self._server.vector(text)}]}
                answer = {"custom_id": str(number), "response": {"body": body}}
                lines.insert(0, json.dumps(answer).encode())
        return b"\n".join(lines)


@pytest.fixture
def openai(server: Server) -> FakeOpenAI:
    server.behave = FakeOpenAI(server)
    return server.behave


class Home:
    """Opens the batch interface of a provider at the test's server."""

    def __init__(self, asks: Asks, opened: Opened, journals: Path) -> None:
        self.journals = journals
        self._asks = asks
        self._opened = opened

    def __call__(
        self, settings: BatchSettings = QUICK, dialect: Dialect = OPENAI, **more: Any
    ) -> BatchEmbedder:
        request = self._asks(dimensionality=4, **more)
        home = replace(dialect, home=f"{request.endpoint}{dialect.path}")
        embedder = self._opened(remote_provider(replace(request, endpoint=None), home))
        batches = batches_of(embedder, settings, self.journals)
        assert batches is not None
        return batches


@pytest.fixture
def home(asks: Asks, opened: Opened, tmp_path: Path) -> Home:
    return Home(asks, opened, tmp_path / "batches")


def key_of(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def keyed(texts: Iterable[str]) -> dict[bytes, str]:
    return {key_of(text): text for text in texts}


def gathered(batches: BatchEmbedder, texts: Iterable[str]) -> dict[str, list[float]]:
    return {
        key.decode("utf-8", "surrogatepass"): [round(float(n), 4) for n in row]
        for keys, rows in batches.embed(keyed(texts))
        for key, row in zip(keys, rows, strict=True)
    }


def expected(server: Server, texts: Sequence[str]) -> dict[str, list[float]]:
    vectors = np.array([server.vector(text) for text in texts])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return {
        text: [round(float(np.float32(n)), 4) for n in row]
        for text, row in zip(texts, unit, strict=True)
    }


def test_every_text_gets_its_vector(
    server: Server, openai: FakeOpenAI, home: Home
) -> None:
    texts = ["a", "b", "c", "broken \ud83d"]

    found = gathered(home(), texts)

    assert list(found) == texts
    assert found["c"] == expected(server, ["c"])["c"]
    assert openai.handed_in == ["a", "b", "c", "broken ?"]


def test_a_later_run_fetches_what_was_paid_for(
    server: Server, openai: FakeOpenAI, home: Home
) -> None:
    openai.status = "in_progress"
    first = gathered(home(ONE_LOOK), ["a", "b"])
    openai.status = "completed"

    second = gathered(home(), ["new", "b", "a"])

    assert first == {}
    assert second == expected(server, ["new", "b", "a"])
    assert openai.handed_in == ["a", "b", "new"]


def test_what_was_not_taken_in_is_fetched_again(
    server: Server, openai: FakeOpenAI, home: Home
) -> None:
    run = home().embed(keyed(["a"]))
    next(run)
    run.close()  # the program ends before the vectors are stored

    assert gathered(home(), ["a"]) == expected(server, ["a"])
    assert openai.handed_in == ["a"]


def test_what_was_taken_in_is_deleted_there_and_forgotten_here(
    server: Server, openai: FakeOpenAI, home: Home
) -> None:
    gathered(home(), ["a"])

    deleted = [seen.path for seen in server.seen if seen.method == "DELETE"]
    assert deleted == ["/v1/files/file-0", "/v1/files/out-file-0"]
    assert gathered(home(ONE_LOOK), []) == {}


def test_a_text_that_is_refused_gets_no_vector(openai: FakeOpenAI, home: Home) -> None:
    openai.missing = {"bad"}

    found = gathered(home(), ["a", "bad"])

    assert np.isfinite(found["a"]).all()
    assert np.isnan(found["bad"]).all()


def test_what_a_batch_did_not_come_to_is_handed_in_by_a_later_run(
    server: Server, openai: FakeOpenAI, home: Home
) -> None:
    openai.status, openai.missing = "expired", {"late"}
    first = gathered(home(), ["a", "late"])
    openai.status, openai.missing = "completed", set()

    second = gathered(home(), ["late"])

    assert list(first) == ["a"]
    assert second == expected(server, ["late"])


@pytest.mark.parametrize("fate", ["failed", "unknown", "empty"])
def test_a_batch_that_fails_is_an_error_once(
    openai: FakeOpenAI, home: Home, fate: str
) -> None:
    openai.status = "in_progress"
    gathered(home(ONE_LOOK), ["a"])
    openai.status = "failed"
    if fate == "unknown":
        openai.texts.clear()
    if fate == "empty":
        openai.status, openai.missing = "completed", {"a"}

    with pytest.raises(EmbeddingError, match="could not work on a batch"):
        gathered(home(), ["a"])

    openai.status, openai.missing = "completed", set()
    assert list(gathered(home(), ["a"])) == ["a"]


def test_waiting_ends_and_the_batch_goes_on(openai: FakeOpenAI, home: Home) -> None:
    openai.status = "in_progress"
    hasty = BatchSettings(poll_interval_ms=1, timeout_minutes=0.0001)

    batches = home(hasty)
    assert gathered(batches, ["a"]) == {}
    assert batches.under_way(keyed(["new", "a"])) == {b"a"}

    openai.status = "completed"
    assert list(gathered(home(), ["a"])) == ["a"]
    assert openai.handed_in == ["a"]


def test_a_batch_whose_start_may_have_succeeded_is_not_started_again(
    server: Server, openai: FakeOpenAI, home: Home
) -> None:
    uploaded = server.reply(body={"id": "file-x"})
    server.first = [uploaded, server.reply(status=502)]

    with pytest.raises(EmbeddingError, match="HTTP 502"):
        gathered(home(), ["a"])

    assert [seen.path for seen in server.seen] == ["/v1/files", "/v1/batches"]


def test_an_outage_while_a_batch_runs_is_waited_out(
    server: Server, openai: FakeOpenAI, home: Home
) -> None:
    openai.status = "in_progress"
    gathered(home(ONE_LOOK), ["a"])
    openai.status = "completed"
    server.first = [server.reply(status=503)] * 3

    assert gathered(home(), ["a"]) == expected(server, ["a"])


def test_what_is_not_wanted_any_more_is_fetched_all_the_same(
    server: Server, openai: FakeOpenAI, home: Home
) -> None:
    openai.status = "in_progress"
    gathered(home(ONE_LOOK), ["a", "b"])
    openai.status = "completed"

    assert gathered(home(), ["b"]) == expected(server, ["a", "b"])
    assert gathered(home(ONE_LOOK), []) == {}


def test_the_journal_is_private_and_holds_no_text(
    openai: FakeOpenAI, home: Home
) -> None:
    openai.status = "in_progress"
    gathered(home(ONE_LOOK), ["the private note"])

    [file] = home.journals.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    written = file.read_text(encoding="utf-8")
    assert "private" not in written
    assert "sk-verysecret" not in written


def test_nothing_is_paid_for_that_could_not_be_remembered(
    openai: FakeOpenAI, home: Home
) -> None:
    home.journals.write_text("in the way", encoding="utf-8")

    with pytest.raises(EmbeddingError, match="journal"):
        gathered(home(), ["a"])

    assert openai.handed_in == []


def test_gemini_takes_requests_inline(server: Server, home: Home) -> None:
    taken: list[Any] = []

    def behave(seen: Seen) -> Reply:
        if seen.method == "DELETE":
            return server.reply(body={})
        if seen.method == "POST":
            assert seen.path.endswith("/gemini-embedding-001:asyncBatchEmbedContent")
            taken.extend(seen.body["batch"]["inputConfig"]["requests"]["requests"])
            return server.reply(body={"name": "batches/one"})
        assert seen.path == "/v1beta/batches/one"
        answers = [
            {
                "metadata": item["metadata"],
                "response": {
                    "embedding": {
                        "values": server.vector(
                            item["request"]["content"]["parts"][0]["text"]
                        )
                    }
                },
            }
            for item in taken[::-1]
        ]
        inlined = {"inlinedResponses": {"inlinedResponses": answers}}
        state = {"state": "BATCH_STATE_SUCCEEDED"}
        return server.reply(body={"done": True, "metadata": state, "response": inlined})

    server.behave = behave

    found = gathered(home(dialect=GEMINI), ["a", "b"])

    assert found == expected(server, ["a", "b"])
    assert taken[0]["request"]["taskType"] == "RETRIEVAL_DOCUMENT"


def test_only_the_provider_itself_has_batches(
    asks: Asks, opened: Opened, tmp_path: Path
) -> None:
    compatible = opened(provider(asks()))
    itself = opened(provider(asks(endpoint=None)))

    assert batches_of(compatible, QUICK, tmp_path) is None
    assert batches_of(itself, QUICK, tmp_path) is not None
    assert batches_of(itself, BatchSettings(enabled=False), tmp_path) is None
