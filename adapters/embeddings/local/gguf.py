"""Reads the head of a GGUF file: what a model is, without loading it.

The format: magic, version, two counts, then keys with typed values, little-endian.
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

Value: TypeAlias = int | float | bool | str
"""A value of the head; lists (the vocabulary) are passed over."""

# The longest head that is read; the largest vocabularies take a third of it.
_LIMIT: Final = 48 << 20
_KEYS: Final = 4096
_ITEMS: Final = 1 << 21
_TEXT: Final = 1 << 16
_BLOCK: Final = 1 << 20

# Value types by their number, as `struct` spells them.
_SCALARS: Final = "BbHhIif?__Qqd"
_STRING: Final = 8
_LIST: Final = 9
_POOLINGS: Final = ("none", "mean", "cls", "last", "rank")


class BadGguf(ValueError):
    """The file has no sound GGUF head; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufHead:
    """What the head says of a model.

    Attributes:
        architecture: The family in llama.cpp's words: `bert`, `qwen3`.
        name: What its maker calls it; empty if nobody said.
        dimension: Numbers in a vector.
        context: Tokens that it was trained to read at once.
        pooling: How the vectors of tokens become one (`mean`, `cls`, `last`, `none`,
            or `rank` for one that scores pairs); None if the head does not say.
        causal: Whether a token sees only those before it, as in models that write.
        file_type: llama.cpp's number of the quantisation, None if it is not said.
    """

    architecture: str
    name: str
    dimension: int
    context: int
    pooling: str | None
    causal: bool
    file_type: int | None


def read_head(path: Path) -> GgufHead:
    """Read the head of a file, and no more of it.

    Raises:
        BadGguf: it is no GGUF file, or it ends too early.
        OSError: it cannot be read.
    """
    with open(path, "rb") as file:
        found = _Cursor(file).keys()
    architecture = _text(found, "general.architecture")
    dimension = _size(found, f"{architecture}.embedding_length")
    context = _size(found, f"{architecture}.context_length")
    if not (architecture and dimension and context):
        raise BadGguf("its head does not say what model it holds")
    pooling = found.get(f"{architecture}.pooling_type")
    known = isinstance(pooling, int) and 0 <= pooling < len(_POOLINGS)
    kind = found.get("general.file_type")
    return GgufHead(
        architecture=architecture,
        name=_text(found, "general.name"),
        dimension=dimension,
        context=context,
        pooling=_POOLINGS[int(pooling)] if known and pooling is not None else None,
        causal=found.get(f"{architecture}.attention.causal", True) is not False,
        file_type=kind if isinstance(kind, int) else None,
    )


def _text(found: dict[str, Value], key: str) -> str:
    value = found.get(key)
    return value if isinstance(value, str) else ""


def _tells_all(found: dict[str, Value]) -> bool:
    name = found.get("general.architecture")
    asked = ("embedding_length", "context_length", "pooling_type")
    return all(f"{name}.{key}" in found for key in asked)


def _size(found: dict[str, Value], key: str) -> int:
    value = found.get(key)
    return value if isinstance(value, int) and 0 < value < 1 << 24 else 0


class _Cursor:
    """Walks through the head; every step is checked against what may be there."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._left = _LIMIT

    def keys(self) -> dict[str, Value]:
        """Return the keys that have a single value, as far as anybody asks for them."""
        if self._take(4) != b"GGUF":
            raise BadGguf("it is no GGUF file")
        version = self._number("I")
        if version not in (2, 3):
            raise BadGguf(f"it is GGUF of version {version}; 2 and 3 are known")
        self._number("Q")  # how many tensors
        count = self._number("Q")
        if count > _KEYS:
            raise BadGguf("its head is longer than that of any model")
        found: dict[str, Value] = {}
        for _ in range(count):
            key = self._string()
            if key.startswith("tokenizer.") and _tells_all(found):
                break  # the vocabulary follows, which takes a second to walk through
            value = self._value(self._number("I"))
            if value is not None:
                found[key] = value
        return found

    def _value(self, kind: int) -> Value | None:
        """Read one value; None for a list, which is passed over."""
        if kind == _STRING:
            return self._string()
        if kind == _LIST:
            self._pass_list(self._number("I"), self._number("Q"))
            return None
        return self._scalar(kind)

    def _scalar(self, kind: int) -> Value:
        layout = _layout(kind)
        [value] = struct.unpack(layout, self._take(struct.calcsize(layout)))
        assert isinstance(value, int | float)
        return value

    def _pass_list(self, kind: int, count: int) -> None:
        if kind != _STRING:
            self._pass(struct.calcsize(_layout(kind)) * count)
            return
        if count > _ITEMS:
            raise BadGguf("its head is longer than that of any model")
        for _ in range(count):
            self._pass(self._number("Q"))

    def _string(self) -> str:
        length = self._number("Q")
        if length <= _TEXT:
            return self._take(length).decode("utf-8", "replace")
        self._pass(length)  # a chat template can be long; nobody asks for it
        return ""

    def _number(self, layout: str) -> int:
        [value] = struct.unpack(f"<{layout}", self._take(struct.calcsize(layout)))
        return int(value)

    def _take(self, size: int) -> bytes:
        self._spend(size)
        taken = self._file.read(size)
        if len(taken) < size:
            raise BadGguf("it ends in the middle of its head")
        return taken

    def _pass(self, size: int) -> None:
        # Read and not skipped by seek, which would not notice the end of the file.
        while size > _BLOCK:
            self._take(_BLOCK)
            size -= _BLOCK
        self._take(size)

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise BadGguf("its head is longer than that of any model")


def _layout(kind: int) -> str:
    layout = _SCALARS[kind] if kind < len(_SCALARS) else "_"
    if layout == "_":
        raise BadGguf(f"a value in its head has the unknown type {kind}")
    return f"<{layout}"
