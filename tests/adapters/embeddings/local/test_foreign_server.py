"""The provider `openai` with a compatible server that is not ours: llama-cpp-python's."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import numpy as np
import pytest

from notewell.adapters.embeddings.local import llama
from notewell.adapters.embeddings.remote import openai

if TYPE_CHECKING:
    from tests.adapters.embeddings.local.conftest import MakeRequest


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port: int = server.getsockname()[1]
        return port


def wait_until_it_answers(url: str, server: subprocess.Popen[bytes]) -> None:
    """Return when the server lists its model; there is no event for that."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        try:
            if httpx.get(f"{url}/models", trust_env=False).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError("llama_cpp.server does not answer")


@pytest.fixture
def endpoint(model_file: Path) -> Generator[str]:
    """The address of a server with the small model."""
    if find_spec("starlette_context") is None:
        pytest.skip("llama_cpp.server is not installed")
    port = free_port()
    options = {"model": model_file, "embedding": "true", "port": port, "n_threads": 1}
    words = [
        word for name, value in options.items() for word in (f"--{name}", str(value))
    ]
    server = subprocess.Popen(
        [sys.executable, "-m", "llama_cpp.server", "--host", "127.0.0.1", *words],
        env={k: v for k, v in os.environ.items() if k != "PYTHONWARNDEFAULTENCODING"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}/v1"
    try:
        wait_until_it_answers(url, server)
        yield url
    finally:
        server.kill()
        server.wait()


def test_a_foreign_server_gives_the_vectors_of_the_model_in_this_process(
    endpoint: str, model_file: Path, request_for: "MakeRequest"
) -> None:
    here = llama.provider(request_for(local=model_file)).open()
    remote = openai.provider(request_for(model="small", endpoint=endpoint))
    texts = ["tea", "The gateway port is 18789.", "数据库部署在新加坡"]

    with closing(remote.open()) as there:
        rows = there.embed(texts, "document")
        dimension = there.identity().dimension

    assert not remote.remote
    assert dimension == 384
    assert np.sum(rows * here.embed(texts, "document"), axis=1).min() > 0.99
