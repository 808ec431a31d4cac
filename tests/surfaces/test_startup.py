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


def loaded(environ: dict[str, str], notes: Path, *words: str) -> set[str]:
    program = (
        "import sys\n"
        "from notewell.adapters.surfaces.cli import main\n"
        f"code = main({['--workspace', str(notes), *words]!r})\n"
        "print(code, *sys.modules, file=sys.stderr)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, *words],
        env=environ,
        capture_output=True,
        check=True,
        timeout=60,
    )
    code, *modules = ran.stderr.decode("utf-8").splitlines()[-1].split()
    assert code == "0"
    return set(modules)


def test_a_search_loads_nothing_heavy(environ: dict[str, str], notes: Path) -> None:
    loaded(environ, notes, "index")

    # --verbose, since otherwise stderr is let go of after the answer.
    modules = loaded(environ, notes, "search", "gateway", "--json", "--verbose")

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
