"""What tells a model's file from any other, without reading all of it."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_SAMPLES: Final = 16
_SAMPLE: Final = 4096


def fingerprint(files: Iterable[Path]) -> str:
    """Return a digest of the content of files, whatever they are called.

    Of each its size, its beginning and blocks spread over the rest are read: two
    models of one size differ nearly everywhere.

    Raises:
        OSError: one cannot be read.
    """
    digest = hashlib.sha256()
    for path in files:
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            digest.update(b"%d:" % size)
            for number in range(_SAMPLES):
                file.seek(max(0, size - _SAMPLE) * number // (_SAMPLES - 1))
                digest.update(file.read(_SAMPLE))
    return digest.hexdigest()[:16]
