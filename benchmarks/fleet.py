"""Builtin and postgres beside each other: indexing, one changed note, searches, size.

    .venv/bin/python benchmarks/fleet.py FOLDER --notes 12500 --dsn 'host=… dbname=…'

Notes are those of `corpus.py`, of 16 KB, which make some eight passages each. Both
engines answer by words, with the same questions in turn, in this one process.
"""

import argparse
import random
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median

import corpus

from notewell import open_memory_sync
from notewell.memory import SyncMemory

_QUESTIONS = 60


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--notes", type=int, default=12_500)
    parser.add_argument("--dsn", help="unset: the private server")
    return parser.parse_args()


def opened(given: argparse.Namespace, backend: str, stack: ExitStack) -> SyncMemory:
    """Open one engine on the notes, with a state folder of its own."""
    config = given.folder / f"{backend}.json5"
    dsn = f'postgres: {{ dsn: "{given.dsn}", timeoutMs: 60000 }}' if given.dsn else ""
    config.write_text(
        f'{{ memory: {{ backend: "{backend}", {dsn} }}, agents: {{ defaults: {{'
        f' workspace: "{given.folder / "notes"}",'
        ' memorySearch: { provider: "none" } } } }',
        encoding="utf-8",
    )
    memory = open_memory_sync(
        config=config,
        environ={"OPENCLAW_STATE_DIR": str(given.folder / f"state-{backend}")},
    )
    return stack.enter_context(memory)


def seconds(call: Callable[[], object]) -> float:
    """Return the wall time of a call."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def questions(vocabulary: corpus.Vocabulary) -> list[str]:
    """Return questions of two to six words, common ones more often."""
    source = random.Random(7)
    return [
        " ".join(vocabulary.draw(source, source.randint(2, 6)))
        for _ in range(_QUESTIONS)
    ]


def main() -> None:
    """Measure, and print one line for each figure."""
    given = arguments()
    notes = given.folder / "notes"
    corpus.write_workspace(notes, files=given.notes, size=16_000)
    asked = questions(corpus.Vocabulary())
    with ExitStack() as stack:
        memories = {
            name: opened(given, name, stack) for name in ("builtin", "postgres")
        }
        for name, memory in memories.items():
            took = seconds(memory.refresh)
            status = memory.status().index
            rate = status.chunks / took
            print(
                f"{name}: indexed {status.chunks:,} passages in {took:.0f} s,", end=" "
            )
            print(f"{rate:,.0f} passages/s, {status.bytes / 1e6:,.0f} MB", flush=True)
            assert status.backend in (None, name), status.fallbacks
        times: dict[str, list[float]] = {name: [] for name in memories}
        for question in [*asked[:5], *asked]:
            for name, memory in memories.items():
                times[name].append(seconds(partial(memory.search, question)))
        for name, took_each in times.items():
            ordered = sorted(took_each[5:])
            print(
                f"{name}: warm search p50 {median(ordered) * 1e3:.1f} ms,"
                f" p90 {ordered[len(ordered) * 9 // 10] * 1e3:.1f} ms"
            )
        same = sum(
            [hit.citation for hit in memories["builtin"].search(question).results]
            == [hit.citation for hit in memories["postgres"].search(question).results]
            for question in asked
        )
        print(f"the same hits in the same order: {same} of {len(asked)} questions")
        changed = notes / next(corpus.paths(1))
        for name, memory in memories.items():
            changed.write_text(f"{time.time_ns()} marker\n", encoding="utf-8")
            took = seconds(memory.refresh)
            print(f"{name}: one changed note found and written in {took * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
