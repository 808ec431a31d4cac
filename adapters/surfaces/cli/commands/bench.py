"""`notewell bench`: engines and settings side by side, on your own notes."""

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall
from notewell.adapters.surfaces.cli.options import (
    Command,
    CommandUsageError,
    completing,
    whole_number,
)
from notewell.adapters.surfaces.cli.output import CommandOutput
from notewell.adapters.surfaces.plain_text import encode_utf8
from notewell.bench.sets import SETS
from notewell.errors import UsageError

if TYPE_CHECKING:
    from notewell.bench.results import BenchReport

_MOST: Final = 10_000
_INTERRUPTED: Final = 130
_COLD_CODE: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from notewell.adapters.surfaces.cli.commands.search import cold_search; "
    "sys.exit(cold_search())"
)
"""Runs a search as a process of its own, whose arguments are the folder of notewell and
the query."""

_TEXT: Final = """Measure engines side by side, on your own notes.

Each contender works in a process and a state folder of its own, on a copy of the
notes: neither the notes nor your index are touched. The same query goes to all of
them in turn. Measured are quality, times, disk and memory.

Without --queries the questions are made from the notes themselves (known items),
which favours engines that match words. In a folder without notes a small
judged set of our own is used. Ctrl-C ends a run early and keeps what is done.

A contender is ENGINE[:MODE][@KEY=VALUE...]: builtin, with keyword, hybrid or vector;
qmd, with search, vsearch or query. The end of a setting's key is enough.

The exit code is 0, 1 when nobody could take part, 130 after Ctrl-C.
"""
_EXAMPLES: Final = (
    ("notewell bench", "what this machine can run, on the configured notes"),
    ("notewell bench --set example", "the same on the bundled notes"),
    (
        "notewell bench --backend builtin --backend qmd:search --queries q.jsonl",
        "two engines on questions of yours",
    ),
    (
        "notewell bench --backend builtin --backend builtin@mmr.enabled=true",
        "what a setting changes",
    ),
    ("notewell bench --sample 30 --rounds 1 --html report.html", "quick, to look at"),
)


def _offered(
    _context: click.Context, _option: click.Parameter, typed: str
) -> list[str]:
    from notewell.bench.contenders import contender_names

    return [each for each in contender_names() if each.startswith(typed)]


def _path(
    _context: click.Context, _option: click.Parameter, value: str | None
) -> Path | None:
    return None if value is None else Path(os.path.abspath(os.path.expanduser(value)))


@click.command("bench", cls=Command, help=_TEXT, examples=_EXAMPLES)
@click.option(
    "--backend",
    "backends",
    multiple=True,
    metavar="CONTENDER",
    shell_complete=_offered,
    help="Who takes part; may be given several times.",
)
@click.option(
    "--queries",
    callback=_path,
    metavar="FILE",
    shell_complete=completing("file"),
    help="Judged queries, one JSON object a line.",
)
@click.option(
    "--set",
    "bundled",
    type=click.Choice(SETS),
    metavar="NAME",
    help="Notes and queries that come with notewell: example.",
)
@click.option(
    "--sample",
    callback=whole_number(_MOST),
    metavar="N",
    help="Ask N queries only; known items are 100 otherwise.",
)
@click.option(
    "--seed",
    callback=whole_number(least=0),
    metavar="N",
    help="Chooses them. Usually 1.",
)
@click.option(
    "--rounds",
    callback=whole_number(1_000),
    metavar="N",
    help="How often each query is asked, for its time. Usually 3.",
)
@click.option(
    "--cold",
    callback=whole_number(1_000, least=0),
    metavar="N",
    help="Searches that begin with a new process. Usually 5.",
)
@click.option(
    "--max-results",
    "limit",
    callback=whole_number(_MOST, least=10),
    metavar="N",
    help="Results asked for, at least 10. Usually 20.",
)
@click.option(
    "--state",
    callback=_path,
    metavar="DIR",
    shell_complete=completing("dir"),
    help="Keep the copy and the indexes there, and go on from them next time.",
)
@click.option(
    "--out",
    callback=_path,
    metavar="FILE",
    shell_complete=completing("file"),
    help="Write the whole report there, as JSON. It quotes notes.",
)
@click.option(
    "--html",
    callback=_path,
    metavar="FILE",
    shell_complete=completing("file"),
    help="Write it there as a page with charts and every answer, too.",
)
@click.pass_context
def bench_command(
    context: click.Context, /, out: Path | None, html: Path | None, **given: Any
) -> int:
    """Plan, run and show a benchmark."""
    call = CommandCall.of(context)
    _check(call, (out, html), given)
    report = _run(call, given)
    try:
        _keep(report, out, html)
    finally:  # what was measured is not lost with the disk that refuses
        _show(report, call.output)
    if not report.finished:
        return _INTERRUPTED
    return int(all(each.unavailable is not None for each in report.contenders))


def _check(
    call: CommandCall, files: Sequence[Path | None], given: Mapping[str, object]
) -> None:
    """Refuse what makes no sense before anything takes its time."""
    if given["bundled"] and (given["queries"] or call.workspace):
        raise CommandUsageError(
            "a set has notes and queries of its own",
            remedy="leave out --set, or both --queries and --workspace",
        )
    for file in files:
        if file is not None and not _is_writable(file):
            raise CommandUsageError(
                f"{str(file)!r} cannot be written",
                remedy="name a file in a folder that exists and is yours",
            )
    named = [str(file) for file in (*files, given["queries"]) if file is not None]
    if len(set(named)) != len(named):
        raise CommandUsageError(
            "one file is named for two things",
            remedy="name another file for --queries, --out and --html each",
        )


def _is_writable(file: Path) -> bool:
    """Whether a report can take this place, which a device or a pipe keeps."""
    kept = file.exists() and not file.is_file()
    return not kept and os.access(file.parent, os.W_OK | os.X_OK)


def _run(call: CommandCall, given: Mapping[str, Any]) -> "BenchReport":
    from notewell.adapters.surfaces.cli.progress import BenchProgress
    from notewell.bench.plan import BenchOptions, make_plan
    from notewell.bench.race import run_benchmark

    said: dict[str, Any] = {
        name: value for name, value in given.items() if value is not None
    }
    if call.backend and not said["backends"]:  # before the command it is the common one
        said["backends"] = (call.backend,)
    options = BenchOptions(
        workspace=call.workspace,
        config=call.config,
        agent=call.agent,
        cold_code=_COLD_CODE,
        **said,
    )
    with closing(BenchProgress(call.output)) as listener:
        return run_benchmark(make_plan(options, os.environ), listener)


def _keep(report: "BenchReport", out: Path | None, html: Path | None) -> None:
    """Write the report to the files that were named, for their owner alone."""
    if out is not None:
        from notewell.adapters.surfaces import wire

        _write(out, wire.dump(wire.bench_json(report)))
    if html is not None:
        from notewell.adapters.surfaces.report import page

        _write(html, encode_utf8(page(report)))


def _write(file: Path, content: bytes) -> None:
    from notewell.files import replace_file

    try:
        replace_file(file, content)
    except OSError as exc:
        raise UsageError(
            f"{file} cannot be written: {exc.strerror or exc}",
            remedy="see that there is space and the permission to write",
        ) from exc


def _show(report: "BenchReport", output: CommandOutput) -> None:
    if output.json:
        from notewell.adapters.surfaces import wire

        output.value(wire.bench_json(report))
        return
    from notewell.adapters.surfaces.cli.bench_tables import draw_bench
    from notewell.adapters.surfaces.cli.screen import Screen

    output.text(draw_bench(report, Screen.of()))
