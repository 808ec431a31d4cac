"""What tells a model's file from any other, without reading all of it.

Of each file its size, its beginning and blocks spread over the rest are read: two
models of one size differ nearly everywhere.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final
from zlib import crc32

_SAMPLES: Final = 16
_SAMPLE: Final = 4096


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
