#!/usr/bin/env python3
"""Answer judged queries through the public API, for a scorer to judge.

    benchmarks/quality.py SETS OUT [--limit 20] [--set NAME ...] [--paraphrase]
                          [--setting KEY=VALUE ...] [--state DIR]

SETS holds `<set>/<workspace>/` (notes) and `<set>/<workspace>.queries.jsonl`
(`{"id", "query", ...}` lines). For every workspace the answers are written to
`OUT/<set>/<workspace>.results.jsonl`: `{"id", "results": [{"path", "start_line",
"end_line", "score"}], "ms"}`, best first. Indexes go to a temporary folder, or to
DIR, where the next run finds them. A setting is a full key of the configuration; its
value is JSON, or a plain word. With `--paraphrase` the questions of
`<workspace>.paraphrase.jsonl`, which share no word with their answer, are answered as
well, to `<workspace>.paraphrase.results.jsonl`. Search by meaning, for example:

    --setting agents.defaults.memorySearch.provider=local
    --setting agents.defaults.memorySearch.local.modelPath=/models/embedding.gguf
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import orjson

from notewell import SearchAnswer, SyncMemory, open_memory_sync


def main() -> int:
    """Answer every query of every set that is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--limit", type=int, default=20)
    parser.add_argument("--set", action="append", dest="names")
    parser.add_argument("--paraphrase", action="store_true")
    parser.add_argument("--setting", action="append", type=setting, default=[])
    parser.add_argument("--state", type=Path)
    given = parser.parse_args()
    settings = dict(given.setting)
    with tempfile.TemporaryDirectory() as state:
        for queries in sorted(given.sets.glob("*/*.queries.jsonl")):
            if not given.names or queries.parent.name in given.names:
                answer_all(
                    queries,
                    given.out,
                    limit=given.limit,
                    state=given.state or Path(state),
                    settings=settings,
                    paraphrase=given.paraphrase,
                )
    return 0


def setting(text: str) -> tuple[str, object]:
    """Read KEY=VALUE."""
    key, _, value = text.partition("=")
    try:
        return key, orjson.loads(value)
    except orjson.JSONDecodeError:
        return key, value


def answer_all(
    queries: Path,
    out: Path,
    *,
    limit: int,
    state: Path,
    settings: dict[str, object],
    paraphrase: bool,
) -> None:
    """Answer the queries of one workspace."""
    name = queries.name.removesuffix(".queries.jsonl")
    asked = {name: queries}
    others = queries.with_name(f"{name}.paraphrase.jsonl")
    if paraphrase and others.exists():
        asked[f"{name}.paraphrase"] = others
    target = out / queries.parent.name
    target.mkdir(parents=True, exist_ok=True)
    environ = {"OPENCLAW_STATE_DIR": str(state)}
    with open_memory_sync(
        workspace=queries.parent / name, environ=environ, overrides=settings
    ) as memory:
        for warning in memory.refresh().warnings:
            print(f"{name}: {warning}", file=sys.stderr)
        for each, file in asked.items():
            rows = [
                answer(memory, str(line["id"]), str(line["query"]), limit)
                for line in read(file)
            ]
            lines = b"\n".join(orjson.dumps(row) for row in rows) + b"\n"
            (target / f"{each}.results.jsonl").write_bytes(lines)
            print(f"{queries.parent.name}/{each}: {len(rows)} queries", file=sys.stderr)


def answer(memory: SyncMemory, key: str, query: str, limit: int) -> dict[str, object]:
    """Return one line of results."""
    found: SearchAnswer = memory.search(query, max_results=limit)
    results = [
        {
            "path": hit.path,
            "start_line": hit.start_line,
            "end_line": hit.end_line,
            "score": hit.score,
        }
        for hit in found.results
    ]
    return {"id": key, "results": results, "ms": found.took_ms}


def read(queries: Path) -> Iterator[dict[str, object]]:
    """Yield the queries of a file."""
    with queries.open("rb") as file:
        for line in file:
            if line.strip():
                yield orjson.loads(line)


if __name__ == "__main__":
    raise SystemExit(main())
