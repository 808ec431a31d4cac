"""A program that we start is gone when we are, and so is everything it started."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

import notewell
from notewell.process import (
    LinePipe,
    OutputTooLong,
    ProcessOutput,
    ProcessTimeout,
    run_program,
)

PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {child!r}])
open("pids", "w").write(f"{{child.pid}}")
print("started", flush=True)
{then}
"""
LASTING = "import time; time.sleep(60)"
STUBBORN = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"

Run = Callable[..., Awaitable[ProcessOutput]]


@pytest.fixture
def python(tmp_path: Path) -> Run:
    """Runs a script in `tmp_path`."""

    async def run_it(script: str, *, within: float = 20) -> ProcessOutput:
        return await run_program(
            (sys.executable, "-c", script),
            environ={"PATH": os.environ["PATH"]},
            folder=tmp_path,
            within=within,
        )

    return run_it


def is_alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        asked = subprocess.run(
            ["ps", "-o", "stat=", "-p", str(pid)],
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        return asked.stdout.strip()[:1] not in ("", "Z")
    return state.rpartition(")")[2].split()[0] != "Z"


def wait_for(file: Path) -> int:
    """Return the number in a file, once it is there."""
    for _ in range(1000):
        if file.exists() and file.read_text(encoding="utf-8"):
            return int(file.read_text(encoding="utf-8"))
        time.sleep(0.01)
    raise AssertionError(f"{file} was never written")


def commands_with(mark: str) -> list[str]:
    """Return the processes that have a word on their command line."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "args="], capture_output=True, encoding="utf-8", check=True
    )
    return [line for line in listed.stdout.splitlines() if mark in line]


def is_gone(pid: int) -> bool:
    """Whether a process that was killed is gone, or is so in a moment."""
    for _ in range(200):
        if not is_alive(pid):
            return True
        time.sleep(0.01)
    return False


async def test_output_and_code_of_a_program_are_returned(python: Run) -> None:
    output = await python(
        "import sys; print('a'); print('b', file=sys.stderr); sys.exit(3)"
    )

    assert output == ProcessOutput(code=3, out=b"a\n", err=b"b\n")


async def test_a_program_reads_nothing_from_us(python: Run) -> None:
    output = await python("import sys; print(repr(sys.stdin.read()))")

    assert output.out == b"''\n"


async def test_what_a_program_writes_is_private(python: Run, tmp_path: Path) -> None:
    await python("open('made', 'w').close()")

    assert (tmp_path / "made").stat().st_mode & 0o077 == 0


async def test_two_full_streams_do_not_block_each_other(python: Run) -> None:
    output = await python(
        "import sys\n"
        "for _ in range(200): sys.stderr.write('e' * 1000); sys.stdout.write('o' * 1000)"
    )

    assert len(output.out) == 200_000
    assert output.err.endswith(b"e" * 1000)


async def test_output_without_end_is_cut_off(
    python: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notewell.process.MOST_OUTPUT", 100_000)

    with pytest.raises(OutputTooLong):
        await python("while True: print('x' * 1000)")


@pytest.mark.parametrize("program", ["nowhere", "plain.txt", "no-interpreter"])
async def test_a_program_that_cannot_be_started_is_told_from_one_that_fails(
    program: str, tmp_path: Path
) -> None:
    (tmp_path / "plain.txt").write_text("no program\n", encoding="utf-8")
    script = tmp_path / "no-interpreter"
    script.write_text("#!/nowhere/python\n", encoding="utf-8")
    script.chmod(0o755)

    with pytest.raises(OSError, match=r"Permission denied|No such file"):
        await run_program(
            (str(tmp_path / program),),
            environ={"PATH": os.environ["PATH"]},
            folder=tmp_path,
            within=20,
        )


@pytest.mark.parametrize("child", [LASTING, STUBBORN], ids=["child", "stubborn"])
@pytest.mark.parametrize(
    "then", ["time.sleep(60)", "sys.exit(0)"], ids=["waits", "exits at once"]
)
async def test_no_grandchild_outlives_the_run(
    then: str, child: str, python: Run, tmp_path: Path
) -> None:
    script = PARENT.format(child=child, then=then)

    started = time.monotonic()
    if then == "sys.exit(0)":
        assert (await python(script)).out == b"started\n"
    else:
        with pytest.raises(ProcessTimeout):
            await python(script, within=1.0)

    assert time.monotonic() - started < 10
    assert is_gone(wait_for(tmp_path / "pids"))


@pytest.mark.parametrize("child", [LASTING, STUBBORN], ids=["child", "stubborn"])
async def test_a_cancelled_task_ends_only_when_the_program_is_gone(
    child: str, python: Run, tmp_path: Path
) -> None:
    script = PARENT.format(child=child, then="time.sleep(60)")
    task = asyncio.ensure_future(python(script))
    pid = await asyncio.to_thread(wait_for, tmp_path / "pids")

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert is_gone(pid)


async def test_a_task_that_is_cancelled_at_any_moment_leaves_nothing(
    python: Run, tmp_path: Path
) -> None:
    mark = f"notewell-test-{os.getpid()}"
    for moment in range(40):
        task = asyncio.ensure_future(python(f"{LASTING} # {mark}"))
        await asyncio.sleep(moment / 4_000)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    for _ in range(200):
        if not commands_with(mark):
            break
        await asyncio.sleep(0.01)
    assert commands_with(mark) == []


async def test_one_that_left_the_group_is_not_waited_for(
    python: Run, tmp_path: Path
) -> None:
    child = f"import os; os.setsid(); {LASTING}"

    output = await python(PARENT.format(child=child, then="sys.exit(0)"))

    os.kill(wait_for(tmp_path / "pids"), signal.SIGKILL)
    assert output.out == b"started\n"


@pytest.mark.parametrize(
    "end",
    [
        "raise SystemExit(1)",
        "raise ValueError",
        "sys.exit()",
        "os.kill(os.getpid(), 9)",
        "os._exit(1)",
    ],
)
@pytest.mark.parametrize("talks", [False, True])
def test_nothing_is_left_when_our_own_program_ends_in_the_middle(
    end: str, talks: bool, tmp_path: Path
) -> None:
    ours = (
        "import asyncio, os, sys, time\n"
        "from pathlib import Path\n"
        "from notewell.process import start_program\n"
        f"script = {PARENT.format(child=STUBBORN, then='time.sleep(60)')!r}\n"
        "async def main():\n"
        "    await start_program((sys.executable, '-c', script), environ=os.environ,"
        f" folder=Path.cwd(), talks={talks})\n"
        "    while not Path('pids').exists() or not Path('pids').read_text():"
        " time.sleep(0.01)\n"
        f"    {end}\n"
        "asyncio.run(main())\n"
    )

    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ours],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(notewell.__file__).parents[1])},
        capture_output=True,
        check=False,
        timeout=300,
    )

    assert is_gone(wait_for(tmp_path / "pids"))


@pytest.fixture
def talking(tmp_path: Path) -> Callable[[str], Awaitable[LinePipe]]:
    """Starts a script in `tmp_path` that is spoken to; its errors are in `errors`."""

    async def open_it(script: str) -> LinePipe:
        return await LinePipe.open(
            (sys.executable, "-c", script),
            environ={"PATH": os.environ["PATH"]},
            folder=tmp_path,
            errors=tmp_path / "errors",
        )

    return open_it


async def test_a_program_that_stays_is_spoken_to_in_lines(
    talking: Callable[[str], Awaitable[LinePipe]], tmp_path: Path
) -> None:
    pipe = await talking(
        "import sys\n"
        "print('here', file=sys.stderr)\n"
        "for line in sys.stdin: print(line.strip().upper(), flush=True)\n"
        "sys.exit(3)"
    )

    for word in (b"heron", b"pond"):
        await pipe.send(word)
        assert await pipe.receive() == word.upper()
    assert pipe.pid is not None
    await pipe.close()
    await pipe.close()

    assert pipe.pid is None
    assert (tmp_path / "errors").read_text(encoding="utf-8") == "here\n"
    with pytest.raises(OSError, match=r"closed|reset|Broken|lost"):
        await pipe.send(b"heron")


async def test_a_program_that_ends_has_an_exit_code_and_no_more_lines(
    talking: Callable[[str], Awaitable[LinePipe]],
) -> None:
    pipe = await talking("import sys; print('last'); sys.exit(3)")

    assert await pipe.receive() == b"last"
    with pytest.raises(EOFError):
        await pipe.receive()
    assert await pipe.wait() == 3
    assert pipe.pid is None
    await pipe.close()


async def test_a_line_that_a_program_has_no_time_to_end_is_none(
    talking: Callable[[str], Awaitable[LinePipe]],
) -> None:
    pipe = await talking(
        "import os; os.write(1, b'whole\\nhalf'); os.kill(os.getpid(), 9)"
    )

    assert await pipe.receive() == b"whole"
    with pytest.raises(EOFError):
        await pipe.receive()
    assert await pipe.wait() == -signal.SIGKILL
    await pipe.close()


async def test_what_a_program_that_stays_has_started_is_ended_with_it(
    talking: Callable[[str], Awaitable[LinePipe]], tmp_path: Path
) -> None:
    pipe = await talking(PARENT.format(child=STUBBORN, then="time.sleep(60)"))
    assert await pipe.receive() == b"started"

    await pipe.close(grace=0.1)

    assert is_gone(wait_for(tmp_path / "pids"))
