#!/usr/bin/env python3
"""Measure the speed of notewell on generated notes, always against a peer or a floor.

    benchmarks/speed.py [--files 20000] [--size 2000] [--peer "qmd"] [--json FILE]

What is measured, each as a ratio within this run:

* indexing, in files a second, and with `--peer` the peer's `update` on the same files;
* a refresh with nothing changed, against walking and stat-ing the same tree;
* a refresh after one file changed, likewise;
* searches in a running process: eight rare words, eight drawn as they occur, one very
  common word, an identifier (milliseconds, median and 95th percentile);
* `notewell search` from the shell, with `--peer` against the peer's `search`;
* `import notewell`, against `import sqlite3, json, asyncio`;
* peak memory of indexing and of searching, in processes of their own.

The notes are kept in the system's temporary folder from run to run.
"""

import argparse
import json
import os
import random
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

HERE = Path(__file__).resolve()
SOURCE = str(HERE.parents[1] / "src")
sys.path[:0] = [SOURCE, str(HERE.parent)]

import corpus

from notewell import open_memory_sync

RUNS = 5


def main() -> int:
    """Run every measurement and print a line for each."""
    given = arguments()
    root = Path(tempfile.gettempdir()) / f"notewell-notes-{given.files}-{given.size}"
    corpus.write_workspace(root, files=given.files, size=given.size)
    figures: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as state:
        environ = {**os.environ, "OPENCLAW_STATE_DIR": state, "PYTHONPATH": SOURCE}
        environ.pop("PYTHONDONTWRITEBYTECODE", None)  # it would compile at every start
        for measure in (indexing, refreshing, searching, shell, importing):
            for name, value in measure(root, environ, given.peer).items():
                figures[name] = value
                print(f"{name:44s} {value}")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--size", type=int, default=2_000, help="bytes in a note")
    parser.add_argument("--peer", type=shlex.split, help="how to call qmd")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


Figures = dict[str, object]


def indexing(root: Path, environ: dict[str, str], peer: list[str] | None) -> Figures:
    """Build the index in a process of its own."""
    code = (
        "import sys, resource; from notewell import open_memory_sync\n"
        "with open_memory_sync(workspace=sys.argv[1]) as memory:\n"
        "    report = memory.refresh(force=True)\n"
        "print(report.files, report.chunks,"
        " resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    seconds, printed = timed([sys.executable, "-c", code, str(root)], environ)
    files, chunks, peak = map(int, printed.split())
    figures: Figures = {
        "index: files": files,
        "index: chunks": chunks,
        "index: files a second": round(files / seconds),
        "index: peak memory, MB": round(peak / 1024),
    }
    if peer:
        theirs = peer_home(root, environ)
        peer_seconds, _ = timed([*peer, "update"], theirs)
        figures["index: peer, files a second"] = round(files / peer_seconds)
        figures["index: times as fast as the peer"] = round(peer_seconds / seconds, 2)
    return figures


def refreshing(root: Path, environ: dict[str, str], peer: list[str] | None) -> Figures:
    """Refresh an index that agrees with the files, and one that lacks a note."""
    floor = fastest(lambda: walk(root))
    with open_memory_sync(workspace=root, environ=environ) as memory:
        memory.refresh()
        same = fastest(memory.refresh)
        note = root / next(corpus.paths(1))
        before = note.read_bytes()

        def after_a_change() -> None:
            note.write_bytes(before + str(time.time_ns()).encode())
            memory.refresh()

        one = fastest(after_a_change)
        note.write_bytes(before)
    return {
        "refresh: walk and stat, ms": round(floor * 1000),
        "refresh: nothing changed, ms": round(same * 1000),
        "refresh: nothing changed / walk": round(same / floor, 2),
        "refresh: one note changed, ms": round(one * 1000),
        "refresh: one note changed / walk": round(one / floor, 2),
    }


def searching(root: Path, environ: dict[str, str], peer: list[str] | None) -> Figures:
    """Search in a running process, with queries of several kinds."""
    source, vocabulary = random.Random(corpus.SEED), corpus.Vocabulary()
    kinds = {
        "eight rare words": [
            " ".join(source.sample(vocabulary.words[2_000:], 8)) for _ in range(40)
        ],
        "eight words as they occur": [
            " ".join(vocabulary.draw(source, 8)) for _ in range(40)
        ],
        "one very common word": vocabulary.words[:20],
        "an identifier": [f"TICKET-{number}3" for number in range(100, 140)],
    }
    figures: Figures = {}
    with open_memory_sync(workspace=root, environ=environ) as memory:
        memory.search("warm up")
        for name, queries in kinds.items():
            times = sorted(once(lambda q=query: memory.search(q)) for query in queries)
            late = times[int(len(times) * 0.95)]
            middle = statistics.median(times)
            figures[f"search: {name}, ms p50"] = round(middle * 1000, 1)
            figures[f"search: {name}, ms p95"] = round(late * 1000, 1)
    figures["search: peak memory of all this, MB"] = round(
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    )
    return figures


def shell(root: Path, environ: dict[str, str], peer: list[str] | None) -> Figures:
    """Search from the shell, cold but for the disk's cache, in turn with the peer."""
    query = corpus.Vocabulary().words[3_000]
    code = "from notewell.adapters.surfaces.cli import main; raise SystemExit(main())"
    ours = [
        sys.executable,
        "-c",
        code,
        "search",
        query,
        "--workspace",
        str(root),
        "--json",
    ]
    theirs = [*peer, "search", "--json", "--", query] if peer else None
    home = peer_home(root, environ) if peer else environ
    pairs = [
        (timed(ours, environ)[0], timed(theirs, home)[0] if theirs else 0.0)
        for _ in range(RUNS + 1)
    ][1:]
    figures: Figures = {"shell: search, ms": round(median(pairs, 0) * 1000)}
    if theirs:
        figures["shell: peer's search, ms"] = round(median(pairs, 1) * 1000)
        ratio = statistics.median(a / b for a, b in pairs)
        figures["shell: search / peer's search"] = round(ratio, 2)
    return figures


def importing(root: Path, environ: dict[str, str], peer: list[str] | None) -> Figures:
    """Import notewell in a fresh interpreter, in turn with the floor."""
    ours, floor = "import notewell", "import sqlite3, json, asyncio"
    pairs = [
        tuple(timed([sys.executable, "-c", code], environ)[0] for code in (ours, floor))
        for _ in range(RUNS * 3)
    ]
    return {
        "import: notewell, ms": round(median(pairs, 0) * 1000),
        "import: sqlite3, json, asyncio, ms": round(median(pairs, 1) * 1000),
        "import: ratio": round(statistics.median(a / b for a, b in pairs), 2),
    }


def walk(root: Path) -> int:
    """Walk and stat a tree with nothing else: the floor of a refresh."""
    count, folders = 0, [str(root)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    count += 1
    return count


def peer_home(root: Path, environ: dict[str, str]) -> dict[str, str]:
    """Return an environment in which qmd knows these notes and nothing else."""
    home = Path(environ["OPENCLAW_STATE_DIR"]) / "peer"
    config = home / "config" / "qmd" / "index.yml"
    config.parent.mkdir(parents=True, exist_ok=True)
    collection = {"path": str(root), "pattern": "**/*.md"}
    config.write_text(
        json.dumps({"collections": {"notes": collection}}), encoding="utf-8"
    )
    kept = {name: value for name, value in environ.items() if name != "CI"}
    folders = {"XDG_CONFIG_HOME": home / "config", "XDG_CACHE_HOME": home / "cache"}
    return kept | {name: str(folder) for name, folder in folders.items()}


def timed(command: Sequence[str], environ: dict[str, str]) -> tuple[float, str]:
    """Return the wall time of a command in seconds, and what it printed."""
    started = time.perf_counter()
    done = subprocess.run(
        command,
        env=environ,
        check=True,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    return time.perf_counter() - started, done.stdout


def once(work: Callable[[], object]) -> float:
    """Return the wall time of one call, in seconds."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def fastest(work: Callable[[], object]) -> float:
    """Return the least wall time of several calls, in seconds."""
    return min(once(work) for _ in range(RUNS))


def median(rows: Sequence[tuple[float, ...]], column: int) -> float:
    """Return the median of one column."""
    return statistics.median(row[column] for row in rows)


if __name__ == "__main__":
    raise SystemExit(main())
