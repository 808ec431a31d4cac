"""A memory with a remote provider, from the settings to the answer, over real HTTP."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import notewell
from notewell import SyncMemory, open_memory_sync

if TYPE_CHECKING:
    from tests.adapters.embeddings.conftest import Reply, Seen, Server

_SEARCH = "agents.defaults.memorySearch."


class House:
    """A workspace, with memories that are opened on it and closed at the end."""

    def __init__(self, folder: Path, server: "Server") -> None:
        self.root = folder / "notes"
        (self.root / "memory").mkdir(parents=True)
        self._state = folder / "state"
        self._server = server
        self._open: list[SyncMemory] = []

    def write(self, name: str, text: str) -> None:
        (self.root / "memory" / name).write_text(text, encoding="utf-8")

    def memory(self, **search: object) -> SyncMemory:
        """Open a memory with these keys of `memorySearch`."""
        settings: dict[str, object] = {
            "provider": "openai",
            "remote.baseUrl": self._server.url,
            "remote.apiKey": "sk-verysecret",
            "outputDimensionality": 4,
            **search,
        }
        config = self._state / "openclaw.json"
        self._state.mkdir(exist_ok=True)
        entries = {"ollama": {"baseUrl": self._server.url}}
        config.write_text(json.dumps({"models": {"providers": entries}}), "utf-8")
        memory = open_memory_sync(
            workspace=self.root,
            config=config,
            environ={"OPENCLAW_STATE_DIR": str(self._state)},
            overrides={
                _SEARCH + key: value
                for key, value in settings.items()
                if value is not None
            },
        )
        self._open.append(memory)
        return memory

    def child(self, code: str) -> list[str]:
        """Run a program that has a `memory` with this provider; return its lines."""
        opened = (
            "import sys; from notewell import open_memory_sync; memory = open_memory_sync("
            f"workspace={str(self.root)!r}, overrides={{{_SEARCH + 'provider'!r}: 'openai',"
            f" {_SEARCH + 'remote.baseUrl'!r}: {self._server.url!r}}});"
        )
        folder = str(Path(notewell.__file__).parents[1])
        ran = subprocess.run(
            [sys.executable, "-c", opened + code],
            env={"PYTHONPATH": folder, "OPENCLAW_STATE_DIR": str(self._state)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            timeout=300,
            check=True,
        )
        return ran.stdout.decode("utf-8").splitlines()

    def close(self) -> None:
        for memory in self._open:
            memory.close()


@pytest.fixture
def house(tmp_path: Path, server: "Server") -> Iterator[House]:
    """An empty workspace."""
    made = House(tmp_path, server)
    yield made
    made.close()


def test_a_cap_on_items_and_one_bad_text_cost_one_vector(
    house: House, server: "Server"
) -> None:
    for number in range(26):
        bad = " TOO_LONG" if number == 13 else ""
        house.write(f"n{number:02}.md", f"Note number{number} of many.{bad}\n")

    def particular(seen: "Seen") -> "Reply":
        refused = len(seen.texts) > 10 or any("TOO_LONG" in text for text in seen.texts)
        said: Any = {"error": {"message": "大小无效"}}
        return server.reply(status=400, body=said) if refused else server.embeds(seen)

    server.behave = particular
    memory = house.memory()

    report = memory.refresh()

    assert (report.embedded, report.pending) == (25, 0)
    [told] = report.warnings
    assert "found by words alone: 1;" in told
    assert memory.search("number13").results[0].path == "memory/n13.md"
    sizes = [len(seen.texts) for seen in server.seen]
    fits = next(place for place, size in enumerate(sizes) if 1 < size <= 10)
    assert max(sizes[fits:]) <= 10


def test_a_used_up_account_is_asked_no_more_and_costs_no_vector(
    house: House, server: "Server"
) -> None:
    house.write("a.md", "The first note.\n")
    memory = house.memory(fallback="ollama")
    memory.refresh()
    house.write("b.md", "A second note.\n")
    server.seen.clear()
    server.behave = lambda seen: _empty_account(server, seen)

    report = memory.refresh()
    answer = memory.search("second")

    paths = [seen.path for seen in server.seen]
    assert len([path for path in paths if "embeddings" in path]) <= 2
    models = {seen.body["model"] for seen in server.seen if seen.path == "/api/embed"}
    assert models == {"nomic-embed-text"}
    assert any("quota" in warning for warning in report.warnings)
    assert (answer.provider, answer.results[0].path) == ("ollama", "memory/b.md")
    assert answer.fallbacks[0].reason == "quota"
    sets = {kept.provider: kept.passages for kept in memory.status().index.vectors}
    assert sets == {"static": 2, "openai": 1, "ollama": 2}


def test_no_key_reaches_an_answer_a_report_or_a_status(
    house: House, server: "Server"
) -> None:
    house.write("a.md", "A note about herons.\n")
    said: Any = {"error": {"message": "bad key sk-verysecret for A note about herons."}}
    server.behave = lambda seen: server.reply(status=401, body=said)
    memory = house.memory()

    report = memory.refresh()
    answer = memory.search("herons")

    assert answer.results[0].path == "memory/a.md"
    shown = repr((report, answer.fallbacks, answer.warnings, memory.status()))
    assert "auth" in repr(answer.fallbacks) or "not-ready" in repr(answer.fallbacks)
    assert "verysecret" not in shown
    assert "about herons" not in shown


def test_a_search_at_an_endpoint_of_ones_own_is_one_request(
    house: House, server: "Server"
) -> None:
    house.write("a.md", "A note about herons.\n")
    house.memory(outputDimensionality=None).refresh()
    server.seen.clear()

    answer = house.memory(outputDimensionality=None).search("herons")

    assert answer.provider == "openai"
    assert [seen.texts for seen in server.seen] == [["herons"]]


def test_a_model_whose_vectors_became_longer_is_used_after_the_next_run_and_back(
    house: House, server: "Server"
) -> None:
    def of_length(length: int) -> None:
        def longer(seen: "Seen") -> "Reply":
            texts = enumerate(seen.texts)
            rows = [
                {"index": i, "embedding": server.vector(t, length)} for i, t in texts
            ]
            return server.reply(body={"data": rows})

        server.behave = longer

    house.write("a.md", "A note about herons.\n")
    asked = {"outputDimensionality": None, "fallback": "none"}
    house.memory(**asked).refresh()
    of_length(5)

    changed = house.memory(**asked).search("herons")
    house.memory(**asked).refresh()
    mended = house.memory(**asked).search("herons")
    of_length(4)
    back = house.memory(**asked).search("herons")

    [step] = changed.fallbacks
    assert (
        "gives vectors of 5 numbers now, and those of the index have 4" in step.message
    )
    assert (mended.provider, mended.fallbacks) == ("openai", ())
    assert (back.provider, back.fallbacks) == ("openai", ())


def test_a_provider_without_vectors_is_neither_loaded_nor_asked(
    house: House, server: "Server"
) -> None:
    house.write("a.md", "A note about herons.\n")
    house.memory(provider="static").refresh()
    server.seen.clear()
    reason, loaded = house.child(
        "print(memory.search('herons').fallbacks[0].reason);"
        "print(sorted({'httpx', 'ssl', 'numpy', 'asyncio'} & sys.modules.keys()))"
    )

    assert (reason, loaded, server.seen) == ("not-ready", "[]", [])


def _empty_account(server: "Server", seen: "Seen") -> "Reply":
    if seen.path == "/api/embed":
        body: Any = {"embeddings": [server.vector(text, 768) for text in seen.texts]}
        return server.reply(body=body)
    error: Any = {"error": {"code": "insufficient_quota", "message": "pay first"}}
    return server.reply(status=429, body=error)
