"""The provider `sentence-transformers`, and that it agrees with llama.cpp."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest

import notewell
from notewell.adapters.embeddings.base import Embedder
from notewell.adapters.embeddings.local import llama
from notewell.adapters.embeddings.local.sentence_transformers import (
    ModelFolder,
    folder_on_disk,
    hub_cache,
    provider,
)
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from tests.adapters.embeddings.local.conftest import MakeRequest, Progress

    from notewell.adapters.embeddings.base import Matrix

TEXTS = {
    "a word": "tea",
    "English": "The gateway port is 18789, and the backup runs at four.",
    "Chinese": "数据库部署在新加坡,每天早上四点备份。",
    "emoji": "party 🎉🎉 at the harbour 🚢",
    "long": "The nightly backup had not run since Sunday. " * 20,
    "code": "$ restic unlock --remove-all  # C++, memorySearch.query.hybrid",
}
QUIET = """
import sys
from pathlib import Path
from notewell.adapters.embeddings.local.sentence_transformers import provider
from notewell.adapters.embeddings.base import EmbeddingSettings

settings = EmbeddingSettings(name="st", state_dir=Path("state"), model=sys.argv[1])
embedder = provider(settings).open()
embedder.embed(["a text", "word " * 2000], "query")
embedder.close()
"""

pytestmark = pytest.mark.usefixtures("transformers")


@pytest.fixture
def opened(model_folder: Path, request_for: "MakeRequest") -> Embedder:
    return provider(request_for(model=str(model_folder))).open()


@pytest.fixture
def copied(model_folder: Path, tmp_path: Path) -> Path:
    """The model in a folder that a test may change; the weights are a link."""
    folder = tmp_path / "model"
    shutil.copytree(
        model_folder, folder, ignore=shutil.ignore_patterns("*.safetensors")
    )
    (folder / "model.safetensors").symlink_to(model_folder / "model.safetensors")
    return folder


def cached(folder: Path, cache: Path, repository: str) -> Path:
    """Put a model where the Hugging Face libraries would have put it."""
    place = cache / f"models--{repository.replace('/', '--')}"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text("c0ffee", encoding="ascii")
    (place / "snapshots").mkdir()
    (place / "snapshots" / "c0ffee").symlink_to(folder)
    return place / "snapshots" / "c0ffee"


def test_its_vectors_and_those_of_llama_cpp_agree(
    opened: Embedder, model_file: Path, request_for: "MakeRequest"
) -> None:
    by_llama = llama.provider(request_for(local=model_file)).open()
    texts = list(TEXTS.values())

    ours, theirs = (e.embed(texts, "document") for e in (opened, by_llama))

    cosines = dict(zip(TEXTS, np.sum(ours * theirs, axis=1), strict=True))
    assert min(cosines.values()) > 0.99, cosines


def test_rows_are_unit_vectors(opened: Embedder) -> None:
    rows = opened.embed(["tea", "", "x" * 50_000, "\ud83c lone"], "query")

    assert rows.shape == (4, 384)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)


def test_threads_share_a_model(opened: Embedder) -> None:
    texts = [f"note {number} about the harbour" for number in range(8)]
    alone = opened.embed(texts, "document")

    def one(text: str) -> "Matrix":
        return opened.embed([text], "document")

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(one, texts))

    assert np.allclose(np.concatenate(together), alone, atol=1e-5)


def test_a_closed_embedder_can_be_closed_again(opened: Embedder) -> None:
    opened.close()
    opened.close()


def test_the_identity_needs_no_loaded_model(
    model_folder: Path, request_for: "MakeRequest", copied: Path
) -> None:
    identity = provider(request_for(model=str(model_folder))).open().identity()

    assert (identity.provider, identity.dimension) == ("sentence-transformers", 384)
    assert provider(request_for(model=str(copied))).open().identity() == identity


def test_the_prompts_of_the_model_come_before_our_own_table(copied: Path) -> None:
    (copied / "config_sentence_transformers.json").write_text(
        json.dumps({"prompts": {"query": "ask: ", "passage": "tell: "}}),
        encoding="utf-8",
    )

    own = ModelFolder(copied).prefixes("intfloat/e5-small-v2")

    assert (own.query, own.document) == ("ask: ", "tell: ")


def test_without_prompts_the_family_of_the_model_counts(model_folder: Path) -> None:
    known = ModelFolder(model_folder).prefixes("intfloat/e5-small-v2")

    assert (known.query, known.document) == ("query: ", "passage: ")


def test_a_prompt_stands_before_the_text(
    copied: Path, opened: Embedder, request_for: "MakeRequest"
) -> None:
    (copied / "config_sentence_transformers.json").write_text(
        json.dumps({"prompts": {"query": "ask: ", "document": ""}}), encoding="utf-8"
    )
    asking = provider(request_for(model=str(copied))).open()

    rows = asking.embed(["tea"], "query")

    assert np.allclose(rows, opened.embed(["ask: tea"], "document"), atol=1e-5)


def test_a_name_is_found_in_the_cache_of_the_libraries(
    model_folder: Path, request_for: "MakeRequest", tmp_path: Path
) -> None:
    cache = tmp_path / "hub"
    place = cached(model_folder, cache, "sentence-transformers/all-MiniLM-L6-v2")
    request = request_for(environ={"HF_HUB_CACHE": str(cache)})

    identity = provider(request).open().identity()

    assert folder_on_disk(request).path == place
    assert identity.model.startswith("sentence-transformers/all-MiniLM-L6-v2@")


def test_a_folder_of_that_name_where_we_are_is_not_the_model(
    request_for: "MakeRequest",
    copied: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "me").mkdir()
    copied.rename(tmp_path / "me" / "zoo")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(EmbeddingError, match="me/zoo is not on this disk"):
        provider(request_for(model="me/zoo")).open()


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"HOME": "/h"}, "/h/.cache/huggingface/hub"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "/x"}, "/x/huggingface/hub"),
        ({"HOME": "/h", "HF_HOME": "/f"}, "/f/hub"),
        ({"HF_HOME": "/f", "HF_HUB_CACHE": "/c"}, "/c"),
    ],
)
def test_the_cache_is_where_the_libraries_have_it(
    environ: dict[str, str], folder: str
) -> None:
    assert hub_cache(environ) == Path(folder)


def test_a_model_that_was_never_fetched_has_the_remedy(
    request_for: "MakeRequest",
) -> None:
    with pytest.raises(EmbeddingError, match="not on this disk") as missing:
        provider(request_for(model="me/zoo")).open()

    assert missing.value.reason == "model-missing"
    assert "notewell models pull" in missing.value.remedy


class Hub(BaseHTTPRequestHandler):
    """A hub with one model, as far as the library asks.

    Attributes:
        files: Its files by name.
        sent: The files whose content was asked for.
    """

    files: ClassVar = {
        "config.json": b"{}",
        "model.safetensors": b"numbers",
        "pytorch_model.bin": b"the same numbers",
        "onnx/model.onnx": b"the same numbers",
        "openvino/model.xml": b"the same numbers",
    }
    sent: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        if self.path.startswith("/api/models/me/zoo"):
            siblings = [
                {"rfilename": name, "size": len(content)}
                for name, content in self.files.items()
            ]
            about = {"id": "me/zoo", "sha": "c0ffee", "siblings": siblings}
            self.answer(json.dumps(about).encode("ascii"))
            return
        name = self.path.removeprefix("/me/zoo/resolve/main/").partition("?")[0]
        if self.command == "GET":
            self.sent.append(name)
        self.answer(self.files[name])

    do_HEAD = do_GET

    def answer(self, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
        self.send_header("X-Repo-Commit", "c0ffee" + "0" * 34)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def hub() -> Generator[str]:
    """The address of a hub, as HF_ENDPOINT names it."""
    Hub.sent.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_model_is_fetched_into_the_cache_of_the_libraries_in_one_format(
    hub: str, request_for: "MakeRequest", progress: "Progress", tmp_path: Path
) -> None:
    environ = {"HF_ENDPOINT": hub, "HF_HUB_CACHE": str(tmp_path / "hub")}
    request = request_for(model="me/zoo", environ=environ)
    fetch = provider(request).fetch
    assert fetch is not None

    fetch(progress)

    assert sorted(Hub.sent) == ["config.json", "model.safetensors"]
    model = folder_on_disk(request)
    assert (model.path / "model.safetensors").read_bytes() == b"numbers"
    assert (model.size, model.licence) == (9, f"{hub}/me/zoo")
    assert progress.calls[-1] == (9, 9)
    assert ModelFolder(model.path).there()


def test_offline_nothing_is_fetched(
    request_for: "MakeRequest", progress: "Progress"
) -> None:
    fetch = provider(request_for(model="me/zoo", offline=True)).fetch
    assert fetch is not None

    with pytest.raises(EmbeddingError, match=r"huggingface\.co") as refused:
        fetch(progress)

    assert refused.value.reason == "offline"


def test_a_hub_that_is_not_there_is_a_failure_of_the_network(
    request_for: "MakeRequest", progress: "Progress"
) -> None:
    environ = {"HF_ENDPOINT": "http://127.0.0.1:1"}
    fetch = provider(request_for(model="me/zoo", environ=environ)).fetch
    assert fetch is not None

    with pytest.raises(EmbeddingError, match="me/zoo could not be fetched") as refused:
        fetch(progress)

    assert refused.value.reason == "network"


def test_a_damaged_folder_is_no_crash(copied: Path, request_for: "MakeRequest") -> None:
    (copied / "model.safetensors").unlink()
    (copied / "model.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0{}      " * 10)
    embedder = provider(request_for(model=str(copied))).open()

    with pytest.raises(EmbeddingError, match="cannot be loaded") as refused:
        embedder.embed(["tea"], "query")

    assert refused.value.reason == "corrupt"


def test_without_the_package_it_says_what_to_install(
    request_for: "MakeRequest", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)

    with pytest.raises(EmbeddingError, match="not installed") as missing:
        provider(request_for()).open()

    assert missing.value.reason == "missing"
    assert "install 'sentence-transformers>=" in missing.value.remedy


def test_nothing_is_written_to_stdout_and_stderr(model_folder: Path) -> None:
    root = str(Path(notewell.__file__).parents[1])

    done = subprocess.run(
        [sys.executable, "-c", QUIET, str(model_folder)],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.usefixtures("transformers")
def test_a_folder_without_a_model_is_told_from_one_that_is_not_there(
    request_for: "MakeRequest", tmp_path: Path
) -> None:
    with pytest.raises(EmbeddingError, match="holds no model") as empty:
        provider(request_for(model=str(tmp_path))).open()
    with pytest.raises(EmbeddingError, match="not on this disk") as missing:
        provider(request_for(model=str(tmp_path / "gone"))).open()

    assert empty.value.reason == missing.value.reason == "model-missing"
