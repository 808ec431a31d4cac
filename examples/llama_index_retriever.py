"""Notes as a retriever of LlamaIndex: a query engine that answers from them.

    python examples/llama_index_retriever.py WORKSPACE QUESTION

It needs the extra: `pip install '.[llama-index]'`. `MockLLM` gives back what it is told,
which shows what a model would be told; put a real one in its place.
"""

import sys

from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine

from notewell import LlamaIndexRetriever, open_memory_sync

workspace, question = sys.argv[1:]
with open_memory_sync(workspace=workspace) as memory:
    retriever = LlamaIndexRetriever(memory, max_results=3)
    engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM())
    response = engine.query(question)
    print(response)
    print("\nFrom:")
    for found in response.source_nodes:
        print(f"{found.score:.2f}", found.node.metadata["citation"])
