#!/usr/bin/env python3
"""Time every way of searching vectors beside a matrix product, in one run.

    benchmarks/vectors.py [INDEX ...] [--vectors 10000 --vectors 100000] [--dimension 768]

The INDEX files are notewell's own, with vectors of real text (see quality.py --state),
or float32 matrices as numpy keeps them (.npy); without any, random ones stand for them. More vectors are sampled around these: a real one
plus noise of its own length times --noise. Questions are real vectors that are left out,
with noise too; with --noise 0 only real vectors are searched, and --questions names real
questions, as a matrix.

For each number of vectors: CPU milliseconds of a search in a process that stays, by
sqlite-vec, by blocks of codes in the process, and by comparing all vectors there; of
numpy's exact product over the same matrix as float32; of the first question of a new
process, imports included; what one new vector costs to write; the size of the index; and
the share of the exact ten nearest, by float32, that is found.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

import numpy as np

from notewell.adapters.embeddings.base import EmbeddingIdentity
from notewell.backends.builtin.index_file import index_bytes
from notewell.backends.builtin.schema import SCHEMA_VERSION, Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.maintenance import (
    EmbeddedText,
    put_embedded,
    settle,
)
from notewell.backends.builtin.vectors.nearest import NearestNeighbours, VectorSearch
from notewell.backends.builtin.vectors.sets import all_sets, ensure_set
from notewell.config import VectorSettings

QUESTIONS = 50
TOP = 10
NEAR = 40
_BLOCK = 10_000
_MOST_COMPARED = 100_000
"""Vectors up to which all of them are compared, too: that takes a while."""

_T = TypeVar("_T")
Floats = np.ndarray[tuple[int, int], np.dtype[np.float32]]

IN_DATABASE = VectorSettings()
IN_PROCESS = VectorSettings(enabled=False)

FIRST = """
import time
began = time.process_time()
import sys
from pathlib import Path
from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.nearest import NearestNeighbours
from notewell.backends.builtin.vectors.sets import all_sets
from notewell.config import VectorSettings
question = Path(sys.argv[2]).read_bytes()
loaded = time.process_time()
store = Store.reader(Path(sys.argv[1]))
[(_, kept)] = all_sets(store)
ways = NearestNeighbours(VectorSettings(enabled=sys.argv[3] == "True"))
search = ways.search(store, Generation(1), kept, question)
assert search.nearest(40, lambda path: True)
print((time.process_time() - loaded) * 1e3, (loaded - began) * 1e3)
"""


def main() -> int:
    """Measure every size that is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("index", type=Path, nargs="*")
    parser.add_argument("--vectors", type=int, action="append")
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--noise", type=float, default=0.9)
    parser.add_argument("--questions", type=Path)
    given = parser.parse_args()
    if given.index:
        real = np.concatenate([vectors_of(path) for path in given.index])
        print(f"{len(real):,} real vectors of {real.shape[1]} numbers")
    else:
        real = unlike_any(5_000, given.dimension)
        print(f"random vectors of {real.shape[1]} numbers")
    real_asked = vectors_of(given.questions) if given.questions else None
    for count in given.vectors or [len(real)]:
        measure(real, count, given.noise, real_asked)
    return 0


def vectors_of(path: Path) -> Floats:
    """Return the vectors that an index holds, or a matrix."""
    if path.suffix == ".npy":
        return unit(np.load(path).astype(np.float32))
    with closing(Store.reader(path)) as store:
        rows = [
            row[0]
            for _, kept in all_sets(store)
            for row in store.rows(f"select vector from {kept.vectors} order by id")
        ]
    numbers = np.frombuffer(b"".join(rows), dtype=np.int8).reshape(len(rows), -1)
    return unit(numbers.astype(np.float32))


def unlike_any(count: int, width: int) -> Floats:
    """Return random vectors of which some directions tell more, as those of models."""
    chance = np.random.default_rng(count)
    spread = 1 / np.sqrt(1 + np.arange(width, dtype=np.float32) / (width / 13))
    turn, _ = np.linalg.qr(chance.standard_normal((width, width)))
    drawn = chance.standard_normal((count, width), dtype=np.float32) * spread
    return unit((drawn @ turn).astype(np.float32))


def unit(rows: Floats) -> Floats:
    """Return the rows with length 1."""
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def measure(real: Floats, count: int, noise: float, real_asked: Floats | None) -> None:
    """Fill an index with that many vectors and put questions to it."""
    chance = np.random.default_rng(count)
    order = chance.permutation(len(real))
    asked = sampled(real[order[:QUESTIONS]], QUESTIONS, noise, chance)
    around = real[order[QUESTIONS:]]
    if real_asked is not None:
        some = chance.permutation(len(real_asked))[:QUESTIONS]
        asked, around = real_asked[some], real
    with tempfile.TemporaryDirectory() as folder:
        plain, other = Path(folder) / "plain.sqlite", Path(folder) / "other.sqlite"
        matrix = fill(plain, around, count, noise, chance)
        print(f"{len(matrix):,} vectors of {matrix.shape[1]} numbers, CPU ms:")
        products = [timed(lambda q=q: matrix @ q)[1] for q in asked]
        product = statistics.median(products)
        print(f"  exact product         {product:8.1f}")
        best = [nearest_of(matrix @ q) for q in asked]
        for name, settings, coded in (
            ("sqlite-vec", IN_DATABASE, True),
            ("blocks, in process", IN_PROCESS, True),
            ("all, in process", IN_PROCESS, False),
        ):
            if coded or count <= _MOST_COMPARED:
                shutil.copy(plain, other)
                if coded:
                    write(other, settings)
                report(
                    name, other, settings, asked if coded else asked[:5], best, product
                )


def nearest_of(cosines: Floats) -> set[int]:
    """Return the passages of the nearest vectors, and of all as near as the last."""
    last = np.partition(cosines, -TOP)[-TOP]
    return set((np.flatnonzero(cosines >= last - 1e-6) + 1).tolist())


def write(path: Path, settings: VectorSettings) -> None:
    """Make the codes of an index."""
    with closing(Store.writer(path)) as store:
        [(_, kept)] = all_sets(store)
        settle(store, Generation(1), kept, settings)
        store.connection.execute("pragma wal_checkpoint(truncate)")


def report(
    name: str,
    path: Path,
    settings: VectorSettings,
    asked: Floats,
    best: list[set[int]],
    product: float,
) -> None:
    """Print what one way costs, and what it finds."""
    times: list[float] = []
    found: list[float] = []
    ways = NearestNeighbours(settings, stays=True)
    with closing(Store.reader(path)) as store:
        [(_, kept)] = all_sets(store)

        def search(question: Floats) -> VectorSearch:
            return ways.search(store, Generation(1), kept, question.tobytes())

        search(asked[0]).nearest(NEAR, lambda path: True)
        for question, exact in zip(asked, best, strict=False):
            near, spent = timed(
                lambda q=question: search(q).nearest(NEAR, lambda path: True)
            )
            times.append(spent)
            found.append(len(exact & {one.chunk for one in near[:TOP]}) / TOP)
    warm = statistics.median(times)
    first, imports = first_question(path, settings, asked)
    print(
        f"  {name:<21} {warm:8.1f} ({warm / product:.2f} x), recall@{TOP}"
        f" {statistics.mean(found):.4f}; first question {first:.1f} + {imports:.1f}"
        f" imports; index {index_bytes(path) / 1e6:,.0f} MB"
    )
    if len(asked) == QUESTIONS:
        log, spent = one_more(path, settings, asked[0])
        print(f"    one more vector: {log / 1e3:.0f} KB of log, {spent:.0f} ms")


def first_question(
    path: Path, settings: VectorSettings, asked: Floats
) -> tuple[float, float]:
    """Return the CPU milliseconds of a new process, and those of its imports."""
    spent: list[tuple[float, float]] = []
    question = path.with_name("question")
    for one in asked[:5]:
        question.write_bytes(one.tobytes())
        done = subprocess.run(
            [sys.executable, "-c", FIRST, path, question, str(settings.enabled)],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        search, imports = map(float, done.stdout.split())
        spent.append((search, imports))
    return (
        statistics.median(search for search, _ in spent),
        statistics.median(imports for _, imports in spent),
    )


def one_more(path: Path, settings: VectorSettings, vector: Floats) -> tuple[int, float]:
    """Write one more vector; return the bytes of the log, and CPU milliseconds."""
    with closing(Store.writer(path)) as store:
        [(_, kept)] = all_sets(store)
        digest = b"one more vector."
        add_chunks(store, Generation(1), {10**9: digest})
        store.connection.execute("pragma wal_checkpoint(truncate)")

        def write() -> None:
            put_embedded(store, kept, [EmbeddedText(digest, vector[None])])
            settle(store, Generation(1), kept, settings)

        _, spent = timed(write)
        return os.path.getsize(f"{path}-wal"), spent


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
    path: Path, real: Floats, count: int, noise: float, chance: np.random.Generator
) -> Floats:
    """Write an index with vectors, each of a passage, and nothing else; return them."""
    if noise == 0:
        count = min(count, len(real))
    matrix = np.empty((count, real.shape[1]), dtype=np.float32)
    tables = Generation(1)
    identity = EmbeddingIdentity(
        provider="sampled", model="", endpoint="", dimension=real.shape[1], prefixes=""
    )
    with closing(Store.writer(path)) as store:
        store.connection.execute(tables.create())
        for key, value in (("schema", SCHEMA_VERSION), ("live", 1)):
            store.put(key, value)
        store.put("passages", count)
        kept = ensure_set(store, identity, "")
        for start in range(0, count, _BLOCK):
            size = min(_BLOCK, count - start)
            block = (
                sampled(real, size, noise, chance)
                if noise
                else real[start : start + size]
            )
            matrix[start : start + len(block)] = block
            numbers = range(start + 1, start + len(block) + 1)
            digests = {number: number.to_bytes(16, "big") for number in numbers}
            made = zip(digests.values(), block, strict=True)
            put_embedded(
                store, kept, [EmbeddedText(key, row[None]) for key, row in made]
            )
            add_chunks(store, tables, digests)
        store.connection.execute("pragma wal_checkpoint(truncate)")
    return matrix


def add_chunks(store: Store, tables: Generation, digests: dict[int, bytes]) -> None:
    """Write a chunk for each vector, so that it is in use."""
    with store.connection:
        store.connection.execute(
            f"insert or ignore into {tables.files} values (1, 'a.md', 0, 0, 0, x'', null)"
        )
        store.connection.executemany(
            f"insert into {tables.chunks}"
            " values (?, 1, 1, 1, 0, '', 1, ?, 'a passage of some words')",
            digests.items(),
        )


def timed(work: Callable[[], _T]) -> tuple[_T, float]:
    """Return what a piece of work gives, and its CPU milliseconds."""
    began = time.process_time()
    result = work()
    return result, (time.process_time() - began) * 1e3


if __name__ == "__main__":
    raise SystemExit(main())
