"""The provider `static`: a vector for every piece of a word, and their mean for a text.

The pieces and their vectors are those of WordLlama, a package that carries them, so
that nothing is fetched. Its two files are read here and the package is not imported:
it would load numpy, a tokenizer and a validator, and set up the logging of the
process. A query needs none of them: the vocabulary is parsed, a few rows are read
from the mapped table, and that takes some milliseconds. Texts are cut into pieces as
byte pair encoding does (Sennrich, Haddow and Birch, 2016, arXiv:1508.07909).
"""

from __future__ import annotations

import json
import mmap
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from heapq import heappop, heappush
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

import msgspec

from notewell.adapters.embeddings.base import EmbeddingIdentity, Provider, Role
from notewell.adapters.embeddings.local.disk import checksum
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from notewell.adapters.embeddings.base import EmbeddingSettings, Matrix

NAME: Final = "static"

PACKAGE: Final = "wordllama"

VERSION: Final = "0.4.0.post1"
"""The release whose files are read; pyproject.toml asks for no other."""

MODEL: Final = f"{PACKAGE}-{VERSION}"

DIMENSION: Final = 256

_VOCABULARY: Final = "tokenizers/l2_supercat_tokenizer_config.json"

_TABLE: Final = "weights/l2_supercat_256.safetensors"

_PINNED: Final = f"{PACKAGE}=={VERSION}"

_BATCH: Final = 512

_LETTERS_A_PIECE: Final = 2.6

_LONG_ENOUGH: Final = 4
"""By these 16 of 21 nonsense queries were told from 190 in English, and none of those
taken for nonsense."""

_SPACE: Final = "▁"

_SPECIAL: Final = re.compile("(<unk>|<s>|</s>)")
"""Written in a text, they count as the marks that they are named for."""

_LETTERS: Final = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u04ff"

_OTHERS: Final = "\\0-\\t\\v-/:-@\\[-`{-\u00bf\u00d7\u00f7\u0250-\u036f\u0500-\u2580\u2582-\u2e7f\ufffd"
"""All but `_SPACE`, these letters and what stands alone: digits, line ends, and what follows
U+2E7F. Not written as its complement, which takes three times as long to compile."""

_WORDS: Final = f"{_SPACE}*[{_LETTERS}]+|{_SPACE}*[{_OTHERS}]+|{_SPACE}+|."
"""What is joined with nothing else: no piece has a space behind something else, none has Latin,
Greek or Cyrillic letters beside others, and none of several characters has a digit, a line end
or one of the scripts from U+2E80 on. So few words are new that a text is looked up."""

_MOST: Final = 1 << 16
"""More than there are pieces."""

_WORTH_REMEMBERING: Final = 32

_REMEMBERED: Final = 100_000


def provider(settings: EmbeddingSettings) -> Provider:
    """Describe the provider; nothing of it can be set."""
    return Provider(name=NAME, remote=False, host="", open=open_package, instant=True)


def spelled_like_words(words: Iterable[str]) -> bool:
    """Say whether one of some words is spelled like a word, not like keys hit at random.

    A word is made of one or two pieces, or of long ones: `zxqv` takes four. Without the
    package every word is taken for one.

    Args:
        words: In lower case, of Latin letters.
    """
    try:
        pieces = _pieces()
        return any(_is_word(word, len(pieces(word))) for word in words)
    except EmbeddingError:
        return True


def pieces_in(word: str) -> int:
    """Return how many pieces a word, in lower case, is made of; common words are one.

    Without the package it is not known, and that is 0.

    >>> pieces_in("glass"), pieces_in("gatway")
    (1, 2)
    """
    try:
        return len(_pieces()(word))
    except EmbeddingError:
        return 0


@lru_cache(maxsize=1)
def _pieces() -> Callable[[str], list[int]]:
    return open_package().pieces


def _is_word(word: str, pieces: int) -> bool:
    few = pieces == 1 or (pieces == 2 and len(word) >= _LONG_ENOUGH)
    return few or len(word) >= _LETTERS_A_PIECE * pieces


def open_package() -> StaticEmbedder:
    """Open the files of the package.

    Raises:
        EmbeddingError: the package is not installed, or has other files than expected.
    """
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        from notewell.installing import install_command  # rare

        raise EmbeddingError(
            NAME,
            f"the package {PACKAGE} is not installed",
            reason="model-missing",
            remedy=install_command(_PINNED),
        )
    folder = Path(found.origin).parent
    return StaticEmbedder(folder / _VOCABULARY, folder / _TABLE)


class StaticEmbedder:
    """Vectors that are means of others. Safe to share between threads."""

    batch_size = _BATCH
    model = MODEL

    def __init__(self, vocabulary: Path, table: Path) -> None:
        """Take the two files; they are read when the first text comes.

        Raises:
            EmbeddingError: one is missing, or the table is none of ours.
        """
        self._vocabulary = vocabulary
        self._lock = Lock()
        try:
            self._content = checksum([vocabulary, table])
            self._table = VectorTable(table)
        except (OSError, ValueError, KeyError, TypeError) as exc:
            raise _unusable(table, exc) from exc

    def identity(self) -> EmbeddingIdentity:
        """Return what the vectors depend on: the release, and the files as they are."""
        return EmbeddingIdentity(
            provider=NAME,
            model=f"{self.model}@{self._content}",
            endpoint="",
            dimension=DIMENSION,
            prefixes="",
        )

    def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        """Return one unit vector per text; see `Embedder.embed`.

        Raises:
            EmbeddingError: the vocabulary cannot be read.
        """
        import numpy as np

        sums = self._table.sums([self._tokenizer.pieces(text) for text in texts])
        with np.errstate(invalid="ignore"):  # nothing but nothing has no direction
            found: Matrix = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        return found

    def embed_question(self, text: str) -> bytes:
        """Return the unit vector of a query; see `EmbedsQuestions.embed_question`.

        Raises:
            EmbeddingError: the vocabulary cannot be read.
        """
        return self._table.mean(self._tokenizer.pieces(text))

    def pieces(self, text: str) -> list[int]:
        """Return the numbers of the pieces that a text is made of.

        Raises:
            EmbeddingError: the vocabulary cannot be read.
        """
        return self._tokenizer.pieces(text)

    def close(self) -> None:
        """Nothing is held but a map of a file, which goes with this object."""

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        with self._lock:
            try:
                return _tokenizer_of(self._vocabulary, self._table.rows)
            except (OSError, ValueError, msgspec.MsgspecError) as exc:
                raise _unusable(self._vocabulary, exc) from exc


class VectorTable:
    """The rows of a file in the format safetensors, float16, mapped into memory.

    Attributes:
        rows: How many there are.
    """

    def __init__(self, path: Path) -> None:
        """Map the file.

        Raises:
            OSError, ValueError, KeyError, TypeError: it is not such a file.
        """
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        length = int.from_bytes(self._map[:8], "little")
        entry = json.loads(self._map[8 : 8 + length])["embedding.weight"]
        self.rows: int = entry["shape"][0]
        self._start = 8 + length + int(entry["data_offsets"][0])
        end = self._start + self.rows * 2 * DIMENSION
        if entry["dtype"] != "F16" or entry["shape"][1] != DIMENSION:
            raise ValueError("its numbers are of another kind")
        if end > len(self._map):
            raise ValueError("it is cut off")

    def mean(self, rows: Sequence[int]) -> bytes:
        """Return the mean of rows at unit length; no bytes if it has no direction."""
        read = struct.Struct(f"<{DIMENSION}e").unpack_from
        sums = [0.0] * DIMENSION
        # Each row once: however long a text is, the vocabulary bounds time and memory.
        for row, count in Counter(rows).items():
            numbers = read(self._map, self._start + 2 * DIMENSION * row)
            sums = [a + count * b for a, b in zip(sums, numbers, strict=True)]
        norm = sqrt(sum(number * number for number in sums))
        if not norm:
            return b""
        return struct.pack(f"<{DIMENSION}f", *(number / norm for number in sums))

    def sums(self, groups: Sequence[Sequence[int]]) -> Matrix:
        """Return the sum of each group of rows; float32, shape (len(groups), 256)."""
        import numpy as np

        # One group at a time: the sum of a text must not depend on its neighbours.
        found = np.empty((len(groups), DIMENSION), dtype=np.float32)
        for place, group in enumerate(groups):
            np.add.reduce(self._array.take(group, axis=0), axis=0, out=found[place])
        return found

    @cached_property
    def _array(self) -> Matrix:
        """All rows as they are added: 32 MB, for those who embed passages."""
        import numpy as np

        count = self.rows * DIMENSION
        flat = np.frombuffer(self._map, "<f2", count=count, offset=self._start)
        return flat.astype(np.float32).reshape(self.rows, DIMENSION)


@lru_cache(maxsize=1)
def _tokenizer_of(path: Path, rows: int) -> Tokenizer:
    """Return the tokenizer of a vocabulary, which a process reads but once.

    Raises:
        OSError, ValueError, msgspec.MsgspecError: it cannot be read, or has not as many
            pieces as there are rows.
    """
    vocabulary = read_vocabulary(path)
    if len(vocabulary) != rows:
        raise ValueError("the two files do not belong together")
    return Tokenizer(vocabulary)


def read_vocabulary(path: Path) -> dict[str, int]:
    """Return the number of each piece, from a file of the package `tokenizers`.

    Raises:
        OSError: it cannot be read.
        msgspec.MsgspecError: it is no such file.
    """
    # Three times as quick as reading all of it: the list of merges is passed over.
    return msgspec.json.decode(path.read_bytes(), type=_File).model.vocab


class _Model(msgspec.Struct):
    vocab: dict[str, int]


class _File(msgspec.Struct):
    model: _Model


class Tokenizer:
    """Cuts texts into pieces, as byte pair encoding with this vocabulary does.

    Two neighbours are joined while there is a piece of both, the one with the lowest
    number first. A character that is no piece stands as the bytes of its UTF-8.
    """

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._number_of = vocabulary
        self._known: dict[str, tuple[int, ...]] = {}

    def pieces(self, text: str) -> list[int]:
        """Return the numbers of a text's pieces, in order.

        Half of a surrogate pair counts as a question mark.
        """
        sound = text.encode("utf-8", "replace").decode()
        found: list[int] = []
        for part in _SPECIAL.split(sound):
            if _SPECIAL.fullmatch(part):
                found.append(self._number_of[part])
            elif part:
                marked = _SPACE + part.replace(" ", _SPACE)
                for word in re.findall(_WORDS, marked, re.DOTALL):
                    found += self._known.get(word) or self._word(word)
        return found

    def _word(self, word: str) -> tuple[int, ...]:
        pieces = tuple(self._number_of[part] for part in self._joined(word))
        if len(word) <= _WORTH_REMEMBERING:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[word] = pieces
        return pieces

    def _joined(self, word: str) -> list[str]:
        """Return the pieces of a word.

        Time grows with the length times its logarithm: a word may be a whole line.
        """
        parts = [part for character in word for part in self._parts(character)]
        before = [*range(-1, len(parts) - 1)]
        after = [*range(1, len(parts)), -1]
        waiting: list[tuple[int, int]] = []

        def consider(left: int, right: int) -> None:
            if left >= 0 <= right and (rank := self._rank(parts[left], parts[right])):
                heappush(waiting, (rank, left))

        for left, right in enumerate(after):
            consider(left, right)
        while waiting:
            rank, left = heappop(waiting)
            right = after[left]
            if right < 0 or self._rank(parts[left], parts[right]) != rank:
                continue  # one of the two has been joined with another meanwhile
            parts[left] += parts[right]
            parts[right], after[left] = "", after[right]
            before[after[right]] = left  # behind the last stands none that looks
            after[right] = -1
            consider(before[left], left)
            consider(left, after[left])
        return [part for part in parts if part]

    def _parts(self, character: str) -> Sequence[str]:
        if character in self._number_of:
            return character
        return [f"<0x{byte:02X}>" for byte in character.encode()]

    def _rank(self, left: str, right: str) -> int:
        """Return when two neighbours are joined, the lowest first; 0: never."""
        both = self._number_of.get(left + right)
        if both is None:
            return 0
        if not right.strip(_SPACE):  # runs of spaces come last
            both += _MOST
        return both * _MOST + self._number_of[left]


def _unusable(path: Path, exc: Exception) -> EmbeddingError:
    from notewell.installing import install_command  # rare

    why = (exc.strerror if isinstance(exc, OSError) else None) or "it cannot be read"
    return EmbeddingError(
        NAME,
        f"{path} cannot be used: {why}",
        reason="corrupt",
        remedy=f"install it again: {install_command(_PINNED, again=True)}",
    )
