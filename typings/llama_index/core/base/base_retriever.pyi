from llama_index.core.schema import NodeWithScore, QueryBundle

class BaseRetriever:
    def __init__(self) -> None: ...
    def retrieve(
        self, str_or_query_bundle: str | QueryBundle
    ) -> list[NodeWithScore]: ...
    async def aretrieve(
        self, str_or_query_bundle: str | QueryBundle
    ) -> list[NodeWithScore]: ...
