"""What stands before a text so that a model knows its role.

A model that was trained with prefixes finds clearly less without them. They are known
by the model's family, which its name tells.
"""

import json
import re
from dataclasses import dataclass
from typing import Final

from notewell.adapters.embeddings.base import Role


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What a model wants before a query and before a passage; empty: nothing."""

    query: str = ""
    document: str = ""

    def before(self, text: str, role: Role) -> str:
        """Return the text as the model wants to see it."""
        return (self.query if role == "query" else self.document) + text


PLAIN: Final = Prefixes()

_PASSAGES: Final = Prefixes("Represent this sentence for searching relevant passages: ")
_TASK: Final = (
    "Instruct: Given a web search query, retrieve relevant passages that answer "
    "the query\nQuery:"
)

# The first that matches counts. Every source is the model's card at huggingface.co.
_FAMILIES: Final[tuple[tuple[str, Prefixes], ...]] = (
    # google/embeddinggemma-300m; gemini-embedding-2 at ai.google.dev
    (
        r"embedding-?gemma|gemini-embedding-2",
        Prefixes("task: search result | query: ", "title: none | text: "),
    ),
    # Qwen/Qwen3-Embedding-0.6B; without a space after "Query:"
    (r"qwen3-embedding", Prefixes(_TASK)),
    # Alibaba-NLP/gte-Qwen2-1.5B-instruct
    (r"gte-qwen2", Prefixes(f"{_TASK} ")),
    # intfloat/multilingual-e5-large-instruct, intfloat/e5-mistral-7b-instruct
    (r"\be5\b.*instruct", Prefixes(f"{_TASK} ")),
    # intfloat/multilingual-e5-small, intfloat/e5-base-v2
    (r"\be5-(small|base|large)", Prefixes("query: ", "passage: ")),
    # nomic-ai/nomic-embed-text-v1.5, nomic-ai/nomic-embed-text-v2-moe
    (r"nomic-embed-text", Prefixes("search_query: ", "search_document: ")),
    # mixedbread-ai/deepset-mxbai-embed-de-large-v1
    (r"mxbai-embed-de", Prefixes("query: ", "passage: ")),
    # mixedbread-ai/mxbai-embed-large-v1
    (r"mxbai-embed", _PASSAGES),
    # Snowflake/snowflake-arctic-embed-l-v2.0; snowflake-arctic-embed2 at Ollama
    (r"arctic-embed(2|.*-v2)", Prefixes("query: ")),
    # Snowflake/snowflake-arctic-embed-m-v1.5
    (r"arctic-embed", _PASSAGES),
    # BAAI/bge-small-en-v1.5; bge-large at Ollama is the English one
    (r"\bbge-(small|base|large)(?!-zh)", _PASSAGES),
    # BAAI/bge-small-zh-v1.5; BAAI/bge-m3 wants nothing
    (
        r"\bbge-(small|base|large)-zh",
        Prefixes("为这个句子生成表示以用于检索相关文章："),
    ),
)


def prefixes_for(model: str) -> Prefixes:
    """Return the prefixes of a model, known by its name, or by the path of its file.

    Parts of a path count from the last: a file says more than its folder.

    >>> prefixes_for("nomic-embed-text:latest")
    Prefixes(query='search_query: ', document='search_document: ')
    >>> prefixes_for("/models/bge/all-MiniLM-L6-v2.gguf")
    Prefixes(query='', document='')
    """
    for part in reversed(re.split(r"[/\\]", model.lower().replace("_", "-"))):
        for family, prefixes in _FAMILIES:
            if re.search(family, part):
                return prefixes
    return PLAIN


def describe(prefixes: Prefixes, *, pooling: str = "") -> str:
    """Return the text for `EmbeddingIdentity.prefixes`.

    Args:
        prefixes: What stands before the texts.
        pooling: Anything else in the making of a vector that can differ: how tokens
            are pooled, where texts are cut.

    >>> describe(Prefixes("query: "), pooling="mean")
    '["query: ", "", "mean"]'
    """
    return json.dumps([prefixes.query, prefixes.document, pooling], ensure_ascii=False)
