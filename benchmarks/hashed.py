"""An embedding server for measurements: OpenAI's protocol, vectors from hashed words.

It costs next to nothing, needs no model, and gives every program the same vectors; what
they find is not worth judging.
"""

import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

DIMENSION = 384


@contextmanager
def serving() -> Generator[str]:
    """Run the server on this machine; give its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def vector(text: str) -> list[float]:
    """Return a unit vector: each word adds to a few of its numbers."""
    numbers = [0.0] * DIMENSION
    for word in text.lower().split():
        for byte in blake2b(word.encode(), digest_size=4).digest():
            numbers[(byte * 3 + len(word)) % DIMENSION] += 1.0 if byte & 1 else -1.0
    length = sum(number * number for number in numbers) ** 0.5
    return [number / length for number in numbers] if length else [1.0, *numbers[1:]]


def answer(texts: Sequence[str]) -> bytes:
    """Return OpenAI's answer to a request for the vectors of some texts."""
    data = [
        {"object": "embedding", "index": index, "embedding": vector(text)}
        for index, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    whole = {"object": "list", "data": data, "model": "hashed", "usage": usage}
    return json.dumps(whole).encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = asked["input"]
        body = answer([texts] if isinstance(texts, str) else texts)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass
