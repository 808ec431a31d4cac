from enum import Enum
from typing import Any

class MetadataMode(Enum):
    ALL = ...
    EMBED = ...
    LLM = ...
    NONE = ...

class QueryBundle:
    query_str: str

    def __init__(self, query_str: str) -> None: ...

class TextNode:
    node_id: str
    text: str
    metadata: dict[str, Any]

    def __init__(
        self,
        *,
        id_: str,
        text: str,
        metadata: dict[str, Any],
        excluded_llm_metadata_keys: list[str],
        excluded_embed_metadata_keys: list[str],
    ) -> None: ...
    def get_content(self, metadata_mode: MetadataMode = ...) -> str: ...

class NodeWithScore:
    node: TextNode
    score: float | None

    def __init__(self, *, node: TextNode, score: float | None = ...) -> None: ...
