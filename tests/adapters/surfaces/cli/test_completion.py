"""Completion in shells: what is offered, that real shells take it, and that it is light."""

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.adapters.surfaces.cli.test_startup import HEAVY, PROGRAM

if TYPE_CHECKING:
    from tests.adapters.surfaces.conftest import Notewell


QMD_CONTENDERS = [
    "plain,qmd",
    "plain,qmd:search",
    "plain,qmd:vsearch",
    "plain,qmd:query",
]


def typed(line: str) -> dict[str, str]:
    """What bash hands over when the tabulator is pressed at the end of a line."""
    return {
        "_NOTEWELL_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
    }


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("notewell st", ["plain,status"]),
        ("notewell search --max", ["plain,--max-results"]),
        ("notewell search --source ", ["plain,memory", "plain,sessions"]),
        ("notewell search --format m", ["plain,markdown"]),
        ("notewell get --workspace n", ["dir,n"]),
        ("notewell get --config n", ["file,n"]),
        ("notewell bench --backend q", QMD_CONTENDERS),
        ("notewell completion ", ["plain,bash", "plain,zsh", "plain,fish"]),
    ],
)
def test_what_fits_is_offered(run: "Notewell", line: str, offered: list[str]) -> None:
    ran = run(workspace=None, env=typed(line))

    assert (ran.code, ran.text.splitlines()) == (0, offered)


@pytest.mark.parametrize("command", ["get", "links", "open"])
def test_the_paths_of_notes_are_offered(
    run: "Notewell", notes: Path, command: str
) -> None:
    (notes / "memory" / "Tide pool.md").touch()
    (notes / "memory" / "odd\n.md").touch()

    begun = run(workspace=None, env=typed(f"notewell --workspace {notes} {command} m"))
    held = run(
        workspace=None, env=typed(f"notewell {command} --workspace {notes} tide")
    )
    group = ["--session-key", "agent:main:x:group:1", "--workspace", str(notes)]
    shared = run(workspace=None, env=typed(f"notewell {' '.join(group)} {command} mem"))

    assert begun.text.splitlines() == [
        "plain,MEMORY.md",
        "plain,memory/2026-01-10.md",
        r"plain,memory/Tide\ pool.md",
        "plain,memory/日記.md",
    ]
    assert held.text.splitlines() == [r"plain,memory/Tide\ pool.md"]
    assert "MEMORY.md" not in shared.text


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("--tag wo", ["work/net"]),
        ("--where status=", ["status=done", "status=open"]),
        ("--path memory/pl", ["memory/plan.md"]),
    ],
)
def test_the_values_of_a_filter_are_offered(
    run: "Notewell", notes: Path, line: str, offered: list[str]
) -> None:
    for name, text in {
        "plan": "---\nstatus: done\n---\nSee #work/net.\n",
        "other": "---\nstatus: open\ntags: [home]\n---\n",
    }.items():
        (notes / "memory" / f"{name}.md").write_text(text, encoding="utf-8")

    words = f"notewell --workspace {notes} search otter {line}"
    ran = run(
        workspace=None, env={**typed(words), "_NOTEWELL_COMPLETE": "zsh_complete"}
    )

    assert ran.text.splitlines()[1::3] == offered


def test_where_there_are_no_notes_nothing_is_offered_and_nothing_said(
    run: "Notewell", tmp_path: Path
) -> None:
    gone = tmp_path / "gone"

    ran = run(workspace=None, env=typed(f"notewell --workspace {gone} get m"))

    assert (ran.code, ran.text.strip(), ran.said) == (0, "", "")


def test_without_a_shell_it_is_said_on_one_line_which_there_are(
    run: "Notewell",
) -> None:
    ran = run("completion")

    assert ran.code == 2
    assert ran.said.splitlines()[0] == (
        "notewell: missing argument 'SHELL'. Choose from: bash, zsh, fish"
    )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_calls_us_back(run: "Notewell", shell: str) -> None:
    ran = run("completion", shell)

    assert ran.code == 0
    assert f"_NOTEWELL_COMPLETE={shell}_complete" in ran.text


def test_bash_takes_the_script_and_asks(run: "Notewell", tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    script = tmp_path / "completion"
    script.write_bytes(run("completion", "bash").out)
    asks = tmp_path / "notewell"
    asks.write_text("#!/bin/sh\necho plain,$_NOTEWELL_COMPLETE\n", encoding="utf-8")
    asks.chmod(0o755)
    presses = (
        f'source "{script}"; COMP_WORDS=(notewell s); COMP_CWORD=1; '
        f'_notewell_completion "{asks}"; echo "${{COMPREPLY[@]}}"; complete -p notewell'
    )

    done = subprocess.run(
        [bash, "--norc", "-c", presses],
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=300,
    )

    assert done.stdout.splitlines()[0] == "bash_complete"
    assert "-F _notewell_completion notewell" in done.stdout


def test_a_stray_variable_breaks_nothing(run: "Notewell") -> None:
    ran = run(workspace=None, env={"_NOTEWELL_COMPLETE": "bash_complete"})

    assert (ran.code, ran.text, ran.said) == (0, "", "")


def test_completing_loads_no_engine(environ: dict[str, str]) -> None:
    import sys

    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**environ, **typed("notewell search --")},
        capture_output=True,
        check=True,
        timeout=300,
    )

    modules = set(ran.stderr.decode("utf-8").splitlines()[-1].split())
    assert "notewell.memory" not in modules
    assert not modules & (HEAVY | {"apsw", "orjson"})
