"""`notewell doctor`: is everything here that notewell needs, and what to do if not."""

from collections.abc import Sequence
from typing import Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall
from notewell.adapters.surfaces.cli.health import (
    HealthCheck,
    check_configured,
    check_machine,
)
from notewell.adapters.surfaces.cli.options import Command
from notewell.adapters.surfaces.cli.screen import Look, Screen
from notewell.adapters.surfaces.plain_text import one_line

_TEXT: Final = """Check this machine, the configuration and the index, and say what to do.

Nothing is changed. The exit code is 0 when there is no problem, else 1; a warning
is no problem.
"""
_EXAMPLES: Final = (
    ("notewell doctor", "look at everything"),
    ("notewell doctor --workspace ~/notes", "look at the index of one folder"),
    ("notewell doctor --json", "one JSON object, for programs"),
)
_LOOKS: Final[dict[str, Look]] = {
    "ok": "good",
    "warning": "warning",
    "problem": "problem",
}


@click.command("doctor", cls=Command, help=_TEXT, examples=_EXAMPLES)
@click.pass_context
def doctor_command(context: click.Context) -> int:
    """Make every check, and report."""
    call = CommandCall.of(context)
    checks = [*check_machine(), *check_configured(call)]
    well = all(check.status != "problem" for check in checks)
    if call.output.json:
        from notewell.adapters.surfaces import wire

        call.output.value(
            {"ok": well, "checks": [wire.as_json(item) for item in checks]}
        )
    else:
        call.output.text(_drawn(checks, Screen.of()))
    return 0 if well else 1


def _drawn(checks: Sequence[HealthCheck], screen: Screen) -> str:
    lines: list[str] = []
    for check in checks:
        status = screen.paint(f"{check.status:<8}", _LOOKS[check.status])
        lines.append(f"{status} {one_line(check.name)}: {one_line(check.detail)}")
        if check.remedy is not None:
            lines.append(f"         {screen.paint(one_line(check.remedy), 'dim')}")
    return "\n".join([*lines, "", _verdict(checks)]) + "\n"


def _verdict(checks: Sequence[HealthCheck]) -> str:
    problems = sum(check.status == "problem" for check in checks)
    warnings = sum(check.status == "warning" for check in checks)
    if not (problems or warnings):
        return "Everything is well."
    counts = [
        f"{count} {name}" if count == 1 else f"{count} {name}s"
        for count, name in ((problems, "problem"), (warnings, "warning"))
        if count
    ]
    return ", ".join(counts)
