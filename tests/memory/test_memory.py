"""The memory that programs hold: what it respects, and what it says of it."""

import asyncio
import json
import pkgutil
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import pytest

from notewell import BackendUnavailable, UsageError, open_memory, open_memory_sync
from notewell.backends.base import PLAIN_RUN, Backend, Findings, Query, Run, Site
from notewell.backends.registry import BUILTIN, open_backend
from notewell.errors import BackendFailed, PathRefused
from notewell.types import IndexReport, IndexStatus

GROUP = "agent:main:telegram:group:-100200"


class Broken:
    """A backend that opens and then fails."""

    @classmethod
    async def open(cls, site: Site) -> Self:
        return cls()

    async def built(self) -> bool:
        return True

    async def search(self, query: Query) -> Findings:
        raise BackendFailed("broken", "it broke", reason="exit", remedy="mend it")

    async def refresh(self, run: Run = PLAIN_RUN) -> IndexReport:
        return IndexReport(files=0, chunks=0)

    async def status(self) -> IndexStatus:
        return IndexStatus(location="", bytes=0, files=0, chunks=0, pending=0)

    async def close(self) -> None:
        pass


class Doubtful(Broken):
    """A backend that finds nothing, and doubts it."""

    async def search(self, query: Query) -> Findings:
        return Findings(hits=(), mode="search", reason="no-match", doubt="cjk")


class Never(Broken):
    """A backend that nobody may open."""

    @classmethod
    async def open(cls, site: Site) -> Self:
        raise AssertionError("it was opened")


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """The backends of this module are there, by their names in small letters."""
    ours = {kind.__name__.lower(): kind for kind in (Broken, Doubtful, Never)}
    known = {name: f"{__name__}:{kind.__name__}" for name, kind in ours.items()}
    monkeypatch.setattr("notewell.backends.registry.BUILTIN", {**BUILTIN, **known})
    resolve = pkgutil.resolve_name

    def resolved(target: str) -> object:
        name = target.rpartition(":")[2].lower()
        return ours[name] if target in known.values() else resolve(target)

    monkeypatch.setattr("pkgutil.resolve_name", resolved)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A workspace with personal notes, and a state folder beside it."""
    root = tmp_path / "notes"
    (root / "memory").mkdir(parents=True)
    (root / "MEMORY.md").write_text("Bertrand is the cat.\n", encoding="utf-8")
    (root / "memory/day.md").write_text("A cat came by.\n", encoding="utf-8")
    return root


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment whose state folder is empty."""
    return {"OPENCLAW_STATE_DIR": str(tmp_path / "state")}


def configured(environ: Mapping[str, str], settings: Mapping[str, Any]) -> None:
    """Write a configuration file into the state folder."""
    state = Path(environ["OPENCLAW_STATE_DIR"])
    state.mkdir(exist_ok=True)
    (state / "openclaw.json").write_text(json.dumps(settings), encoding="utf-8")


def test_a_group_sees_no_personal_notes_in_search_or_get(
    notes: Path, environ: dict[str, str]
) -> None:
    with open_memory_sync(
        workspace=notes, environ=environ, session_key=GROUP
    ) as memory:
        found = memory.search("cat Bertrand")

        assert [hit.path for hit in found.results] == ["memory/day.md"]
        assert memory.search("Bertrand").reason == "no-match"
        with pytest.raises(PathRefused):
            memory.get("MEMORY.md")


def test_only_configured_sources_are_searched(
    notes: Path, environ: dict[str, str]
) -> None:
    search = {"memorySearch": {"sources": ["sessions"]}}
    configured(environ, {"agents": {"defaults": search}})

    with open_memory_sync(workspace=notes, environ=environ) as memory:
        answer = memory.search("cat")

        assert (answer.results, answer.reason) == ((), "source-disabled")
        assert memory.status().sources == ("sessions",)
    assert any("experimental.sessionMemory" in said for said in answer.warnings)


def test_a_source_that_was_asked_for_and_is_not_there_is_named(
    notes: Path, environ: dict[str, str]
) -> None:
    with open_memory_sync(workspace=notes, environ=environ) as memory:
        answer = memory.search("cat", sources=["memory", "sessions"])

    assert answer.results
    assert any("memorySearch.sources lacks" in said for said in answer.warnings)


def test_a_memory_that_is_switched_off_says_so(
    notes: Path, environ: dict[str, str]
) -> None:
    configured(environ, {"plugins": {"slots": {"memory": "none"}}})

    with open_memory_sync(workspace=notes, environ=environ) as memory:
        answer = memory.search("cat")
        document = memory.get("memory/day.md")

    assert (answer.results, answer.reason) == ((), "memory-disabled")
    assert (document.found, document.reason) == (False, "memory-disabled")


def test_extra_paths_belong_to_the_agents_own_workspace(
    notes: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    team = tmp_path / "team"
    other = tmp_path / "other"
    for folder in (team, other):
        folder.mkdir()
        (folder / "n.md").write_text(f"cat of {folder.name}\n", encoding="utf-8")
    agent = {"workspace": str(notes), "memorySearch": {"extraPaths": ["../team"]}}
    configured(environ, {"agents": {"defaults": agent}})

    with open_memory_sync(environ=environ) as memory:
        own = [hit.path for hit in memory.search("cat team").results]
    with open_memory_sync(workspace=other, environ=environ) as memory:
        named = [hit.path for hit in memory.search("cat team").results]

    assert "../team/n.md" in own
    assert named == ["n.md"]


def test_a_backend_that_is_not_installed_is_replaced_and_named(
    notes: Path, environ: dict[str, str]
) -> None:
    with open_memory_sync(workspace=notes, environ=environ, backend="qmd") as memory:
        answer = memory.search("cat")

    [step] = answer.fallbacks
    assert answer.results
    assert (answer.backend, answer.requested_backend) == ("builtin", "qmd")
    assert (step.kind, step.from_, step.to, step.reason) == (
        "backend",
        "qmd",
        "builtin",
        "missing",
    )
    assert answer.degraded


def test_without_a_fallback_the_answer_is_unavailable_and_says_why(
    notes: Path, environ: dict[str, str]
) -> None:
    configured(environ, {"memory": {"backend": "qmd", "fallback": "none"}})

    with open_memory_sync(workspace=notes, environ=environ) as memory:
        answer = memory.search("cat")
        with pytest.raises(BackendUnavailable, match="qmd"):
            memory.refresh()

    assert (answer.results, answer.reason) == ((), "unavailable")
    assert any("qmd" in warning for warning in answer.warnings)


@pytest.mark.usefixtures("engines")
def test_a_backend_that_fails_in_a_search_gives_an_answer_that_says_so(
    notes: Path, environ: dict[str, str]
) -> None:
    configured(environ, {"memory": {"fallback": "none"}})

    with open_memory_sync(workspace=notes, environ=environ, backend="broken") as memory:
        answer = memory.search("cat")

    assert (answer.results, answer.reason) == ((), "unavailable")
    assert any("mend it" in warning for warning in answer.warnings)


def test_a_closed_memory_says_that_it_is_closed(
    notes: Path, environ: dict[str, str]
) -> None:
    memory = open_memory_sync(workspace=notes, environ=environ)
    memory.close()
    memory.close()

    answer = memory.search("cat")

    assert answer.reason == "unavailable"
    assert any("closed" in warning for warning in answer.warnings)
    with pytest.raises(BackendUnavailable, match="closed"):
        memory.refresh()


def test_a_server_answers_from_the_notes_until_the_index_is_there(
    notes: Path, environ: dict[str, str]
) -> None:
    # Nothing builds the index in the background while the first answer is given.
    quiet = {"onSessionStart": False, "onSearch": False, "watch": False}
    configured(environ, {"memory": {"search": {"sync": quiet}}})

    with open_memory_sync(workspace=notes, environ=environ, server=True) as memory:
        before = memory.search("cat")
        memory.refresh()
        after = memory.search("cat")

    assert (before.mode, before.degraded) == ("scan", True)
    assert [step.reason for step in before.fallbacks] == ["not-ready"]
    assert (after.mode, after.degraded) == ("hybrid", False)
    assert {hit.path for hit in before.results} == {hit.path for hit in after.results}


def test_whoever_waits_for_another_process_is_told_once(
    notes: Path, environ: dict[str, str]
) -> None:
    from filelock import FileLock

    told = threading.Event()
    calls: list[int] = []

    def waiting() -> None:
        calls.append(1)
        told.set()

    with open_memory_sync(workspace=notes, environ=environ) as memory:
        memory.refresh()
        lock = FileLock(f"{memory.status().index.location}.lock")
        (notes / "memory/new.md").write_text("zebra\n", encoding="utf-8")
        lock.acquire()
        run = threading.Thread(target=lambda: memory.refresh(waiting=waiting))
        run.start()
        assert told.wait(timeout=30)
        lock.release()
        run.join(timeout=30)

    assert calls == [1]


async def test_reading_and_counting_leave_the_event_loop_free(
    notes: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: set[int] = set()

    def seen(*args: object, **options: object) -> object:
        threads.add(threading.get_ident())
        raise PathRefused("x", "seen")

    async with open_memory(workspace=notes, environ=environ) as memory:
        monkeypatch.setattr("notewell.memory.reading.get_document", seen)
        with pytest.raises(PathRefused):
            await memory.get("memory/day.md")

    assert threading.get_ident() not in threads
    assert asyncio.get_running_loop()


def test_a_number_that_makes_no_sense_is_the_callers_error(
    notes: Path, environ: dict[str, str]
) -> None:
    with open_memory_sync(workspace=notes, environ=environ) as memory:
        with pytest.raises(ValueError, match="max_results"):
            memory.search("cat", max_results=0)
        with pytest.raises(ValueError, match="min_score"):
            memory.search("cat", min_score=1.5)
        with pytest.raises(ValueError, match="sources"):
            memory.search("cat", sources=[])


def test_what_is_missing_is_said_once(notes: Path, environ: dict[str, str]) -> None:
    search = {"memorySearch": {"provider": "openai"}}
    configured(environ, {"agents": {"defaults": search}})

    with open_memory_sync(workspace=notes, environ=environ) as memory:
        answer = memory.search("cat")
        report = memory.refresh()

    assert [step.kind for step in answer.fallbacks] == ["embedding"]
    assert answer.requested_provider == "openai"
    assert answer.warnings == ()
    assert any("OPENAI_API_KEY" in warning for warning in report.warnings)


def test_a_current_folder_that_was_deleted_matters_only_to_those_who_read_it(
    notes: Path,
    environ: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    try:
        with open_memory_sync(workspace=notes, environ=environ) as memory:
            assert memory.search("cat").results
        with pytest.raises(UsageError, match="deleted"):
            open_memory_sync(environ={**environ, "HOME": str(tmp_path)})
    finally:
        monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("engines")
def test_builtin_stands_in_by_the_vectors_of_the_install_as_well(
    notes: Path, environ: dict[str, str]
) -> None:
    pytest.importorskip("wordllama")
    (notes / "memory/trip.md").write_text("We flew to Paris.\n", encoding="utf-8")

    with open_memory_sync(workspace=notes, environ=environ, backend="broken") as memory:
        memory.refresh()
        answer = memory.search("journey to France")

    assert (answer.backend, answer.mode) == ("builtin", "hybrid")
    assert answer.provider == "static"
    assert "memory/trip.md" in [hit.path for hit in answer.results]


@pytest.mark.usefixtures("engines")
def test_who_asked_for_no_vectors_has_none_in_the_place_of_another_engine(
    notes: Path, environ: dict[str, str]
) -> None:
    configured(environ, {"memory": {"search": {"provider": "none"}}})

    with open_memory_sync(workspace=notes, environ=environ, backend="broken") as memory:
        memory.refresh()
        answer = memory.search("cat")

    assert (answer.mode, answer.provider) == ("keyword", None)
    assert answer.results


@pytest.mark.usefixtures("engines")
def test_a_second_opinion_is_about_words_alone(
    notes: Path, environ: dict[str, str]
) -> None:
    (notes / "memory/trip.md").write_text("We flew to Paris.\n", encoding="utf-8")

    with open_memory_sync(
        workspace=notes, environ=environ, backend="doubtful"
    ) as memory:
        memory.refresh()
        resembles = memory.search("journey to France")
        stands = memory.search("Paris")

    assert [hit.path for hit in resembles.results] in ([], ["memory/trip.md"])
    assert resembles.provider is None
    assert [hit.path for hit in stands.results] == ["memory/trip.md"]
    assert (stands.mode, stands.provider) == ("keyword", None)


@pytest.mark.usefixtures("engines")
def test_an_engine_is_not_opened_to_read_a_note_or_to_start_a_session(
    notes: Path, environ: dict[str, str]
) -> None:
    with open_memory_sync(workspace=notes, environ=environ, backend="never") as memory:
        document = memory.get("memory/day.md")
        context = memory.session_context()

        assert document.text == "A cat came by."
        assert [part.path for part in context.parts] == ["MEMORY.md"]
        with pytest.raises(AssertionError, match="opened"):
            memory.search("cat")


async def test_an_engine_is_opened_once_by_all_who_need_it(
    notes: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Site] = []

    async def counted(name: str, site: Site) -> Backend:
        opened.append(site)
        await asyncio.sleep(0.01)
        return await open_backend(name, site)

    monkeypatch.setattr("notewell.memory.setup.open_backend", counted)

    async with open_memory(workspace=notes, environ=environ) as memory:
        impatient = asyncio.create_task(memory.search("cat"))
        await asyncio.sleep(0)
        impatient.cancel()
        answers = await asyncio.gather(*(memory.search("cat") for _ in range(3)))

    assert len(opened) == 1
    assert all(answer.results for answer in answers)


@pytest.mark.parametrize("query", [None, b"cat", 7])
def test_a_question_that_is_no_text_is_the_callers_mistake(
    query: Any, notes: Path, environ: dict[str, str]
) -> None:
    with (
        open_memory_sync(workspace=notes, environ=environ) as memory,
        pytest.raises(TypeError, match="a query is a str, not"),
    ):
        memory.search(query)
