"""Pipes that close, descriptors that are missing, disks that are full, Ctrl-C."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest
from filelock import FileLock

from notewell.adapters.surfaces.cli.entry import TerminationSignal

if TYPE_CHECKING:
    from tests.adapters.surfaces.conftest import Notewell

Start: TypeAlias = "Callable[..., subprocess.Popen[bytes]]"
# A suite that runs in the background may have Ctrl-C switched off.
PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from notewell.adapters.surfaces.cli import main
sys.exit(main())
"""
COMMAND = (sys.executable, "-c", PROGRAM)


@pytest.fixture
def start(environ: dict[str, str], notes: Path) -> Start:
    """Starts `notewell` with streams of one's own."""

    def start_it(
        *words: str, stdout: int = subprocess.PIPE
    ) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [*COMMAND, "--workspace", str(notes), *words],
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
        )

    return start_it


@contextmanager
def without_reader() -> Generator[int]:
    """The end of a pipe that nobody reads any more."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        yield writer
    finally:
        os.close(writer)


@pytest.mark.parametrize(
    "line",
    [
        ["search", "gateway"],
        ["search", "gateway", "--json"],
        ["get", "MEMORY.md"],
        ["search", "--json"],
        ["--help"],
        ["config"],
    ],
    ids=" ".join,
)
def test_a_reader_that_leaves_is_no_fault(line: list[str], start: Start) -> None:
    start("index").communicate()

    with without_reader() as nobody:
        child = start(*line, stdout=nobody)
        _, said = child.communicate(timeout=300)

    assert (child.returncode, said) == (141, b"")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_descriptors_do_no_harm(
    closed: str, environ: dict[str, str], notes: Path, run: "Notewell"
) -> None:
    line = [*COMMAND, "--workspace", str(notes), "search", "gateway"]

    ran = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *line],
        env=environ,
        capture_output=True,
        timeout=300,
        check=False,
    )

    assert ran.returncode == (1 if ">&- " in f" {closed} ".replace("2>&- ", "") else 0)
    assert b"Traceback" not in ran.stderr
    assert run("status", "--json").value["index"]["files"] == 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("flags", [[], ["--json"]], ids=["plain", "json"])
def test_an_answer_that_cannot_be_written_is_not_lost_in_silence(
    flags: list[str], start: Start
) -> None:
    with Path("/dev/full").open("wb") as full:
        child = start("search", "gateway", *flags, stdout=full.fileno())
        _, said = child.communicate(timeout=300)

    assert child.returncode == 1
    assert b"could not be written: No space left on device" in said


def test_the_reader_of_a_pipe_sees_its_end_before_the_program_ends(
    environ: dict[str, str],
) -> None:
    program = (
        "import sys\n"
        "from notewell.adapters.surfaces.cli.output import CommandOutput\n"
        "output = CommandOutput(json=False)\n"
        "output.text('the answer')\n"
        "output.finish()\n"
        "sys.stdin.read()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program],
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdin is not None
    assert child.stdout is not None

    with child.stdin, child.stdout:
        answer = child.stdout.read()
        running = child.poll() is None
    child.wait(timeout=300)

    assert (answer, running) == (b"the answer", True)


@pytest.mark.parametrize(
    "line", [["index"], ["index", "--json"], ["status", "--index"], ["search", "port"]]
)
def test_waiting_for_another_process_is_said(
    line: list[str], start: Start, run: "Notewell"
) -> None:
    run("index")
    index = Path(run("status", "--json").value["index"]["location"])
    index.unlink()

    with FileLock(f"{index}.lock"):
        child = start(*line)
        assert child.stderr is not None
        said = child.stderr.readline()
    child.communicate(timeout=300)

    assert said == b"another process is indexing; waiting for it\n"
    assert child.returncode == 0
    assert run("status", "--json").value["index"]["files"] == 3


@pytest.fixture
def many(notes: Path) -> Path:
    """So many notes that indexing them takes a while."""
    for number in range(6_000):
        text = f"# Note {number}\n\nThe pelican number {number} flies.\n"
        (notes / "memory" / f"note-{number}.md").write_bytes(text.encode())
    return notes


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
    ids=["Ctrl-C", "SIGTERM"],
)
@pytest.mark.usefixtures("many")
def test_an_interrupted_run_keeps_what_is_done_and_says_so(
    number: int, code: int, word: str, start: Start, run: "Notewell"
) -> None:
    child = start("index", "--json")
    assert child.stderr is not None

    begun = child.stderr.readline()
    child.send_signal(number)
    out, said = child.communicate(timeout=300)

    assert begun.startswith(b"Indexing")
    assert child.returncode == code
    assert json.loads(out)["error"]["type"] == "internal"
    assert json.loads(out)["error"]["message"] == word
    assert b"what was finished is kept; run it again to go on" in said
    assert b" of 6,003" not in said  # nobody knows how many are on disk
    assert b"Traceback" not in said
    assert run("index", "--json").value["files"] == 6_003


def test_an_event_loop_keeps_no_signal_to_itself() -> None:
    def end() -> None:
        raise TerminationSignal(signal.SIGTERM)

    async def work() -> None:
        asyncio.get_running_loop().call_soon(end)
        await asyncio.sleep(0.1)

    with pytest.raises(TerminationSignal) as ended:
        asyncio.run(work())

    assert ended.value.code == 143
