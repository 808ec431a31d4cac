"""`notewell bench`: engines and settings side by side, on your own notes."""

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from notewell.adapters.surfaces.cli.options import Call, Command, completing, count
from notewell.adapters.surfaces.cli.output import Output, utf8
from notewell.adapters.surfaces.cli.usage import Refused
from notewell.bench.queries import SETS
from notewell.errors import UsageError

if TYPE_CHECKING:
    from notewell.bench.results import BenchReport

_MOST: Final = 10_000
_INTERRUPTED: Final = 130
_TEXT: Final = """Measure engines side by side, on your own notes.

Each contender works in a process and a state folder of its own, on a copy of the
notes: neither the notes nor your index are touched. The same query goes to all of
them in turn. Measured are quality, times, disk and memory.

Without --queries the questions are made from the notes themselves (known items),
which favours engines that match words. In a folder that is no workspace a small
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
    callback=count(_MOST),
    metavar="N",
    help="Ask N queries only; known items are 100 otherwise.",
)
@click.option(
    "--seed", callback=count(least=0), metavar="N", help="Chooses them. Usually 1."
)
@click.option(
    "--rounds",
    callback=count(1_000),
    metavar="N",
    help="How often each query is asked, for its time. Usually 3.",
)
@click.option(
    "--cold",
    callback=count(1_000, least=0),
    metavar="N",
    help="Searches that begin with a new process. Usually 5.",
)
@click.option(
    "--max-results",
    "limit",
    callback=count(_MOST, least=10),
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
def bench(
    context: click.Context, /, out: Path | None, html: Path | None, **given: Any
) -> int:
    """Plan, run and show a benchmark."""
    call = Call.of(context)
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
    call: Call, files: Sequence[Path | None], given: Mapping[str, object]
) -> None:
    """Refuse what makes no sense before anything takes its time."""
    if given["bundled"] and (given["queries"] or call.workspace):
        raise Refused(
            "a set has notes and queries of its own",
            remedy="leave out --set, or both --queries and --workspace",
        )
    for file in files:
        if file is not None and not _is_writable(file):
            raise Refused(
                f"{str(file)!r} cannot be written",
                remedy="name a file in a folder that exists and is yours",
            )
    named = [str(file) for file in (*files, given["queries"]) if file is not None]
    if len(set(named)) != len(named):
        raise Refused(
            "one file is named for two things",
            remedy="name another file for --queries, --out and --html each",
        )


def _is_writable(file: Path) -> bool:
    """Whether a report can take this place, which a device or a pipe keeps."""
    kept = file.exists() and not file.is_file()
    return not kept and os.access(file.parent, os.W_OK | os.X_OK)


def _run(call: Call, given: Mapping[str, Any]) -> "BenchReport":
    from notewell.adapters.surfaces.cli.benching import Benching
    from notewell.adapters.surfaces.cli.cold import CODE
    from notewell.bench.plan import BenchOptions, make_plan
    from notewell.bench.race import run_benchmark

    said: dict[str, Any] = {
        name: value for name, value in given.items() if value is not None
    }
    if call.backend and not said["backends"]:  # before the command it is the common one
        said["backends"] = (call.backend,)
    wish = BenchOptions(
        workspace=call.workspace,
        config=call.config,
        agent=call.agent,
        cold_code=CODE,
        **said,
    )
    with closing(Benching(call.output)) as listener:
        return run_benchmark(make_plan(wish, os.environ), listener)


def _keep(report: "BenchReport", out: Path | None, html: Path | None) -> None:
    """Write the report to the files that were named, for their owner alone."""
    if out is not None:
        from notewell.adapters.surfaces import wire

        _write(out, wire.dump(wire.bench_report(report)))
    if html is not None:
        from notewell.adapters.surfaces.report import page

        _write(html, utf8(page(report)))


def _write(file: Path, content: bytes) -> None:
    from notewell.files import replace_file

    try:
        replace_file(file, content)
    except OSError as exc:
        raise UsageError(
            f"{file} cannot be written: {exc.strerror or exc}",
            remedy="see that there is space and the permission to write",
        ) from exc


def _show(report: "BenchReport", output: Output) -> None:
    if output.json:
        from notewell.adapters.surfaces import wire

        output.value(wire.bench_report(report))
        return
    from notewell.adapters.surfaces.cli.screen import Screen
    from notewell.adapters.surfaces.cli.standings import standings

    output.text(standings(report, Screen.of()))
