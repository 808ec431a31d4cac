"""The memory as a retriever of LlamaIndex. It needs the extra `llama-index`."""

from typing import Final

from notewell.adapters.surfaces.retrievers.question import (
    AnswerListener,
    AnyMemory,
    FilterLike,
    Question,
    metadata_of,
)
from notewell.installing import install_extra
from notewell.types import Hit, SearchAnswer

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"{error.msg}; LlamaIndexRetriever needs it: {install_extra('llama-index')}",
        name=error.name,
    ) from error

_FOR_THE_MODEL: Final = frozenset({"citation", "date", "heading", "also_in"})
"""Of the metadata, what a model is shown beside the text: the rest is for programs."""


class LlamaIndexRetriever(BaseRetriever):
    """Passages of an open memory, as nodes of LlamaIndex.

    `retrieve` wants a memory of `open_memory_sync`, `aretrieve` takes either. A node's text
    is the snippet, its id the citation; its `metadata` has the fields of `Hit` and of the
    answer (`backend`, `mode`, `degraded`, `fallbacks`, ...), of which a model is shown the
    citation, the date, the heading and the places with the same text.

    Examples:
        >>> from notewell import LlamaIndexRetriever, open_memory_sync
        >>> with open_memory_sync(workspace="notes") as memory:  # doctest: +SKIP
        ...     retriever = LlamaIndexRetriever(memory, max_results=4)
        ...     retriever.retrieve("what did we decide about backups?")
    """

    def __init__(
        self,
        memory: AnyMemory,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        filter: FilterLike | None = None,
        on_answer: AnswerListener | None = None,
    ) -> None:
        """Take an open memory, which stays open.

        Args:
            memory: An open memory.
            max_results: The most nodes; the configured number by default.
            min_score: Leave out what scores below, instead of the configured threshold.
            filter: Which passages are wanted; also as `read_filter` takes it.
            on_answer: Given each whole answer, also an empty one, which says why it is
                empty.
        """
        super().__init__()
        self.memory = memory
        self.max_results = max_results
        self.min_score = min_score
        self.filter = filter
        self.on_answer = on_answer

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(self._question(query_bundle).ask())

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(await self._question(query_bundle).ask_async())

    def _question(self, bundle: QueryBundle) -> Question:
        return Question(
            memory=self.memory,
            query=bundle.query_str,
            max_results=self.max_results,
            min_score=self.min_score,
            filter=self.filter,
            on_answer=self.on_answer,
        )


def _nodes(answer: SearchAnswer) -> list[NodeWithScore]:
    return [
        NodeWithScore(node=_node(hit, answer), score=hit.score)
        for hit in answer.results
    ]


def _node(hit: Hit, answer: SearchAnswer) -> TextNode:
    known = metadata_of(hit, answer)
    shown = {name for name in _FOR_THE_MODEL if known[name]}
    return TextNode(
        id_=hit.citation,
        text=hit.snippet,
        metadata=known,
        excluded_llm_metadata_keys=sorted(known.keys() - shown),
        excluded_embed_metadata_keys=sorted(known),
    )
