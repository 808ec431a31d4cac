"""Notes as a retriever of LangChain: the prompt of a chain that answers from them.

    python examples/langchain_retriever.py WORKSPACE QUESTION

It needs the extra: `pip install '.[langchain]'`. End the chain with `| model` for answers.
"""

import sys

from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough

from notewell import LangChainRetriever, open_memory_sync

PROMPT = ChatPromptTemplate.from_template(
    "Answer from these notes and name the citation.\n\n{notes}\n\nQuestion: {question}"
)


def cited(documents: list[Document]) -> str:
    """Write the passages below their citations."""
    return "\n\n".join(f"[{each.id}]\n{each.page_content}" for each in documents)


workspace, question = sys.argv[1:]
with open_memory_sync(workspace=workspace) as memory:
    retriever = LangChainRetriever(memory=memory, max_results=3)
    chain = {"notes": retriever | cited, "question": RunnablePassthrough()} | PROMPT
    print(chain.invoke(question).to_string())
