"""Models on this disk: where they are, and what tells one from another.

A model's file is known by its size, its beginning and blocks spread over the rest: two
models of one size differ nearly everywhere. What libraries say while they load a model is
kept away from the person.
"""

import warnings
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr
from io import StringIO
from pathlib import Path
from threading import Lock
from typing import Final
from zlib import crc32

from notewell.values import dataclass

_SAMPLES: Final = 16

_SAMPLE: Final = 4096

_ONE: Final = Lock()  # stderr and the filters of warnings belong to the whole process


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOnDisk:
    """A model of a provider that runs on this machine.

    Attributes:
        model: Its name.
        path: Its file or folder; need not be there yet.
        licence: The page that says under which terms it may be used; None for a
            file that the person has named.
    """

    model: str
    path: Path
    licence: str | None

    @property
    def size(self) -> int:
        """Bytes on this disk; 0 if it is not there."""
        if self.path.is_dir():
            return sum(p.stat().st_size for p in self.path.rglob("*") if p.is_file())
        return self.path.stat().st_size if self.path.is_file() else 0


def fingerprint(files: Iterable[Path]) -> str:
    """Return a digest of the content of files, whatever they are called.

    Raises:
        OSError: one cannot be read.
    """
    from hashlib import sha256  # with OpenSSL, which takes 3 ms to load

    digest = sha256()
    for sample in _samples(files):
        digest.update(sample)
    return digest.hexdigest()[:16]


def checksum(files: Iterable[Path]) -> str:
    """Return a shorter one without OpenSSL, for files that hardly ever change.

    Raises:
        OSError: one cannot be read.
    """
    total = 0
    for sample in _samples(files):
        total = crc32(sample, total)
    return f"{total:08x}"


def _samples(files: Iterable[Path]) -> Iterator[bytes]:
    for path in files:
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            yield b"%d:" % size
            for number in range(_SAMPLES):
                file.seek(max(0, size - _SAMPLE) * number // (_SAMPLES - 1))
                yield file.read(_SAMPLE)


@contextmanager
def quiet() -> Generator[None]:
    """Drop Python's warnings and what is printed to `sys.stderr`, for one at a time.

    The descriptors 1 and 2 stay as they are: other threads may be answering.
    """
    with _ONE, redirect_stderr(StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
