"""A search must start at once: nothing heavy is loaded on its way."""

import subprocess
import sys
from pathlib import Path

HEAVY = {
    "asyncio",
    "concurrent.futures",
    "httpx",
    "importlib.metadata",
    "json5",
    "logging",
    "numpy",
    "rich",
    "subprocess",
    "unittest",
}


PROGRAM = """
import sys
from notewell.adapters.surfaces.cli import main
from notewell.adapters.surfaces.cli.output import CommandOutput

def finish(output):
    # What comes after the answer keeps nobody waiting.
    raise SystemExit(0)

CommandOutput.finish = finish
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


def loaded(environ: dict[str, str], notes: Path, *words: str) -> set[str]:
    """The modules that are there when the answer is out."""
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, "--workspace", str(notes), *words],
        env=environ,
        capture_output=True,
        check=True,
        timeout=300,
    )
    assert ran.stdout
    return set(ran.stderr.decode("utf-8").splitlines()[-1].split())


def test_a_search_loads_nothing_heavy(environ: dict[str, str], notes: Path) -> None:
    loaded(environ, notes, "index")

    modules = loaded(environ, notes, "search", "gateway", "--json")

    assert "notewell.memory" in modules
    assert not modules & HEAVY


def test_help_loads_no_engine(environ: dict[str, str], notes: Path) -> None:
    modules = loaded(environ, notes, "--version")

    assert "notewell.memory" not in modules
    assert "apsw" not in modules
    assert not modules & HEAVY


def test_a_command_does_not_load_the_others(
    environ: dict[str, str], notes: Path
) -> None:
    modules = loaded(environ, notes, "get", "MEMORY.md")

    commands = "notewell.adapters.surfaces.cli.commands."
    assert {name for name in modules if name.startswith(commands)} == {f"{commands}get"}
