from typing import Self

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.schema import NodeWithScore

class Response:
    source_nodes: list[NodeWithScore]

class RetrieverQueryEngine:
    @classmethod
    def from_args(cls, retriever: BaseRetriever, llm: MockLLM) -> Self: ...
    def query(self, str_or_query_bundle: str) -> Response: ...
