"""An agent that looks things up in notes, on any server with OpenAI's Chat Completions.

    MODEL=llama3.2 python examples/agent_loop.py WORKSPACE QUESTION

`OPENAI_BASE_URL` is the server, by default Ollama on this machine; `OPENAI_API_KEY` its key.
"""

import asyncio
import os
import sys
from typing import Any

import httpx

from notewell import MemoryTools, open_memory

URL = os.environ.get("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1")
KEY = {"Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', 'none')}"}
TASK = "Answer from the notes of your memory tools, and name the citation."


async def ask(workspace: str, question: str) -> str:
    """Let the model call the tools until it answers."""
    said: list[Any] = [{"role": "system", "content": TASK}]
    said.append({"role": "user", "content": question})
    async with (
        open_memory(workspace=workspace, server=True) as memory,
        httpx.AsyncClient(headers=KEY, timeout=300) as http,
    ):
        tools = MemoryTools(memory)
        body = {"model": os.environ["MODEL"], "tools": tools.schemas("openai")}
        while True:
            told = await http.post(
                f"{URL}/chat/completions", json={**body, "messages": said}
            )
            message = told.raise_for_status().json()["choices"][0]["message"]
            said.append(message)
            if not message.get("tool_calls"):
                return message["content"]
            for call in message["tool_calls"]:
                asked = call["function"]
                result = await tools.call(asked["name"], asked["arguments"])
                said.append(
                    {"role": "tool", "tool_call_id": call["id"], "content": result.text}
                )


if __name__ == "__main__":
    print(asyncio.run(ask(*sys.argv[1:])))
