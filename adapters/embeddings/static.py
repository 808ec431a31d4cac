"""The provider `static`: a vector for every piece of a word, and their mean for a text.

The pieces and their vectors are those of WordLlama, a package that carries them, so
that nothing is fetched. Its two files are read here and the package is not imported:
it would load numpy, a tokenizer and a validator, and set up the logging of the
process. A question needs none of them: the vocabulary is parsed, a few rows are read
from the mapped table, and that takes some milliseconds.
"""

from __future__ import annotations

import json
import mmap
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

import msgspec

from notewell.adapters.embeddings.base import EmbeddingIdentity, Provider, Role
from notewell.adapters.embeddings.fingerprint import checksum
from notewell.adapters.embeddings.tokenizer import Tokenizer, read_vocabulary
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from notewell.adapters.embeddings.base import Matrix
    from notewell.adapters.embeddings.request import Request

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
"""By these 16 of 21 nonsense questions were told from 190 in English, and none of those
taken for nonsense."""


def provider(request: Request) -> Provider:
    """Describe the provider for a request; nothing of it can be set."""
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
        raise EmbeddingError(
            NAME,
            f"the package {PACKAGE} is not installed",
            reason="model-missing",
            remedy=f"pip install {_PINNED}",
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
            self._table = Table(table)
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
        """Return the unit vector of a question; see `EmbedsQuestions.question`.

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


class Table:
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
        some = [read(self._map, self._start + 2 * DIMENSION * row) for row in rows]
        sums = [sum(column) for column in zip(*some, strict=True)]
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


def _unusable(path: Path, exc: Exception) -> EmbeddingError:
    why = (exc.strerror if isinstance(exc, OSError) else None) or "it cannot be read"
    return EmbeddingError(
        NAME,
        f"{path} cannot be used: {why}",
        reason="corrupt",
        remedy=f"install it again: pip install --force-reinstall {_PINNED}",
    )
