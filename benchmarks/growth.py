#!/usr/bin/env python3
"""Draw how searches slow down as the memory grows, ours and the floors.

    benchmarks/growth.py OUT.svg [--index FILE] [--sizes 1000 10000 100000]
        [--vector-sizes 1000 10000 100000 1000000] [--json OUT.json]

Words: `search` in a running process on generated notes, against a plain FTS5 table of
the same passages ordered by `bm25` (any of the words). Vectors: the nearest 40, against
numpy's exact product over the same matrix; they are sampled around those of --index
(a notewell index with real vectors), else around random ones. Ours and the floor take
turns within a run, and the median of each is drawn. A second pass, under the profiler,
says which phase takes the largest share at each size.

A size is in passages. The notes stay in the system's temporary folder from run to run;
a million passages are a gigabyte of notes and take a while to index.
"""

import argparse
import cProfile
import json
import os
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[1] / "src"), str(HERE.parent)]

import apsw
import chart
import corpus
import numpy as np
import vectors as sampling

from notewell import open_memory_sync
from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.maintenance import settle
from notewell.backends.builtin.vectors.nearest import NearestNeighbours
from notewell.backends.builtin.vectors.sets import all_sets
from notewell.config import VectorSettings

QUESTIONS = 40
_NOTE_BYTES = 8_000
_PASSAGES_PER_NOTE = 7
_NOISE = 0.9
_NEAR = 40
_HITS = 6

Phases = Mapping[str, tuple[str, str]]
WORD_PHASES: Phases = {
    "counting terms": ("lexical.py", "document_frequencies"),
    "FTS5": ("lexical.py", "keyword_candidates"),
    "weighing lines": ("scoring.py", "score"),
    "ranking and showing": ("search.py", "select"),
}
VECTOR_PHASES: Phases = {
    "how near the nearest codes are": ("sqlite_vec.py", "_bound"),
    "codes and candidates, in SQL": ("sqlite_vec.py", "_rated"),
    "the best, exactly": ("nearest.py", "cosines"),
    "paths of the nearest": ("nearest.py", "_visible"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What one size costs.

    Attributes:
        passages: How many there are.
        ours: Milliseconds, median.
        floor: Milliseconds, median.
        shares: Phases, with the share of our time that each takes.
    """

    passages: int
    ours: float
    floor: float
    shares: dict[str, float]


def main() -> int:
    """Measure each size, print a line for it, and draw."""
    given = arguments()
    words = [told("words", words_at(size)) for size in given.sizes]
    real = real_vectors(given.index)
    near = [told("vectors", vectors_at(real, size)) for size in given.vector_sizes]
    given.out.write_text(drawn(words, near), encoding="utf-8")
    if given.json:
        points = {"words": list(map(asdict, words)), "vectors": list(map(asdict, near))}
        given.json.write_text(json.dumps(points, indent=1) + "\n", encoding="utf-8")
    return 0


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    small = [1_000, 10_000, 100_000]
    parser.add_argument("out", type=Path)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--sizes", type=int, nargs="*", default=small)
    parser.add_argument(
        "--vector-sizes", type=int, nargs="*", default=[*small, 1_000_000]
    )
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def told(kind: str, point: Point) -> Point:
    """Print a point."""
    most = max(point.shares, key=lambda name: point.shares[name])
    print(
        f"{kind:8s}{point.passages:>10,} passages: {point.ours:8.2f} ms, floor"
        f" {point.floor:8.2f} ms, ratio {point.ours / point.floor:5.2f};"
        f" {most} {point.shares[most]:.0%}",
        flush=True,
    )
    return point


def words_at(size: int) -> Point:
    """Measure searches by words over about `size` passages."""
    notes = max(1, size // _PASSAGES_PER_NOTE)
    root = Path(tempfile.gettempdir()) / f"notewell-notes-{notes}-{_NOTE_BYTES}"
    corpus.write_workspace(root, files=notes, size=_NOTE_BYTES)
    source, vocabulary = random.Random(size), corpus.Vocabulary()
    questions = [vocabulary.draw(source, 5) for _ in range(QUESTIONS)]
    with tempfile.TemporaryDirectory() as state:
        environ = {**os.environ, "OPENCLAW_STATE_DIR": state}
        with open_memory_sync(workspace=root, environ=environ) as memory:
            report = memory.refresh()
            [index] = Path(state).glob("memory/*.sqlite")
            with plain_fts(index, Path(state) / "floor.sqlite") as floor:
                return measured(
                    report.chunks,
                    [
                        (
                            lambda q=words: memory.search(" ".join(q)),
                            lambda q=words: floor(q),
                        )
                        for words in questions
                    ],
                    WORD_PHASES,
                )


@contextmanager
def plain_fts(index: Path, file: Path) -> Generator[Callable[[list[str]], object]]:
    """Fill an FTS5 table with the passages of an index; give what searches it."""
    with closing(apsw.Connection(str(file))) as floor:
        floor.execute("create virtual table passages using fts5(text, content='')")
        floor.execute("attach ? as ours", (str(index),))
        number = floor.execute("select value from ours.nw_meta where key='live'").get
        with floor:
            floor.execute(
                "insert into passages(rowid, text)"
                f" select id, text from ours.{Generation(number).chunks}"
            )
        yield lambda words: floor.execute(
            "select rowid from passages where passages match ?"
            " order by bm25(passages) limit ?",
            (" OR ".join(f'"{word}"' for word in words), _HITS),
        ).fetchall()


def real_vectors(index: Path | None) -> sampling.Floats:
    """Return the vectors of an index, or random ones."""
    if index is not None:
        return sampling.vectors_of(index)
    chance = np.random.default_rng(corpus.SEED)
    some = chance.standard_normal((2_000, 384), dtype=np.float32)
    return some / np.linalg.norm(some, axis=1, keepdims=True)


def vectors_at(real: sampling.Floats, size: int) -> Point:
    """Measure searches by vectors over `size` passages."""
    chance = np.random.default_rng(size)
    asked = sampling.sampled(real, QUESTIONS, _NOISE, chance)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.sqlite"
        matrix = sampling.fill(path, real, size, _NOISE, chance)
        with closing(Store.writer(path)) as store:
            [(_, kept)] = all_sets(store)
            settle(store, Generation(1), kept, VectorSettings())
        with closing(Store.reader(path)) as store:
            ways = NearestNeighbours(VectorSettings())
            return measured(
                size,
                [
                    (
                        lambda q=question: ways.search(
                            store, Generation(1), kept, q.tobytes()
                        ).nearest(_NEAR, lambda path: True),
                        lambda q=question: matrix @ q,
                    )
                    for question in asked
                ],
                VECTOR_PHASES,
            )


def measured(
    passages: int,
    pairs: list[tuple[Callable[[], object], Callable[[], object]]],
    phases: Phases,
) -> Point:
    """Time ours and the floor in turn; then see where our time goes."""
    for warm_up in pairs[0]:
        warm_up()
    times = [(sampling.timed(a)[1], sampling.timed(b)[1]) for a, b in pairs]
    profile = cProfile.Profile()
    for ours, _ in pairs:
        profile.runcall(ours)
    return Point(
        passages=passages,
        ours=statistics.median(ours for ours, _ in times),
        floor=statistics.median(floor for _, floor in times),
        shares=shares_of(profile, phases),
    )


def shares_of(profile: cProfile.Profile, phases: Phases) -> dict[str, float]:
    """Return the share of each phase in all that was profiled, with what is called."""
    calls = [call for call in profile.getstats() if not isinstance(call.code, str)]
    spent = {
        name: sum(
            call.totaltime
            for call in calls
            if call.code.co_name == function
            and call.code.co_filename.endswith(f"/{file}")
        )
        for name, (file, function) in phases.items()
    }
    total = sum(call.inlinetime for call in profile.getstats())
    rest = max(0.0, total - sum(spent.values()))
    return {
        name: seconds / total
        for name, seconds in {**spent, "the rest": rest}.items()
        if seconds
    }


def drawn(words: list[Point], near: list[Point]) -> str:
    """Return the chart, with what dominates below it."""
    lines = [
        *curves("notewell, words", "plain FTS5, bm25", words, hue=0),
        *curves("notewell, vectors", "numpy, exact product", near, hue=1),
    ]
    notes = [
        f"{kind}, {point.passages:,}: " + ", ".join(parts(point.shares))
        for kind, points in (("words", words), ("vectors", near))
        for point in points
    ]
    return chart.svg("One search, by the size of the memory", lines, notes)


def curves(
    ours: str, floor: str, points: list[Point], *, hue: int
) -> Iterator[chart.Line]:
    """Yield our curve and that of the floor, if anything was measured."""
    if not points:
        return
    for name, dashed in ((ours, False), (floor, True)):
        places = [(one.passages, one.floor if dashed else one.ours) for one in points]
        yield chart.Line(name=name, points=places, floor=dashed, hue=hue)


def parts(shares: Mapping[str, float]) -> Iterator[str]:
    """Yield the largest shares in words."""
    for name, share in sorted(shares.items(), key=lambda item: -item[1])[:3]:
        if share >= 0.05:
            yield f"{name} {share:.0%}"


if __name__ == "__main__":
    raise SystemExit(main())
