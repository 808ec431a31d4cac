#!/usr/bin/env python3
"""Compare notewell with other memories on the same files: building, and searching.

    benchmarks/peers.py [--files 2000] [--size 2000] [--qmd "node qmd.js"]
        [--memsearch memsearch] [--runs 5] [--json FILE]

All start from nothing, in homes of their own, and are called from the shell. QMD
indexes words alone (`update`, `search`). memsearch (from PyPI, with Milvus Lite) has
vectors in every search; it and notewell get the same ones from a server on this machine
that hashes words (`hashed.py`), so no model and no network is measured. notewell is
measured in both ways. The searches take turns, and each ratio is the median of the
ratios within a turn.
"""

import argparse
import json
import os
import shlex
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path.insert(0, str(HERE.parent))

import corpus
import hashed
import speed

_QUESTION_WORDS = 3
_MAIN = "from notewell.adapters.surfaces.cli import main; raise SystemExit(main())"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One way to search, from the shell.

    Attributes:
        name: What it is called in the output.
        environ: Where its index is, among others.
        build: The command that indexes everything.
        search: The command that searches; the query follows.
        meaning: It compares vectors, too.
    """

    name: str
    environ: dict[str, str]
    build: list[str]
    search: list[str]
    meaning: bool


def main() -> int:
    """Build every index, then search in turn."""
    given = arguments()
    root = Path(tempfile.gettempdir()) / f"notewell-notes-{given.files}-{given.size}"
    corpus.write_workspace(root, files=given.files, size=given.size)
    with tempfile.TemporaryDirectory() as home, hashed.serving() as url:
        programs = list(programs_of(given, root, Path(home), url))
        built = {
            each.name: speed.timed(each.build, each.environ)[0] for each in programs
        }
        searched = in_turn(programs, given.runs)
    figures = compared(programs, built, searched)
    print(f"{given.files:,} files of {given.size:,} bytes; seconds, and times as much")
    for name, row in figures.items():
        print(f"{name:22s}" + "  ".join(f"{key} {row[key]:8.2f}" for key in row))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=2_000)
    parser.add_argument("--size", type=int, default=2_000, help="bytes in a note")
    parser.add_argument("--qmd", type=shlex.split, help="how to call it")
    parser.add_argument("--memsearch", type=shlex.split, help="how to call it")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def programs_of(
    given: argparse.Namespace, root: Path, home: Path, url: str
) -> Iterator[Program]:
    """Yield what takes part."""
    yield notewell(root, home / "words", None)
    if given.qmd:
        environ = {**os.environ, "OPENCLAW_STATE_DIR": str(home / "qmd")}
        yield Program(
            name="qmd, words",
            environ=speed.peer_home(root, environ),
            build=[*given.qmd, "update"],
            search=[*given.qmd, "search", "--json", "--"],
            meaning=False,
        )
    if given.memsearch:
        yield notewell(root, home / "hybrid", url)
        yield memsearch(given.memsearch, root, home / "memsearch", url)


def notewell(root: Path, home: Path, url: str | None) -> Program:
    """Return notewell, with vectors if there is a server of them."""
    search: dict[str, object] = {"provider": "none"}
    if url:
        remote = {"baseUrl": url, "apiKey": "none"}
        search = {"provider": "openai", "model": "hashed", "remote": remote}
    home.mkdir(parents=True)
    config = home / "openclaw.json"
    agents = {"agents": {"defaults": {"memorySearch": search}}}
    config.write_text(json.dumps(agents), encoding="utf-8")
    environ = {
        **os.environ,
        "OPENCLAW_STATE_DIR": str(home),
        "OPENCLAW_CONFIG_PATH": str(config),
        "PYTHONPATH": speed.SOURCE,
    }
    environ.pop("PYTHONDONTWRITEBYTECODE", None)  # it would compile at every start
    command = [sys.executable, "-c", _MAIN]
    place = ["--workspace", str(root), "--json"]
    return Program(
        name="notewell, hybrid" if url else "notewell, words",
        environ=environ,
        build=[*command, "index", *place],
        search=[*command, "search", *place, "--"],
        meaning=url is not None,
    )


def memsearch(command: list[str], root: Path, home: Path, url: str) -> Program:
    """Return memsearch with a database of its own."""
    home.mkdir(parents=True)
    database = ["--milvus-uri", str(home / "milvus.db")]
    model = ["--provider", "openai", "--model", "hashed"]
    server = ["--base-url", url, "--api-key", "none"]
    return Program(
        name="memsearch, hybrid",
        environ={**os.environ, "HOME": str(home)},
        build=[*command, "index", *database, *model, *server, str(root)],
        search=[*command, "search", *database, *model, *server, "--json-output", "--"],
        meaning=True,
    )


def in_turn(programs: list[Program], runs: int) -> dict[str, list[float]]:
    """Ask all the same, one after the other, again and again; the first is a warm-up."""
    words = corpus.Vocabulary().words[2_000:]
    seconds: dict[str, list[float]] = {each.name: [] for each in programs}
    for run in range(runs + 1):
        query = " ".join(words[run * _QUESTION_WORDS :][:_QUESTION_WORDS])
        for each in programs:
            taken, printed = speed.timed([*each.search, query], each.environ)
            json.loads(printed)  # it has answered
            if run:
                seconds[each.name].append(taken)
    return seconds


def compared(
    programs: list[Program],
    built: dict[str, float],
    searched: dict[str, list[float]],
) -> dict[str, dict[str, float]]:
    """Return seconds, and ratios to notewell in the same way of searching."""
    ours = {each.meaning: each.name for each in programs if "notewell" in each.name}
    rows: dict[str, dict[str, float]] = {}
    for each in programs:
        peer = ours[each.meaning]
        pairs = zip(searched[each.name], searched[peer], strict=True)
        rows[each.name] = {
            "build": built[each.name],
            "x": built[each.name] / built[peer],
            "search": statistics.median(searched[each.name]),
            "x ": statistics.median(theirs / own for theirs, own in pairs),
        }
    return rows


if __name__ == "__main__":
    raise SystemExit(main())
