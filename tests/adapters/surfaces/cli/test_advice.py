"""What `status`, `doctor`, `index` and a search advise: nothing that has just failed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.adapters.embeddings.conftest import Server

if TYPE_CHECKING:
    from tests.adapters.surfaces.conftest import Notewell


class Home:
    """A configuration, and the command under it."""

    def __init__(self, run: "Notewell", file: Path) -> None:
        self._run = run
        self._file = file

    def searches(self, **search: Any) -> None:
        """Write the settings of `memorySearch`."""
        settings = {"agents": {"defaults": {"memorySearch": search}}}
        self._file.write_text(json.dumps(settings), encoding="utf-8")

    def __call__(self, *words: str) -> str:
        """Return what a command writes, on both streams."""
        ran = self._run(*words, "--config", str(self._file))
        return ran.text + ran.said


@pytest.fixture
def server() -> Iterator[Server]:
    """An endpoint on this machine."""
    running = Server()
    yield running
    running.close()


@pytest.fixture
def home(run: "Notewell", tmp_path: Path) -> Home:
    made = Home(run, tmp_path / "openclaw.json")
    made.searches()
    return made


def test_after_a_run_that_failed_nobody_is_sent_back_to_it(
    home: Home, server: Server
) -> None:
    server.behave = lambda seen: server.reply(status=401, body={})
    endpoint = {"baseUrl": server.url, "apiKey": "none"}
    home.searches(provider="openai", model="m", remote=endpoint)

    deep = home("status", "--deep", "--index")
    well, asked = home("doctor"), home("search", "gateway")

    failed = "for the last run failed: 127.0.0.1 does not accept the API key"
    assert f"openai: none, {failed}" in deep
    assert "none yet" not in deep
    assert f"warning  vectors: openai: none, {failed}" in well
    assert "Everything is well" not in well
    assert failed in asked
    assert "then run `notewell index`" in asked


def test_a_host_that_nobody_agreed_to_is_named_with_how_to_agree(home: Home) -> None:
    endpoint = {"baseUrl": "http://embeddings.invalid/v1", "apiKey": "none"}
    home.searches(provider="openai", model="m", remote=endpoint)
    home("index")

    told = home("status"), home("search", "gateway")

    for text in told:
        assert "nothing was sent to embeddings.invalid" in text
        assert "`notewell index --yes` agrees, once for this host" in text
        assert "run `notewell index`" not in text


def test_vectors_that_nobody_asks_for_any_more_are_not_told_as_in_use(
    home: Home,
) -> None:
    home("index")
    home.searches(provider="none")

    text, well = home("status"), home("doctor")

    assert "3 passages, kept from before: the configuration asks for others" in text
    assert "search: sqlite-vec" not in text
    assert "vectors: static" not in well


def test_passages_without_a_vector_are_a_warning_of_the_doctor(
    home: Home, notes: Path
) -> None:
    home.searches(provider="none")
    home("index")
    home.searches()

    text, well = home("status"), home("doctor")

    assert "static: none yet; run `notewell index`" in text
    assert "warning  vectors: static: none yet\n         run `notewell index`" in well


def test_what_an_ignore_file_leaves_out_is_told(home: Home, notes: Path) -> None:
    (notes / "memory" / "drafts").mkdir()
    (notes / "memory" / "drafts" / "x.md").write_bytes(b"A draft.\n")
    (notes / ".notewellignore").write_bytes("drafts/\n日記.md\n".encode())

    text = home("status")

    assert "left out      by .notewellignore: memory/drafts/, memory/日記.md\n" in text


def test_a_note_that_is_gone_is_removed_and_not_changed(
    home: Home, notes: Path
) -> None:
    home("index")
    (notes / "memory" / "日記.md").unlink()
    (notes / "MEMORY.md").write_bytes(b"Another fact.\n")

    status, index = home("status"), home("index")

    assert "1 pending, 1 removed: run `notewell index`" in status
    assert "; 1 changed, 1 removed; " in index


def test_an_engine_that_stands_in_says_why_for_each_agent(
    run: "Notewell", notes: Path, tmp_path: Path
) -> None:
    agents = [{"id": name, "workspace": str(notes)} for name in ("main", "other")]
    settings = {
        "agents": {"list": agents},
        "memory": {"backend": "qmd", "qmd": {"command": "/nowhere/qmd"}},
    }
    file = tmp_path / "openclaw.json"
    file.write_text(json.dumps(settings), encoding="utf-8")

    text = run("status", "--config", str(file), workspace=None).text

    assert text.count("builtin instead of qmd: qmd: there is no program") == 2
