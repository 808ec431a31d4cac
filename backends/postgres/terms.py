"""How terms, weights, paths and texts are kept in rows.

A term is a key of 32 bits that hashes the space with it: one GIN index holds the terms of
all spaces, and the list of a key is that of one term of one space. Two terms of a space
that fall on one key are weighed by their texts afterwards, so that a wrong row costs time.
"""

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import NamedTuple

from notewell.files import writable_text

_FORGET_AT = 500_000
"""Keys that are remembered before all are forgotten: 50 MB."""


class TermKeys(dict[str, int]):
    """The key of every term of one space, worked out once."""

    def __init__(self, space: str) -> None:
        super().__init__()
        self._hash = blake2b(f"{space}\0".encode(), digest_size=4)

    def __missing__(self, term: str) -> int:
        hashed = self._hash.copy()
        hashed.update(term.encode("utf-8", "surrogatepass"))
        if len(self) >= _FORGET_AT:
            self.clear()
        key = self[term] = int.from_bytes(hashed.digest(), "big", signed=True)
        return key


class Weighed(NamedTuple):
    """The terms of a passage as a row has them: sorted keys, and a byte for each."""

    keys: list[int]
    impacts: bytes


def weighed(weights: Mapping[str, int], keys: Mapping[str, int]) -> Weighed:
    r"""Return the terms of a passage by their keys; of two on one the heavier counts.

    >>> weighed({"b": 5, "a": 300}, {"a": 2, "b": -1})
    Weighed(keys=[-1, 2], impacts=b'\x05\xff')
    """
    by_key: dict[int, int] = {}
    for term, weight in weights.items():
        key = keys[term]
        by_key[key] = max(by_key.get(key, 0), min(weight, 255))
    found = sorted(by_key)
    return Weighed(found, bytes([by_key[key] for key in found]))


def stored_path(path: str) -> bytes:
    """Return a path as bytes; a name on a disk need not be UTF-8."""
    return path.encode("utf-8", "surrogatepass")


def path_of(stored: bytes) -> str:
    """Return the path in a row.

    >>> path_of(stored_path("caf\\udce9.md")) == "caf\\udce9.md"
    True
    """
    return stored.decode("utf-8", "surrogatepass")


def storable(text: str) -> str:
    """Return a text that the server can hold: no NUL, no half of a pair."""
    return writable_text(text) if "\0" in text or not text.isascii() else text


def array(values: Iterable[int]) -> str:
    """Return an array of integers as the server reads it in a COPY."""
    return "{" + ",".join(map(str, values)) + "}"
