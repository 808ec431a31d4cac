"""Reading the head of a GGUF file, also of one that somebody made to do harm."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.adapters.embeddings.local.gguf import BadGguf, read_head

if TYPE_CHECKING:
    from tests.adapters.embeddings.local.conftest import WriteGguf

BERT = {
    "general.architecture": "bert",
    "general.name": "A small one",
    "bert.embedding_length": 384,
    "bert.context_length": 512,
    "bert.attention.causal": False,
    "bert.pooling_type": 2,
}


def test_the_head_says_what_a_model_is(write: "WriteGguf") -> None:
    head = read_head(write("a.gguf", BERT))

    assert (head.architecture, head.name) == ("bert", "A small one")
    assert (head.dimension, head.context) == (384, 512)
    assert (head.pooling, head.causal) == ("cls", False)


def test_what_stands_after_the_vocabulary_is_read_too(write: "WriteGguf") -> None:
    words = [f"word {number}" for number in range(5000)]
    late = {key: BERT[key] for key in BERT if key != "bert.pooling_type"}
    late |= {"tokenizer.ggml.tokens": words, "bert.pooling_type": 1}  # type: ignore[dict-item]

    assert read_head(write("late.gguf", late)).pooling == "mean"


def test_a_pooling_that_is_not_said_is_not_invented(write: "WriteGguf") -> None:
    keys = {key: BERT[key] for key in BERT if key != "bert.pooling_type"}

    assert read_head(write("a.gguf", keys)).pooling is None


def test_a_file_cut_anywhere_in_its_head_is_found_out(write: "WriteGguf") -> None:
    path = write("whole.gguf", BERT)
    whole = path.read_bytes().rstrip(b"\0")

    for length in range(len(whole) - 3):
        path.write_bytes(whole[:length])
        with pytest.raises(BadGguf):
            read_head(path)


def huge_text() -> bytes:
    return struct.pack("<IQQQ", 3, 0, 1, 1 << 62)


def huge_list() -> bytes:
    key = struct.pack("<Q", 1) + b"k"
    return struct.pack("<IQQ", 3, 0, 1) + key + struct.pack("<IIQ", 9, 0, 1 << 62)


def many_empty_texts() -> bytes:
    key = struct.pack("<Q", 1) + b"k"
    return struct.pack("<IQQ", 3, 0, 1) + key + struct.pack("<IIQ", 9, 8, 1 << 62)


def lists_in_lists() -> bytes:
    key = struct.pack("<Q", 1) + b"k"
    return struct.pack("<IQQ", 3, 0, 1) + key + struct.pack("<IIQ", 9, 9, 1 << 62)


def many_keys() -> bytes:
    return struct.pack("<IQQ", 3, 0, 1 << 62)


@pytest.mark.parametrize(
    "trap", [huge_text, huge_list, many_empty_texts, lists_in_lists, many_keys]
)
def test_numbers_that_lie_cost_nothing(
    trap: Callable[[], bytes], tmp_path: Path
) -> None:
    path = tmp_path / "trap.gguf"
    path.write_bytes(b"GGUF" + trap() + b"\0" * 4096)

    with pytest.raises(BadGguf):
        read_head(path)


@given(st.binary(max_size=200))
def test_no_content_raises_anything_else(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.gguf"
    path.write_bytes(b"GGUF\x03\0\0\0" + content)

    with pytest.raises(BadGguf):
        read_head(path)
