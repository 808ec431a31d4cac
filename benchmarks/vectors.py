#!/usr/bin/env python3
"""Time the search of vectors against a matrix product, and measure what it misses.

    benchmarks/vectors.py INDEX [INDEX ...] [--passages 100000 --passages 1000000]

The INDEX files are notewell's own, with vectors of real text (see quality.py --state).
More vectors are sampled around these: a real one plus noise of its own length times
--noise. Questions are real vectors of passages that are left out, with noise too. One run
gives the time of a search, the time of numpy's exact product over the same matrix, their
ratio, and the share of the exact ten nearest that the search finds.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import numpy as np

from notewell.adapters.embeddings.base import EmbeddingIdentity
from notewell.backends.builtin.schema import SCHEMA_VERSION, Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.blocks import HeldCodes
from notewell.backends.builtin.vectors.keeping import put, settle
from notewell.backends.builtin.vectors.nearest import Vectors
from notewell.backends.builtin.vectors.tables import VectorSet, all_sets, ensure_set

QUESTIONS = 50
TOP = 10
_BLOCK = 10_000

_T = TypeVar("_T")
Floats = np.ndarray[tuple[int, int], np.dtype[np.float32]]


def main() -> int:
    """Measure every size that is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("index", type=Path, nargs="+")
    parser.add_argument("--passages", type=int, action="append")
    parser.add_argument("--noise", type=float, default=0.9)
    given = parser.parse_args()
    real = np.concatenate([vectors_of(path) for path in given.index])
    print(f"{len(real):,} real vectors of {real.shape[1]} numbers")
    for passages in given.passages or [100_000]:
        measure(real, passages, given.noise)
    return 0


def vectors_of(path: Path) -> Floats:
    """Return the vectors that an index holds."""
    with closing(Store.reader(path)) as store:
        rows = [
            row[0]
            for _, kept in all_sets(store)
            for row in store.rows(f"select vector from {kept.vectors} order by id")
        ]
    return np.frombuffer(b"".join(rows), dtype="<f4").reshape(len(rows), -1)


def measure(real: Floats, passages: int, noise: float) -> None:
    """Fill an index with that many vectors and put questions to it."""
    chance = np.random.default_rng(passages)
    order = chance.permutation(len(real))
    asked = sampled(real[order[:QUESTIONS]], QUESTIONS, noise, chance)
    around = real[order[QUESTIONS:]]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.sqlite"
        began = time.perf_counter()
        matrix = fill(path, around, passages, noise, chance)
        built = time.perf_counter() - began
        with closing(Store.reader(path)) as store:
            [(_, kept)] = all_sets(store)
            report(store, kept, matrix, asked)
        print(f"  filled in {built:.0f} s, {os.path.getsize(path) / 1e6:,.0f} MB")


def sampled(
    real: Floats, count: int, noise: float, chance: np.random.Generator
) -> Floats:
    """Return unit vectors around real ones."""
    width = real.shape[1]
    picked = real[chance.integers(0, len(real), count)]
    strange = chance.standard_normal((count, width), dtype=np.float32)
    moved = picked + strange * np.float32(noise / np.sqrt(width))
    return moved / np.linalg.norm(moved, axis=1, keepdims=True)


def fill(
    path: Path, real: Floats, passages: int, noise: float, chance: np.random.Generator
) -> Floats:
    """Write an index with vectors and nothing else; return them."""
    matrix = np.empty((passages, real.shape[1]), dtype=np.float32)
    tables = Generation(1)
    identity = EmbeddingIdentity(
        provider="sampled", model="", endpoint="", dimension=real.shape[1], prefixes=""
    )
    with closing(Store.writer(path)) as store:
        store.connection.execute(tables.create())
        for key, value in (("schema", SCHEMA_VERSION), ("live", 1)):
            store.put(key, value)
        store.put("passages", passages)
        kept = ensure_set(store, identity)
        for start in range(0, passages, _BLOCK):
            block = sampled(real, min(_BLOCK, passages - start), noise, chance)
            matrix[start : start + len(block)] = block
            numbers = range(start + 1, start + len(block) + 1)
            digests = [number.to_bytes(16, "big") for number in numbers]
            put(store, kept, digests, block)
            add_chunks(store, tables, digests)
        settle(store, tables, kept)
    return matrix


def add_chunks(store: Store, tables: Generation, digests: list[bytes]) -> None:
    """Write a chunk for each vector, so that it is in use."""
    with store.connection:
        store.connection.execute(
            f"insert or ignore into {tables.files} values (1, 'a.md', 0, 0, 0, x'', null)"
        )
        store.connection.executemany(
            f"insert into {tables.chunks}"
            " values (?, 1, 1, 1, 0, '', 1, ?, 'a passage of some words')",
            ((int.from_bytes(digest, "big"), digest) for digest in digests),
        )


def report(store: Store, kept: VectorSet, matrix: Floats, asked: Floats) -> None:
    """Print the times and the recall."""
    searches: list[float] = []
    products: list[float] = []
    found: list[float] = []
    codes = HeldCodes()
    for question in asked:
        vectors = Vectors(store, Generation(1), kept, question[None], codes)
        near, seconds = timed(lambda v=vectors: v.nearest(40, lambda path: True))
        searches.append(seconds)
        exact, seconds = timed(lambda q=question: matrix @ q)
        products.append(seconds)
        best = set((np.argsort(-exact, kind="stable")[:TOP] + 1).tolist())
        found.append(len(best & {one.chunk for one in near[:TOP]}) / TOP)
    search, product = statistics.median(searches), statistics.median(products)
    print(
        f"{len(matrix):>9,} passages: search {search * 1e3:.1f} ms, product"
        f" {product * 1e3:.1f} ms, ratio {search / product:.2f};"
        f" recall@{TOP} {statistics.mean(found):.4f} (least {min(found):.1f})"
    )


def timed(work: Callable[[], _T]) -> tuple[_T, float]:
    """Return what a piece of work gives, and its seconds."""
    began = time.perf_counter()
    result = work()
    return result, time.perf_counter() - began


if __name__ == "__main__":
    raise SystemExit(main())
