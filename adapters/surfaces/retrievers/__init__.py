"""The memory as a retriever of LangChain and of LlamaIndex.

`question` asks an open memory and says what is known of a passage; the two others are thin
classes around it. Each needs the extra of its framework, and nothing else loads it.
"""
