"""The retriever of LangChain, with the real package: its documents, and no silence."""

import importlib
import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import notewell
from notewell import (
    BackendUnavailable,
    Hit,
    Memory,
    SearchAnswer,
    SyncMemory,
    UsageError,
    open_memory_sync,
    read_filter,
)

# It is loaded by the tests that run, and not by every process that collects them.
pytestmark = pytest.mark.skipif(
    find_spec("langchain_core") is None, reason="langchain_core is not installed"
)


def test_a_document_says_where_it_stands_and_how_it_was_found(
    memory: SyncMemory,
) -> None:
    [best, *_] = notewell.LangChainRetriever(memory=memory).invoke("gateway port")

    known = best.metadata
    cited = memory.get(str(known["citation"]))
    assert best.id == known["citation"] == "MEMORY.md#L1-L3"
    assert (known["path"], known["start_line"], known["end_line"]) == (
        "MEMORY.md",
        cited.start_line,
        cited.end_line,
    )
    assert best.page_content.splitlines() == cited.text.splitlines()
    assert 0 < known["score"] <= 1
    assert (known["backend"], known["mode"], known["degraded"]) == (
        "builtin",
        "hybrid",
        False,
    )
    assert json.loads(json.dumps(known)) == known


async def test_with_and_without_a_loop_the_documents_are_the_same(
    memory: SyncMemory, async_memory: Memory
) -> None:
    plain = notewell.LangChainRetriever(memory=memory)
    looped = notewell.LangChainRetriever(memory=async_memory)

    expected = plain.invoke("multi-agent rollout")

    assert expected
    assert await plain.ainvoke("multi-agent rollout") == expected
    assert await looped.ainvoke("multi-agent rollout") == expected
    with pytest.raises(UsageError, match="opened by open_memory"):
        looped.invoke("multi-agent rollout")


def test_the_threads_of_a_batch_take_turns(memory: SyncMemory) -> None:
    retriever = notewell.LangChainRetriever(memory=memory, max_results=1)
    questions = ["gateway port", "Ubuntu 20.04", "数据库"] * 8

    found = retriever.batch(questions)

    assert [[each.metadata["path"] for each in documents] for documents in found] == [
        ["MEMORY.md"],
        ["memory/2026-01-10.md"],
        ["memory/日記.md"],
    ] * 8


def test_what_is_wanted_is_said_for_all_questions_or_for_one(
    memory: SyncMemory,
) -> None:
    said = {"path": "memory/*"}
    retriever = notewell.LangChainRetriever(memory=memory, filter=said)
    read = notewell.LangChainRetriever(memory=memory, filter=read_filter(said))

    usual = retriever.invoke("the")
    once = retriever.invoke("the", filter=None, max_results=1)

    assert {each.metadata["path"] for each in usual} == {"memory/2026-01-10.md"}
    assert read.invoke("the") == usual == retriever.invoke("the", filter=said)
    assert len(once) == 1


def test_what_is_not_known_is_an_error(memory: SyncMemory) -> None:
    retriever = notewell.LangChainRetriever(memory=memory)

    with pytest.raises(TypeError, match="no k"):
        retriever.invoke("the", k=1)
    with pytest.raises(ValueError, match="k\n"):
        notewell.LangChainRetriever(memory=memory, k=1)
    with pytest.raises(UsageError, match="colour"):
        retriever.invoke("the", filter={"colour": "red"})


def test_a_weaker_answer_is_a_warning_and_stands_in_each_document(
    weaker_memory: SyncMemory,
) -> None:
    with pytest.warns(UserWarning, match="builtin instead of qmd"):
        [best, *_] = notewell.LangChainRetriever(memory=weaker_memory).invoke(
            "gateway port"
        )

    assert (best.metadata["backend"], best.metadata["degraded"]) == ("builtin", True)
    assert "builtin instead of qmd" in best.metadata["fallbacks"][0]


def test_a_memory_that_cannot_answer_is_an_error_and_no_empty_list(
    closed_memory: SyncMemory,
) -> None:
    with pytest.raises(BackendUnavailable, match="closed"):
        notewell.LangChainRetriever(memory=closed_memory).invoke("gateway port")


def test_an_empty_answer_is_told_whole_and_warns_if_it_should_not_be_empty(
    memory: SyncMemory, environ: dict[str, str], tmp_path: Path
) -> None:
    told: list[SearchAnswer] = []
    (tmp_path / "blank").mkdir()

    found = notewell.LangChainRetriever(memory=memory, on_answer=told.append).invoke(
        "zxqv77"
    )
    with (
        open_memory_sync(workspace=tmp_path / "blank", environ=environ) as empty,
        pytest.warns(UserWarning, match=r"notewell: .*note"),
    ):
        notewell.LangChainRetriever(memory=empty, on_answer=told.append).invoke(
            "zxqv77"
        )

    assert found == []
    assert [each.reason for each in told] == ["no-match", "nothing-indexed"]


def test_the_fields_of_a_document_are_those_of_a_hit(memory: SyncMemory) -> None:
    [best, *_] = notewell.LangChainRetriever(memory=memory).invoke("gateway port")

    known = set(best.metadata)

    of_hits = {*Hit.__dataclass_fields__, "citation"} - {"snippet", "engine"}
    assert known >= of_hits
    assert known - of_hits <= {*SearchAnswer.__dataclass_fields__, "stale"}


def test_without_the_package_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours = "notewell.adapters.surfaces.retrievers.langchain"
    monkeypatch.delitem(sys.modules, ours, raising=False)
    monkeypatch.setitem(sys.modules, "langchain_core.retrievers", None)

    with pytest.raises(ModuleNotFoundError, match=r"install .*langchain"):
        importlib.import_module(ours)
