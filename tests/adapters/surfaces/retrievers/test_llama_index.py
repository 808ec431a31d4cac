"""The retriever of LlamaIndex, with the real package: its nodes, and no silence."""

import importlib
import json
import sys
from importlib.util import find_spec

import pytest

import notewell
from notewell import BackendUnavailable, Memory, SearchAnswer, SyncMemory, UsageError

# It is loaded by the tests that run, and not by every process that collects them.
pytestmark = pytest.mark.skipif(
    find_spec("llama_index") is None, reason="llama_index is not installed"
)


def test_a_node_says_where_it_stands_and_how_it_was_found(memory: SyncMemory) -> None:
    [best, *_] = notewell.LlamaIndexRetriever(memory).retrieve("gateway port")

    known = best.node.metadata
    assert best.node.node_id == known["citation"] == "MEMORY.md#L1-L3"
    assert best.node.text.splitlines() == memory.get("MEMORY.md").text.splitlines()
    assert best.score == known["score"]
    assert (known["mode"], known["degraded"]) == ("hybrid", False)
    assert json.loads(json.dumps(known)) == known


def test_a_model_is_shown_the_citation_and_no_numbers(memory: SyncMemory) -> None:
    from llama_index.core.schema import MetadataMode

    [best, *_] = notewell.LlamaIndexRetriever(memory).retrieve("multi-agent rollout")

    shown = best.node.get_content(metadata_mode=MetadataMode.LLM)
    embedded = best.node.get_content(metadata_mode=MetadataMode.EMBED)

    assert shown.splitlines()[:3] == [
        "citation: memory/2026-01-10.md#L1-L6",
        "heading: Rollout > Night",
        "date: 2026-01-10",
    ]
    assert "score" not in shown
    assert embedded == best.node.text


def test_a_filter_may_be_a_mapping(memory: SyncMemory) -> None:
    retriever = notewell.LlamaIndexRetriever(memory, filter={"path": "memory/*"})

    found = {each.node.metadata["path"] for each in retriever.retrieve("the")}

    assert found == {"memory/2026-01-10.md"}


async def test_with_and_without_a_loop_the_nodes_are_the_same(
    memory: SyncMemory, async_memory: Memory
) -> None:
    from llama_index.core.schema import QueryBundle

    asked = QueryBundle("multi-agent rollout")
    plain, looped = (
        notewell.LlamaIndexRetriever(memory),
        notewell.LlamaIndexRetriever(async_memory),
    )

    expected = plain.retrieve(asked)

    assert expected
    assert await plain.aretrieve(asked) == expected
    assert await looped.aretrieve(asked) == expected
    with pytest.raises(UsageError, match="opened by open_memory"):
        looped.retrieve(asked)


def test_a_weaker_answer_is_a_warning_and_none_at_all_is_an_error(
    weaker_memory: SyncMemory, closed_memory: SyncMemory
) -> None:
    told: list[SearchAnswer] = []
    retriever = notewell.LlamaIndexRetriever(
        weaker_memory, max_results=1, on_answer=told.append
    )

    with pytest.warns(UserWarning, match="builtin instead of qmd"):
        [best] = retriever.retrieve("gateway port")
    with pytest.raises(BackendUnavailable, match="closed"):
        notewell.LlamaIndexRetriever(closed_memory).retrieve("gateway port")

    assert best.node.metadata["degraded"] is told[0].degraded is True


def test_without_the_package_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours = "notewell.adapters.surfaces.retrievers.llama_index"
    monkeypatch.delitem(sys.modules, ours, raising=False)
    monkeypatch.setitem(sys.modules, "llama_index.core.schema", None)

    with pytest.raises(ModuleNotFoundError, match=r"install .*llama-index"):
        importlib.import_module(ours)
