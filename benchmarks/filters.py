#!/usr/bin/env python3
"""Compare what a search costs with each kind of filter and without.

    benchmarks/filters.py [--passages 100000] [--questions 40] [--vectors]

Notes are generated, in folders, dated by their names, half of them with front matter. In one
running process each question is asked without a filter and with each, in turn; printed
are milliseconds, median and quartiles, and how many times as long as without a filter it
took: the median of the ratios. `narrow` filters leave about a hundredth of the notes or less, `wide`
ones half or more. With --vectors the static ones are made and searched, too.

The notes and the index stay in the system's temporary folder from run to run.
"""

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from datetime import date
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[1] / "src"), str(HERE.parent)]

import corpus

from notewell import open_memory_sync, read_filter

_NOTE_BYTES = 8_000
_PASSAGES_PER_NOTE = 7
_TODAY = date(2026, 12, 1)

FILTERS: Mapping[str, Mapping[str, object]] = {
    "narrow: path": {"path": "memory/003/2008-0[45]-*"},
    "narrow: days": {"since": "2001-03", "until": "2001-04"},
    "narrow: tag": {"tag": "rare"},
    "narrow: where": {"where": {"number": 70}},
    "narrow: phrase": {"phrase": "note 77"},
    "no note": {"path": "nowhere"},
    "wide: path": {"path": "memory/**"},
    "wide: exclude": {"exclude": "002"},
    "wide: days": {"since": "2005"},
    "wide: tag": {"tag": "common"},
    "wide: where": {"where": {"status": "open"}},
    "wide: without": {"without": "note 77"},
}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--vectors", action="store_true")
    given = parser.parse_args()
    folder = Path(tempfile.gettempdir()) / f"notewell-filters-{given.passages}"
    write_notes(folder / "notes", given.passages // _PASSAGES_PER_NOTE)
    provider = "static" if given.vectors else "none"
    with open_memory_sync(
        workspace=folder / "notes",
        environ={**os.environ, "OPENCLAW_STATE_DIR": str(folder / f"state-{provider}")},
        overrides={"agents.defaults.memorySearch.provider": provider},
    ) as memory:
        report = memory.refresh()
        print(f"{report.files:,} notes, {report.chunks:,} passages, {provider} vectors")
        chosen = {
            "no filter": None,
            **{name: read_filter(said, _TODAY) for name, said in FILTERS.items()},
        }
        times: dict[str, list[float]] = {name: [] for name in chosen}
        hits: dict[str, int] = dict.fromkeys(chosen, 0)
        for question in questions(given.questions):
            for name, one in chosen.items():
                started = time.perf_counter()
                answer = memory.search(question, filter=one)
                times[name].append((time.perf_counter() - started) * 1000)
                hits[name] += len(answer.results)
        show(times, hits)
    return 0


def questions(count: int) -> list[str]:
    """Return questions of one to four words, as common as the words of the notes."""
    vocabulary, source = corpus.Vocabulary(), random.Random(corpus.SEED)
    asked = [
        " ".join(vocabulary.draw(source, source.randint(1, 4))) for _ in range(count)
    ]
    return [asked[0], *asked]  # the first one opens the index


def show(times: Mapping[str, list[float]], hits: Mapping[str, int]) -> None:
    """Print a line for each filter; the first answers are left out."""
    plain = times["no filter"][1:]
    for name, taken in times.items():
        low, middle, high = statistics.quantiles(taken[1:], n=4)
        ratio = statistics.median(
            one / other for one, other in zip(taken[1:], plain, strict=True)
        )
        print(
            f"{name:16} {middle:8.1f} ms  ({low:.1f} to {high:.1f})"
            f"  x {ratio:.2f}  {hits[name]} hits"
        )


def write_notes(root: Path, count: int) -> None:
    """Write so many notes, unless they stand there already."""
    stamp = root / ".complete"
    if stamp.exists():
        return
    vocabulary = corpus.Vocabulary()
    for number, path in enumerate(corpus.paths(count)):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        text = corpus.note(number, _NOTE_BYTES, vocabulary)
        if number % 2:
            rare = ", rare" if number % 201 == 1 else ""
            text = (
                f"---\nstatus: {'open' if number % 8 > 1 else 'done'}\n"
                f"number: {number % 200 - 1}\ntags: [common{rare}]\n---\n{text}"
            )
        file.write_text(text, encoding="utf-8")
    stamp.write_text("", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
