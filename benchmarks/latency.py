#!/usr/bin/env python3
"""Compare what one search costs: QMD alone, through notewell, and builtin.

    benchmarks/latency.py WORKSPACE --qmd NODE QMD_JS [--query TEXT] [--runs 20]

One run measures all in turn, so that a busy machine slows them all: `qmd search` as a
command of its own, `notewell search` with `memory.backend` qmd and builtin from the
shell, and both warm in one process. Milliseconds, median and quartiles, and how many
times as long as `qmd search` it took: the median of the ratios within each turn.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

SRC = Path(__file__).resolve().parents[1] / "src"
sys.path.insert(0, str(SRC))

from notewell import open_memory_sync


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--qmd", nargs=2, required=True)
    parser.add_argument("--query", default="backup retention")
    parser.add_argument("--runs", type=int, default=20)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(given, Path(folder))
    return 0


def measure(given: argparse.Namespace, folder: Path) -> None:
    """Time every way to search, in turn."""
    config = folder / "openclaw.json"
    config.write_text(json.dumps({"memory": {"qmd": {"command": given.qmd}}}))
    environ = {
        **os.environ,
        "PYTHONPATH": str(SRC),
        "OPENCLAW_STATE_DIR": str(folder / "state"),
        "OPENCLAW_CONFIG_PATH": str(config),
    }
    environ.pop("PYTHONDONTWRITEBYTECODE", None)  # it would compile at every start
    with (
        open_memory_sync(
            workspace=given.workspace, environ=environ, backend="qmd", server=True
        ) as qmd,
        open_memory_sync(
            workspace=given.workspace, environ=environ, backend="builtin"
        ) as builtin,
    ):
        qmd.refresh()
        builtin.refresh()
        ways: dict[str, Callable[[], object]] = {
            "qmd search, alone": lambda: shell(
                [*given.qmd, "--index", "index", "search", "--json", given.query],
                {**environ, **alone(folder / "state")},
            ),
            "notewell search, qmd": lambda: notewell(given, environ, "qmd"),
            "notewell search, builtin": lambda: notewell(given, environ, "builtin"),
            "warm, qmd daemon": lambda: qmd.search(given.query),
            "warm, builtin": lambda: builtin.search(given.query),
        }
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(given.runs):
            for name, way in ways.items():
                started = time.perf_counter()
                way()
                times[name].append((time.perf_counter() - started) * 1000)
    [peer, *_] = times.values()
    for name, taken in times.items():
        low, middle, high = statistics.quantiles(taken, n=4)
        ratio = statistics.median(a / b for a, b in zip(taken, peer, strict=True))
        print(f"{name:26} {middle:8.1f} ms  ({low:.1f} to {high:.1f})  x {ratio:.2f}")


def alone(state: Path) -> dict[str, str]:
    """Return the variables by which QMD itself finds the index that we keep."""
    [cache] = state.glob("qmd/*/*/cache")
    return {
        "XDG_CACHE_HOME": str(cache),
        "XDG_CONFIG_HOME": str(cache.with_name("config")),
    }


def notewell(given: argparse.Namespace, environ: Mapping[str, str], name: str) -> None:
    """Run one search from the shell."""
    options = ["--workspace", str(given.workspace), "--backend", name]
    command = [sys.executable, "-m", "notewell", "search", given.query, *options]
    shell(command, environ)


def shell(command: list[str], environ: Mapping[str, str]) -> None:
    """Run a command to its end."""
    subprocess.run(command, env=environ, check=True, capture_output=True)


if __name__ == "__main__":
    raise SystemExit(main())
