"""`notewell models pull`, with a hub on this machine."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.adapters.surfaces.conftest import Notewell

# GGUF: version 3, no tensors, three keys; the smallest head of a model.
HEAD = (
    b"GGUF\x03\0\0\0" + bytes(8) + b"\x03" + bytes(7)
    + b"\x14\0\0\0\0\0\0\0general.architecture\x08\0\0\0\x04\0\0\0\0\0\0\0bert"
    + b"\x15\0\0\0\0\0\0\0bert.embedding_length\x04\0\0\0\x80\x01\0\0"
    + b"\x13\0\0\0\0\0\0\0bert.context_length\x04\0\0\0\0\x02\0\0"
)  # fmt: skip
MODEL = HEAD + bytes(5000)


class Handler(BaseHTTPRequestHandler):
    """A hub with one model, and one of which only a part ever comes."""

    stopped = threading.Event()

    def do_GET(self) -> None:
        if self.path == "/me/zoo/resolve/main/slow.gguf":
            self.send_response(200)
            self.send_header("Content-Length", str(2 << 20))
            self.end_headers()
            self.wfile.write(MODEL + bytes(1 << 20))
            self.stopped.wait(60)
            return
        if self.path != "/me/zoo/resolve/main/cat.gguf":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(MODEL)))
        self.end_headers()
        self.wfile.write(MODEL)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def hub() -> Generator[str]:
    """The address of a hub, as HF_ENDPOINT names it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration with a model on the hub."""
    local = {
        "modelPath": "hf:me/zoo/cat.gguf",
        "modelCacheDir": str(tmp_path / "models"),
    }
    return configured(tmp_path, {"provider": "local", "local": local})


def configured(folder: Path, search: dict[str, Any]) -> Path:
    path = folder / "openclaw.json"
    settings = {"agents": {"defaults": {"memorySearch": search}}}
    path.write_text(json.dumps(settings), encoding="utf-8")
    return path


def test_the_configured_model_is_fetched(
    config: Path, hub: str, run: "Notewell", tmp_path: Path
) -> None:
    ran = run("models", "pull", "--config", str(config), env={"HF_ENDPOINT": hub})

    path = tmp_path / "models" / "hf_me_zoo_cat.gguf"
    assert (ran.code, ran.text) == (0, f"{path}\nhf:me/zoo/cat.gguf, 5.1 KB\n")
    assert f"its terms: {hub}/me/zoo" in ran.said
    assert path.read_bytes() == MODEL


def test_json_is_one_object(
    config: Path, hub: str, run: "Notewell", tmp_path: Path
) -> None:
    words = ("models", "pull", "--json", "--config", str(config))

    ran = run(*words, env={"HF_ENDPOINT": hub})

    assert ran.value == {
        "model": "hf:me/zoo/cat.gguf",
        "path": str(tmp_path / "models" / "hf_me_zoo_cat.gguf"),
        "bytes": len(MODEL),
        "licence": f"{hub}/me/zoo",
    }


def test_a_named_model_goes_where_openclaw_keeps_its_own(
    hub: str, run: "Notewell", environ: dict[str, str]
) -> None:
    ran = run("models", "pull", "hf:me/zoo/cat.gguf", env={"HF_ENDPOINT": hub})

    folder = Path(environ["HOME"]) / ".node-llama-cpp" / "models"
    assert ran.code == 0
    assert (folder / "hf_me_zoo_cat.gguf").is_file()


def test_a_model_that_is_not_there_is_an_error_with_a_remedy(
    hub: str, run: "Notewell"
) -> None:
    words = ("models", "pull", "hf:me/zoo/dog.gguf", "--json")

    ran = run(*words, env={"HF_ENDPOINT": hub})

    assert ran.code == 1
    assert ran.value["error"]["type"] == "unavailable"
    assert ran.value["error"]["remedy"] == f"look for its name at {hub}/me/zoo"


def test_offline_nothing_is_fetched(run: "Notewell", environ: dict[str, str]) -> None:
    ran = run("models", "pull", env={"NOTEWELL_OFFLINE": "1"})

    assert (ran.code, ran.text) == (1, "")
    assert "memory.offline forbids that" in ran.said
    assert not (Path(environ["HOME"]) / ".node-llama-cpp").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["models"], "missing argument"),
        (["models", "fetch"], "'fetch' is not 'pull'"),
        (["models", "pull", "hf:me/zoo"], "name the file in that repository"),
        (["models", "pull", "/models/cat.gguf"], "is a place on this disk"),
    ],
)
def test_what_makes_no_sense_is_refused(
    words: list[str], said: str, run: "Notewell"
) -> None:
    ran = run(*words)

    assert ran.code in (1, 2)
    assert said in ran.said
    assert ran.text == ""


@pytest.fixture
def interruptible() -> Generator[None]:
    """Let children be interrupted even if these tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_keeps_what_has_come_and_says_so(
    hub: str, environ: dict[str, str]
) -> None:
    command = [sys.executable, "-m", "notewell", "models", "pull", "--json"]
    with subprocess.Popen(
        [*command, "hf:me/zoo/slow.gguf"],
        env={**environ, "HF_ENDPOINT": hub},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as pulling:
        assert pulling.stderr is not None
        said = [pulling.stderr.readline() for _ in range(3)]
        pulling.send_signal(signal.SIGINT)
        out, rest = pulling.communicate()
    Handler.stopped.set()

    folder = Path(environ["HOME"]) / ".node-llama-cpp" / "models"
    assert said[2] == "fetching 2.1 MB …\n"
    assert "what has come is kept; run it again to go on" in rest
    assert (pulling.returncode, json.loads(out)["error"]["message"]) == (
        130,
        "interrupted",
    )
    assert (folder / "hf_me_zoo_slow.gguf.part").stat().st_size > 0


def test_a_remote_provider_keeps_no_model_here(run: "Notewell", tmp_path: Path) -> None:
    config = configured(tmp_path, {"provider": "openai"})

    ran = run("models", "pull", "--config", str(config))

    assert ran.code == 2
    assert "'openai' keeps no model on this disk" in ran.said
    assert "notewell models pull hf:" in ran.said


def test_what_comes_with_the_install_is_not_fetched(
    run: "Notewell", tmp_path: Path
) -> None:
    config = configured(tmp_path, {"provider": "static"})

    ran = run("models", "pull", "--config", str(config))

    assert ran.code == 2
    assert "static come with the install: nothing is to be fetched" in ran.said
    assert "notewell models pull hf:" in ran.said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "no model is named"),
        (" ", "no model is named"),
        ("hf:a/b", "names no file"),
    ],
)
def test_a_name_of_no_model_is_wrong_usage(
    run: "Notewell", name: str, said: str
) -> None:
    ran = run("models", "pull", name)

    assert ran.code == 2
    assert said in ran.said
