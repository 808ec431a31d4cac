"""The memory as a retriever of LangChain. It needs the extra `langchain`."""

from collections.abc import Mapping
from typing import Any

from notewell.adapters.surfaces.retrievers.question import (
    AnswerListener,
    AnyMemory,
    Question,
    metadata_of,
)
from notewell.filters import Filter
from notewell.installing import install_extra
from notewell.types import SearchAnswer

try:
    from langchain_core.callbacks import (
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForRetrieverRun,
    )
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import ConfigDict, InstanceOf
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"{error.msg}; LangChainRetriever needs it: {install_extra('langchain')}",
        name=error.name,
    ) from error


class LangChainRetriever(BaseRetriever):
    """Passages of an open memory, as documents of LangChain.

    `invoke` wants a memory of `open_memory_sync`, `ainvoke` takes either. Both take
    `max_results`, `min_score` and `filter` for one question, too. A document's
    `page_content` is the snippet, its `id` the citation; its `metadata` has the fields of
    `Hit` and of the answer (`backend`, `mode`, `degraded`, `fallbacks`, ...).

    Examples:
        >>> from notewell import LangChainRetriever, open_memory_sync
        >>> with open_memory_sync(workspace="notes") as memory:  # doctest: +SKIP
        ...     retriever = LangChainRetriever(memory=memory, max_results=4)
        ...     retriever.invoke("what did we decide about backups?")
    """

    model_config = ConfigDict(extra="forbid")

    memory: AnyMemory
    """An open memory; it stays open."""
    max_results: int | None = None
    """The most documents; the configured number by default."""
    min_score: float | None = None
    """Leave out what scores below, instead of the configured threshold."""
    filter: InstanceOf[Filter] | Mapping[str, object] | None = None
    """Which passages are wanted; also as `read_filter` takes it."""
    on_answer: AnswerListener | None = None
    """Given each whole answer, also an empty one, which says why it is empty."""

    name: str | None = "notewell"

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        **limits: Any,
    ) -> list[Document]:
        return _documents(self._question(query, limits).ask())

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **limits: Any,
    ) -> list[Document]:
        return _documents(await self._question(query, limits).ask_async())

    def _question(self, query: str, limits: dict[str, Any]) -> Question:
        usual: dict[str, Any] = {
            "max_results": self.max_results,
            "min_score": self.min_score,
            "filter": self.filter,
        }
        if strange := limits.keys() - usual.keys():
            raise TypeError(f"a search has no {', '.join(sorted(strange))}")
        return Question(
            memory=self.memory,
            query=query,
            on_answer=self.on_answer,
            **{**usual, **limits},
        )


def _documents(answer: SearchAnswer) -> list[Document]:
    return [
        Document(
            id=hit.citation,
            page_content=hit.snippet,
            metadata=metadata_of(hit, answer),
        )
        for hit in answer.results
    ]
