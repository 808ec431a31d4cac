"""Fetching a model from a hub that speaks the published protocol, with its faults.

https://huggingface.co/docs/huggingface_hub/package_reference/file_download
"""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

import notewell
from notewell.adapters.embeddings.base import EmbeddingSettings, FetchProgress
from notewell.adapters.embeddings.local.download import fetch_snapshot
from notewell.adapters.embeddings.local.llama import gguf_on_disk, provider
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from tests.adapters.embeddings.local.conftest import (
        MakeRequest,
        Progress,
        WriteGguf,
    )

MODEL = "hf:me/zoo/cat.gguf"
BERT = {
    "general.architecture": "bert",
    "bert.embedding_length": 384,
    "bert.context_length": 512,
    "bert.pooling_type": 1,
}
PULL = """
import resource, sys
from pathlib import Path
from notewell.adapters.embeddings.local.llama import provider
from notewell.adapters.embeddings.base import EmbeddingSettings
from notewell.config import LocalSettings

cache, endpoint, most = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_FSIZE, (int(most), int(most)))
local = LocalSettings(model_path="hf:me/zoo/cat.gguf", model_cache_dir=Path(cache))
environ = {"HF_ENDPOINT": endpoint}
settings = EmbeddingSettings(name="local", state_dir=Path("s"), local=local, environ=environ)
provider(settings).fetch(lambda have, total: print(have, flush=True))
"""


class Storage:
    """Where the hub keeps its files: another host, to which it redirects.

    Attributes:
        content: The file.
        stops_after: Bytes after which it breaks the connection off, once.
        shift: By how many bytes it answers beside the point.
        resumes: Whether it knows ranges; else all of the file comes each time.
        held: Set while it may send; cleared, it waits in the middle of the file.
        ranges: The ranges that were asked for, None for all of it.
        tokens: The Authorization headers that came.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.stops_after: int | None = None
        self.shift = 0
        self.resumes = True
        self.held = threading.Event()
        self.held.set()
        self.ranges: list[str | None] = []
        self.tokens: list[str | None] = []
        self.url = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        asked = handler.headers["Range"]
        self.ranges.append(asked)
        self.tokens.append(handler.headers["Authorization"])
        if not self.resumes:
            asked = None
        first = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        if first >= len(self.content):
            handler.send_error(416)
            return
        body = self.content[first:]
        handler.send_response(206 if asked else 200)
        handler.send_header("Content-Length", str(len(body)))
        if asked:
            whole = f"bytes {first + self.shift}-{len(self.content) - 1}/{len(self.content)}"
            handler.send_header("Content-Range", whole)
        handler.end_headers()
        stop, self.stops_after = self.stops_after, None
        half = len(body) // 2
        handler.wfile.write(body[: stop or half])
        handler.wfile.flush()
        if stop:
            handler.close_connection = True
            return
        self.held.wait(30)
        handler.wfile.write(body[half:])


class Hub:
    """The hub: says what a file is, then redirects to the storage.

    Attributes:
        status: What it answers with; 302 is the way to the file.
        headers: What it says of the file.
        tokens: The Authorization headers that came.
    """

    def __init__(self, storage: Storage) -> None:
        digest = hashlib.sha256(storage.content).hexdigest()
        self.status = 302
        self.headers = {
            "X-Linked-Size": str(len(storage.content)),
            "X-Linked-ETag": f'"{digest}"',
            "Location": f"{storage.url}/blob",
        }
        self.paths: list[str] = []
        self.tokens: list[str | None] = []
        self.url = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.paths.append(handler.path)
        self.tokens.append(handler.headers["Authorization"])
        handler.send_response(self.status)
        for name, value in self.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()


def serving(part: "Hub | Storage | FolderHub", host: str) -> ThreadingHTTPServer:
    """Start a server in a thread."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            try:
                part.answer(self)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the reader was killed, as it should be

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer((host, 0), Handler)
    part.url = f"http://{host}:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    return server


@pytest.fixture
def content(write: "WriteGguf") -> bytes:
    """A file that looks like a model, of 3 MB."""
    return write("made.gguf", BERT).read_bytes() + os.urandom(3 << 20)


@pytest.fixture
def storage(content: bytes) -> Generator[Storage]:
    part = Storage(content)
    server = serving(part, "127.0.0.2" if sys.platform == "linux" else "127.0.0.1")
    yield part
    part.held.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def hub(storage: Storage) -> Generator[Hub]:
    part = Hub(storage)
    server = serving(part, "127.0.0.1")
    yield part
    server.shutdown()
    server.server_close()


@pytest.fixture
def wanted(hub: Hub, request_for: "MakeRequest", tmp_path: Path) -> EmbeddingSettings:
    """The request of somebody who has a token for the hub."""
    environ = {"HF_ENDPOINT": hub.url, "HF_TOKEN": "hf_secret"}
    return request_for(local=MODEL, cache=tmp_path / "models", environ=environ)


def pull(request: EmbeddingSettings, fetched: FetchProgress) -> Path:
    """Fetch the model of a request; return where it is."""
    fetch = provider(request).fetch
    assert fetch is not None
    fetch(fetched)
    return gguf_on_disk(request).path


def part_of(request: EmbeddingSettings) -> Path:
    """Return where what has come so far is kept."""
    path = gguf_on_disk(request).path
    return path.with_name(f"{path.name}.part")


def test_a_model_is_fetched_for_its_owner_alone(
    wanted: EmbeddingSettings, hub: Hub, content: bytes, progress: "Progress"
) -> None:
    path = pull(wanted, progress)

    assert hub.paths == ["/me/zoo/resolve/main/cat.gguf"]
    assert path.read_bytes() == content
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert progress.calls[-1] == (len(content), len(content))
    assert not part_of(wanted).exists()


def test_the_token_is_for_the_hub_and_not_for_where_it_sends_us(
    wanted: EmbeddingSettings, hub: Hub, storage: Storage, progress: "Progress"
) -> None:
    pull(wanted, progress)

    assert hub.tokens == ["Bearer hf_secret"]
    assert storage.tokens == [None]


def test_a_model_that_is_there_is_not_asked_for(
    wanted: EmbeddingSettings, hub: Hub, progress: "Progress"
) -> None:
    pull(wanted, progress)
    pull(wanted, progress)

    assert len(hub.paths) == 1


def test_a_connection_that_breaks_is_taken_up_again_where_it_broke(
    wanted: EmbeddingSettings, storage: Storage, content: bytes, progress: "Progress"
) -> None:
    storage.stops_after = 1_500_000
    with pytest.raises(EmbeddingError) as broken:
        pull(wanted, progress)
    assert broken.value.reason == "network"
    assert "run it again" in broken.value.remedy
    kept = part_of(wanted).stat().st_size

    path = pull(wanted, progress)

    assert storage.ranges == [None, f"bytes={kept}-"]
    assert 0 < kept <= 1_500_000
    assert path.read_bytes() == content


def test_a_storage_that_does_not_know_ranges_sends_all_of_it_again(
    wanted: EmbeddingSettings, storage: Storage, content: bytes, progress: "Progress"
) -> None:
    part_of(wanted).parent.mkdir()
    part_of(wanted).write_bytes(b"x" * 1000)
    storage.resumes = False

    assert pull(wanted, progress).read_bytes() == content


def test_a_range_that_was_not_asked_for_is_not_taken(
    wanted: EmbeddingSettings, storage: Storage, progress: "Progress"
) -> None:
    part_of(wanted).parent.mkdir()
    part_of(wanted).write_bytes(b"x" * 1000)
    storage.shift = 1

    with pytest.raises(EmbeddingError, match="another part than asked for"):
        pull(wanted, progress)

    assert part_of(wanted).stat().st_size == 1000


def test_a_part_of_another_file_is_thrown_away_at_the_end(
    wanted: EmbeddingSettings, content: bytes, progress: "Progress"
) -> None:
    part_of(wanted).parent.mkdir()
    part_of(wanted).write_bytes(b"x" * 1000)
    with pytest.raises(EmbeddingError, match="thrown away"):
        pull(wanted, progress)

    assert pull(wanted, progress).read_bytes() == content


def test_a_part_that_only_waits_to_be_checked_is_not_fetched_again(
    wanted: EmbeddingSettings, storage: Storage, content: bytes, progress: "Progress"
) -> None:
    part_of(wanted).parent.mkdir()
    part_of(wanted).write_bytes(content)

    path = pull(wanted, progress)

    assert storage.ranges == [f"bytes={len(content)}-"]
    assert path.read_bytes() == content


@pytest.mark.parametrize("name", ["X-Linked-Size", "X-Linked-ETag"])
def test_a_file_that_is_not_the_announced_one_is_thrown_away(
    name: str, wanted: EmbeddingSettings, hub: Hub, progress: "Progress"
) -> None:
    wrong = {"X-Linked-Size": "3000000", "X-Linked-ETag": f'"{"0" * 64}"'}
    hub.headers[name] = wrong[name]

    with pytest.raises(EmbeddingError, match="not the file that was announced") as bad:
        pull(wanted, progress)

    assert bad.value.reason == "corrupt"
    assert not gguf_on_disk(wanted).path.exists()
    assert not part_of(wanted).exists()


def test_a_page_in_place_of_a_model_is_thrown_away(
    wanted: EmbeddingSettings, hub: Hub, storage: Storage, progress: "Progress"
) -> None:
    storage.content = b"<html>Please log in to this network</html>"
    hub.headers = {"Location": hub.headers["Location"]}

    with pytest.raises(EmbeddingError, match="what came is no model"):
        pull(wanted, progress)

    assert not gguf_on_disk(wanted).path.exists()


@pytest.mark.parametrize(
    ("status", "reason", "said"),
    [
        (401, "auth", "accept its terms at {hub}/me/zoo, then set HF_TOKEN"),
        (403, "auth", "accept its terms at {hub}/me/zoo, then set HF_TOKEN"),
        (404, "model-missing", "look for its name at {hub}/me/zoo"),
        (429, "rate-limit", "run it again"),
        (503, "network", "run it again"),
    ],
)
def test_a_refusal_says_what_to_do(
    status: int,
    reason: str,
    said: str,
    wanted: EmbeddingSettings,
    hub: Hub,
    progress: "Progress",
) -> None:
    hub.status = status
    hub.headers = {}

    with pytest.raises(EmbeddingError) as refused:
        pull(wanted, progress)

    assert refused.value.reason == reason
    assert said.format(hub=hub.url) in refused.value.remedy
    assert "hf_secret" not in f"{refused.value} {refused.value.remedy}"


def test_a_circle_of_redirections_ends(
    wanted: EmbeddingSettings, hub: Hub, progress: "Progress"
) -> None:
    hub.headers["Location"] = f"{hub.url}/again"

    with pytest.raises(EmbeddingError, match="in a circle"):
        pull(wanted, progress)

    assert len(hub.paths) < 20


def test_a_hub_that_is_not_there_is_a_failure_of_the_network(
    request_for: "MakeRequest", tmp_path: Path, progress: "Progress"
) -> None:
    environ = {"HF_ENDPOINT": "http://127.0.0.1:1"}
    request = request_for(local=MODEL, cache=tmp_path / "m", environ=environ)

    with pytest.raises(EmbeddingError, match="cannot be reached") as refused:
        pull(request, progress)

    assert refused.value.reason == "network"


def test_offline_nobody_but_this_machine_is_asked(
    request_for: "MakeRequest", tmp_path: Path, progress: "Progress"
) -> None:
    request = request_for(local=MODEL, cache=tmp_path / "m", offline=True)

    with pytest.raises(EmbeddingError, match=r"huggingface\.co.*offline") as refused:
        pull(request, progress)

    assert refused.value.reason == "offline"
    assert not (tmp_path / "m").exists()


def test_offline_a_hub_on_this_machine_cannot_send_us_elsewhere(
    hub: Hub, request_for: "MakeRequest", tmp_path: Path, progress: "Progress"
) -> None:
    hub.headers["Location"] = "http://storage.invalid/blob"
    environ = {"HF_ENDPOINT": hub.url}
    request = request_for(
        local=MODEL, cache=tmp_path / "m", environ=environ, offline=True
    )

    with pytest.raises(EmbeddingError, match=r"storage\.invalid"):
        pull(request, progress)


def test_a_proxy_of_the_given_environment_is_asked(
    hub: Hub, request_for: "MakeRequest", tmp_path: Path, progress: "Progress"
) -> None:
    environ = {"HF_ENDPOINT": "http://hub.invalid", "http_proxy": hub.url}
    request = request_for(local=MODEL, cache=tmp_path / "m", environ=environ)

    pull(request, progress)

    assert hub.paths == ["http://hub.invalid/me/zoo/resolve/main/cat.gguf"]


def start(
    request: EmbeddingSettings, hub: Hub, *, most: int = -1
) -> subprocess.Popen[str]:
    """Fetch in a child process, which may write files of `most` bytes; -1: any.

    It prints how many bytes it has.
    """
    folder = request.local.model_cache_dir
    return subprocess.Popen(
        [sys.executable, "-c", PULL, str(folder), hub.url, str(most)],
        env={**os.environ, "PYTHONPATH": str(Path(notewell.__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


@pytest.fixture
def interruptible() -> Generator[None]:
    """Let children be interrupted even if these tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT], ids=["KILL", "INT"])
def test_what_had_come_when_it_was_stopped_is_kept(
    sent: signal.Signals,
    wanted: EmbeddingSettings,
    hub: Hub,
    storage: Storage,
    content: bytes,
    progress: "Progress",
) -> None:
    storage.held.clear()
    with start(wanted, hub) as child:
        assert child.stdout is not None
        child.stdout.readline()  # it has a first block, and waits for more
        child.send_signal(sent)
        child.communicate()
    kept = part_of(wanted).stat().st_size
    storage.held.set()

    path = pull(wanted, progress)

    assert child.returncode != 0
    assert storage.ranges[-1] == f"bytes={kept}-"
    assert path.read_bytes() == content


def test_two_processes_fetch_it_once(
    wanted: EmbeddingSettings, hub: Hub, storage: Storage, content: bytes
) -> None:
    both = [start(wanted, hub), start(wanted, hub)]
    ended = [(child.communicate()[1], child.returncode) for child in both]

    assert ended == [("", 0), ("", 0)]
    assert storage.ranges == [None]
    assert gguf_on_disk(wanted).path.read_bytes() == content


def test_a_folder_that_cannot_be_made_is_named(
    hub: Hub, request_for: "MakeRequest", tmp_path: Path, progress: "Progress"
) -> None:
    (tmp_path / "file").touch()
    request = request_for(
        local=MODEL, cache=tmp_path / "file" / "m", environ={"HF_ENDPOINT": hub.url}
    )

    with pytest.raises(EmbeddingError, match="cannot be written") as refused:
        pull(request, progress)

    assert "modelCacheDir" in refused.value.remedy


def test_what_has_come_when_the_disk_takes_no_more_is_kept(
    wanted: EmbeddingSettings,
    hub: Hub,
    storage: Storage,
    content: bytes,
    progress: "Progress",
) -> None:
    with start(wanted, hub, most=1_500_000) as child:
        _, said = child.communicate()
    kept = part_of(wanted).stat().st_size

    path = pull(wanted, progress)

    assert "cannot be written: File too large" in said
    assert kept == 1_500_000
    assert storage.ranges[-1] == "bytes=1500000-"
    assert path.read_bytes() == content


def test_a_disk_without_room_is_found_out_before_anything_comes(
    wanted: EmbeddingSettings, hub: Hub, progress: "Progress"
) -> None:
    hub.headers["X-Linked-Size"] = str(1 << 60)

    with pytest.raises(EmbeddingError, match="MB are free") as refused:
        pull(wanted, progress)

    assert "make room there" in refused.value.remedy


class FolderHub:
    """A hub with one folder of two files, `config.json` and `model.safetensors`.

    Attributes:
        seen: The Authorization and User-Agent headers that came.
        downloads: The files that were asked for.
    """

    files: ClassVar = {
        "config.json": b"{}",
        "model.safetensors": b"numbers",
        "model.bin": b"again",
    }

    def __init__(self) -> None:
        self.seen: list[tuple[str | None, str]] = []
        self.downloads: list[str] = []
        self.url = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        headers = handler.headers
        self.seen.append((headers["Authorization"], headers["User-Agent"]))
        name = handler.path.rpartition("/")[2].partition("?")[0]
        body = self.files.get(name, b"")
        if handler.path.startswith("/api/"):
            siblings = [{"rfilename": n, "size": len(b)} for n, b in self.files.items()]
            body = json.dumps({"id": "me/zoo", "siblings": siblings}).encode()
        elif handler.command == "GET":
            self.downloads.append(name)
        handler.send_response(200)
        handler.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
        handler.send_header("X-Repo-Commit", "c0ffee" * 6 + "c0ff")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if handler.command == "GET":
            handler.wfile.write(body)


@pytest.fixture
def folder_hub(transformers: None) -> Generator[FolderHub]:
    part = FolderHub()
    server = serving(part, "127.0.0.1")
    yield part
    server.shutdown()
    server.server_close()


def fetch_folder(
    hub: FolderHub, cache: Path, progress: "Progress", **environ: str
) -> None:
    fetch_snapshot(
        "me/zoo",
        cache=cache,
        environ={"HF_ENDPOINT": hub.url, **environ},
        offline=False,
        onnx=False,
        fetched=progress,
    )


def test_a_folder_is_fetched_without_the_formats_of_others(
    folder_hub: FolderHub, tmp_path: Path, progress: "Progress"
) -> None:
    fetch_folder(folder_hub, tmp_path, progress)
    fetch_folder(folder_hub, tmp_path, progress)

    assert folder_hub.downloads == ["config.json", "model.safetensors"]
    assert progress.calls[-1] == (9, 9)


def test_a_login_in_another_program_is_not_sent_along(
    folder_hub: FolderHub,
    tmp_path: Path,
    progress: "Progress",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "token").write_text("hf_of_another_program", encoding="utf-8")
    token = "huggingface_hub.constants.HF_TOKEN_PATH"
    monkeypatch.setattr(token, str(tmp_path / "token"))

    fetch_folder(folder_hub, tmp_path, progress)
    assert {token for token, _ in folder_hub.seen} == {None}
    assert not any("torch" in agent for _, agent in folder_hub.seen)

    fetch_folder(folder_hub, tmp_path / "other", progress, HF_TOKEN="hf_mine")
    assert folder_hub.seen[-1][0] == "Bearer hf_mine"
