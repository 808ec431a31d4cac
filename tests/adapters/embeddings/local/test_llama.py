"""The provider `local`: which files it takes, and the vectors it makes of texts."""

import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import notewell
from notewell.adapters.embeddings.local.gguf import read_head
from notewell.adapters.embeddings.local.llama import LlamaEmbedder, provider
from notewell.adapters.embeddings.local.llama_model import load_model, thread_count
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from tests.adapters.embeddings.local.conftest import MakeRequest, WriteGguf

    from notewell.adapters.embeddings.base import Matrix

BERT = {
    "general.architecture": "bert",
    "bert.embedding_length": 384,
    "bert.context_length": 512,
    "bert.pooling_type": 1,
}
CHAT = {
    "general.architecture": "llama",
    "general.name": "Chatty 8B",
    "llama.embedding_length": 4096,
    "llama.context_length": 8192,
}
QUIET = """
import sys
from pathlib import Path
from notewell.adapters.embeddings.local.llama import provider
from notewell.adapters.embeddings.base import EmbeddingSettings
from notewell.config import LocalSettings

local = LocalSettings(model_path=sys.argv[1])
settings = EmbeddingSettings(name="local", state_dir=Path("state"), local=local)
embedder = provider(settings).open()
embedder.embed(["a text"], "query")
embedder.close()
"""


@pytest.fixture
def opened(model_file: Path, request_for: "MakeRequest") -> Generator[LlamaEmbedder]:
    embedder = provider(request_for(local=model_file)).open()
    assert isinstance(embedder, LlamaEmbedder)
    with closing(embedder):
        yield embedder


def cosines(embedder: LlamaEmbedder, one: str, *others: str) -> list[float]:
    """Return how near `one` is to each of the others."""
    rows = embedder.embed([one, *others], "document")
    return [float(row @ rows[0]) for row in rows[1:]]


def test_rows_are_unit_vectors_in_the_order_of_the_texts(opened: LlamaEmbedder) -> None:
    texts = ["tea", "the gateway port", "数据库部署在新加坡"]

    rows = opened.embed(texts, "document")

    assert rows.shape == (3, 384)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert np.allclose(opened.embed(texts[2:], "document")[0], rows[2], atol=1e-5)


def test_no_text_is_no_row(opened: LlamaEmbedder) -> None:
    assert opened.embed([], "query").shape == (0, 384)


def test_texts_of_one_meaning_are_near(opened: LlamaEmbedder) -> None:
    near, far = cosines(
        opened, "How do I restore a backup?", "bring back saved data", "green tomatoes"
    )

    assert near > far + 0.2


def test_the_end_of_a_text_far_over_the_limit_still_counts(
    opened: LlamaEmbedder,
) -> None:
    filler = "green tomatoes grow slowly in the cold greenhouse. " * 60
    ending = "The database password is rotated every month. " * 60

    with_end, without = cosines(
        opened, "when do we rotate the password?", filler + ending, filler
    )

    assert with_end > without + 0.1


@pytest.mark.parametrize(
    "text",
    ["x" * 2_000, "数据库" * 250, "🎉 " * 1_000, "\ud83c lone", "nul\0nul", "", " "],
    ids=["letters", "Chinese", "emoji", "surrogate", "NUL", "empty", "blank"],
)
def test_no_text_ends_the_process(text: str, opened: LlamaEmbedder) -> None:
    [row] = opened.embed([text], "document")

    assert np.isclose(np.linalg.norm(row), 1, atol=1e-5)


def test_threads_share_a_model(opened: LlamaEmbedder) -> None:
    texts = [f"note {number} about the harbour" for number in range(12)]
    alone = opened.embed(texts, "document")

    def one(text: str) -> "Matrix":
        return opened.embed([text], "document")

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(one, texts))

    assert np.allclose(np.concatenate(together), alone, atol=1e-5)


def test_a_closed_embedder_can_be_closed_again_and_loads_when_it_is_asked(
    opened: LlamaEmbedder,
) -> None:
    before = opened.embed(["tea"], "query")
    opened.close()
    opened.close()

    assert np.allclose(opened.embed(["tea"], "query"), before, atol=1e-5)


def test_the_identity_is_that_of_the_content(
    opened: LlamaEmbedder, model_file: Path, request_for: "MakeRequest", tmp_path: Path
) -> None:
    copy = shutil.copyfile(model_file, tmp_path / "another name.gguf")
    of_copy = provider(request_for(local=copy)).open().identity()
    with open(copy, "r+b") as file:
        file.seek(-1000, os.SEEK_END)
        file.write(b"1")
    of_changed = provider(request_for(local=copy)).open().identity()

    assert opened.identity() == of_copy
    assert (of_copy.provider, of_copy.dimension, of_copy.endpoint) == ("local", 384, "")
    assert of_changed != of_copy


def test_vectors_can_be_shortened(
    model_file: Path, request_for: "MakeRequest", opened: LlamaEmbedder
) -> None:
    short = provider(request_for(local=model_file, dimensionality=64)).open()

    [row] = short.embed(["tea"], "query")
    [whole] = opened.embed(["tea"], "query")

    assert short.identity().dimension == row.size == 64
    assert np.allclose(row, whole[:64] / np.linalg.norm(whole[:64]), atol=1e-5)


@pytest.mark.usefixtures("llama_cpp")
def test_vectors_cannot_be_lengthened(
    write: "WriteGguf", request_for: "MakeRequest"
) -> None:
    request = request_for(local=write("a.gguf", BERT), dimensionality=500)

    with pytest.raises(EmbeddingError, match="have 384 numbers, not 500"):
        provider(request).open()


def test_nothing_is_written_to_stdout_and_stderr(model_file: Path) -> None:
    root = str(Path(notewell.__file__).parents[1])

    done = subprocess.run(
        [sys.executable, "-c", QUIET, str(model_file)],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.usefixtures("llama_cpp")
@pytest.mark.parametrize(
    ("keys", "why"),
    [
        (CHAT, r"writes text \(llama\) and gives no vectors"),
        ({**CHAT, "llama.pooling_type": 0}, "gives no vectors"),
        ({**BERT, "bert.pooling_type": 4}, "scores pairs of texts"),
    ],
    ids=["chat", "pooling none", "reranker"],
)
def test_a_model_that_gives_no_vectors_is_refused_before_it_is_loaded(
    keys: dict[str, str | int],
    why: str,
    write: "WriteGguf",
    request_for: "MakeRequest",
) -> None:
    request = request_for(local=write("model.gguf", keys))

    with pytest.raises(EmbeddingError, match=why) as refused:
        provider(request).open()

    assert "name an embedding model" in refused.value.remedy
    assert refused.value.terminal


@pytest.mark.usefixtures("llama_cpp")
def test_a_writing_model_that_was_made_to_embed_is_taken_by_its_name(
    write: "WriteGguf", request_for: "MakeRequest"
) -> None:
    request = request_for(
        local=write("a.gguf", {**CHAT, "general.name": "Chatty Embedding 8B"})
    )

    embedder = provider(request).open()

    assert '"last"' in embedder.identity().prefixes


@pytest.mark.usefixtures("llama_cpp")
def test_the_family_of_the_model_chooses_its_prefixes(
    write: "WriteGguf", request_for: "MakeRequest"
) -> None:
    nomic = {**BERT, "general.name": "nomic-embed-text-v1.5"}

    embedder = provider(request_for(local=write("a.gguf", nomic))).open()

    assert "search_query: " in embedder.identity().prefixes


def test_a_file_cut_in_its_numbers_is_found_out(
    model_file: Path, request_for: "MakeRequest", tmp_path: Path
) -> None:
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(model_file.read_bytes()[:20_000_000])
    embedder = provider(request_for(local=cut)).open()

    with pytest.raises(EmbeddingError, match="not within the file bounds") as refused:
        embedder.embed(["tea"], "query")

    assert refused.value.reason == "corrupt"


@pytest.mark.usefixtures("llama_cpp")
@pytest.mark.parametrize("content", [b"", b"GGUF", b"<html>not found</html>"])
def test_a_file_that_is_no_model_is_refused(
    content: bytes, request_for: "MakeRequest", tmp_path: Path
) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(content)

    with pytest.raises(EmbeddingError, match="cannot be used") as refused:
        provider(request_for(local=path)).open()

    assert refused.value.reason == "corrupt"
    assert "delete" not in refused.value.remedy


@pytest.mark.usefixtures("llama_cpp")
def test_a_model_that_was_never_fetched_has_the_remedy(
    request_for: "MakeRequest",
) -> None:
    with pytest.raises(EmbeddingError, match="not on this disk") as missing:
        provider(request_for(local="hf:me/zoo/cat.gguf")).open()

    assert missing.value.reason == "model-missing"
    assert "notewell models pull" in missing.value.remedy


@pytest.mark.usefixtures("llama_cpp")
def test_a_fetched_model_that_is_damaged_has_to_go_before_it_is_pulled_again(
    request_for: "MakeRequest", tmp_path: Path
) -> None:
    damaged = tmp_path / "hf_me_zoo_cat.gguf"
    damaged.write_bytes(b"GGUF")
    request = request_for(local="hf:me/zoo/cat.gguf", cache=tmp_path)

    with pytest.raises(EmbeddingError, match="cannot be used") as refused:
        provider(request).open()

    assert refused.value.remedy == f"delete {damaged}, then: notewell models pull"


def test_every_piece_of_a_long_text_has_the_prefix_of_its_role(
    model_file: Path,
) -> None:
    model = load_model(model_file, read_head(model_file), "mean", remedy="")
    text, prefix = "The gateway port is 18789. " * 150, "green tomatoes " * 50

    def nearness(vector: list[float]) -> float:
        return float(np.dot(vector, tomatoes) / np.linalg.norm(vector)) / length

    with closing(model):
        [(_, tomatoes)] = model.vectors(prefix, "")
        length = float(np.linalg.norm(tomatoes))
        without = [nearness(vector) for _, vector in model.vectors(text, "")]
        with_it = [nearness(vector) for _, vector in model.vectors(text, prefix)]

    assert len(with_it) > 2
    assert min(with_it) > max(without) + 0.1


@pytest.mark.usefixtures("llama_cpp")
def test_a_named_file_that_is_gone_cannot_be_pulled(
    request_for: "MakeRequest", tmp_path: Path
) -> None:
    described = provider(request_for(local=tmp_path / "gone.gguf"))

    with pytest.raises(EmbeddingError, match=r"gone\.gguf") as missing:
        described.open()

    assert missing.value.reason == "model-missing"
    assert described.fetch is None


def test_without_the_package_it_says_what_to_install(
    write: "WriteGguf", request_for: "MakeRequest", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", None)

    with pytest.raises(EmbeddingError, match="not installed") as missing:
        provider(request_for(local=write("a.gguf", BERT))).open()

    assert missing.value.reason == "missing"
    assert "install 'llama-cpp-python>=" in missing.value.remedy


def test_one_core_is_left_to_others() -> None:
    assert 1 <= thread_count() <= max(1, (os.cpu_count() or 1) - 1, 1)
