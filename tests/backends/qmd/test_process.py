"""A program that we start is gone when we are, and so is everything it started."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import notewell
from notewell.backends.blocking import called_off
from notewell.backends.qmd.process import Output, Stopped, TimeUp, TooMuch, run

PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {child!r}])
open("pids", "w").write(f"{{child.pid}}")
print("started", flush=True)
{then}
"""
LASTING = "import time; time.sleep(60)"
STUBBORN = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"

Run = Callable[..., Output]


@pytest.fixture
def python(tmp_path: Path) -> Run:
    """Runs a script in `tmp_path`."""

    def start(script: str, *, within: float = 20, **more: object) -> Output:
        return run(
            (sys.executable, "-c", script),
            environ={"PATH": os.environ["PATH"]},
            folder=tmp_path,
            within=within,
            **more,  # type: ignore[arg-type]
        )

    return start


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


def is_gone(pid: int) -> bool:
    """Whether a process that was killed is gone, or is so in a moment."""
    for _ in range(200):
        if not is_alive(pid):
            return True
        time.sleep(0.01)
    return False


def test_output_and_code_of_a_program_are_returned(python: Run) -> None:
    output = python("import sys; print('a'); print('b', file=sys.stderr); sys.exit(3)")

    assert output == Output(code=3, out=b"a\n", err=b"b\n")


def test_a_program_reads_nothing_from_us(python: Run) -> None:
    assert python("import sys; print(repr(sys.stdin.read()))").out == b"''\n"


def test_what_a_program_writes_is_private(python: Run, tmp_path: Path) -> None:
    python("open('made', 'w').close()")

    assert (tmp_path / "made").stat().st_mode & 0o077 == 0


def test_two_full_streams_do_not_block_each_other(python: Run) -> None:
    output = python(
        "import sys\n"
        "for _ in range(200): sys.stderr.write('e' * 1000); sys.stdout.write('o' * 1000)"
    )

    assert len(output.out) == 200_000
    assert output.err.endswith(b"e" * 1000)


def test_output_without_end_is_cut_off(
    python: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notewell.backends.qmd.process.MOST_OUTPUT", 100_000)

    with pytest.raises(TooMuch):
        python("while True: print('x' * 1000)")


@pytest.mark.parametrize("child", [LASTING, STUBBORN], ids=["child", "stubborn"])
@pytest.mark.parametrize(
    "then", ["time.sleep(60)", "sys.exit(0)"], ids=["waits", "exits at once"]
)
@pytest.mark.parametrize("how", ["time", "stop"])
def test_no_grandchild_outlives_the_run(
    how: str, then: str, child: str, python: Run, tmp_path: Path
) -> None:
    script = PARENT.format(child=child, then=then)
    stop = threading.Event()
    if how == "stop":
        threading.Timer(1.0, stop.set).start()

    started = time.monotonic()
    if then == "sys.exit(0)":
        assert python(script, stop=stop).out == b"started\n"
    else:
        with pytest.raises(TimeUp if how == "time" else Stopped):
            python(script, within=1.0 if how == "time" else 20, stop=stop)

    assert time.monotonic() - started < 10
    assert is_gone(wait_for(tmp_path / "pids"))


async def test_a_cancelled_task_ends_only_when_the_program_is_gone(
    python: Run, tmp_path: Path
) -> None:
    script = PARENT.format(child=LASTING, then="time.sleep(60)")
    task = asyncio.create_task(called_off(python, script))
    pid = await asyncio.to_thread(wait_for, tmp_path / "pids")

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert is_gone(pid)


@pytest.mark.parametrize(
    "end", ["raise SystemExit(1)", "raise ValueError", "sys.exit()"]
)
def test_nothing_is_left_when_our_own_program_ends_in_the_middle(
    end: str, tmp_path: Path
) -> None:
    ours = (
        "import sys, os, threading, time\n"
        "from pathlib import Path\n"
        "from notewell.backends.qmd.process import start\n"
        "import subprocess\n"
        f"script = {PARENT.format(child=LASTING, then='time.sleep(60)')!r}\n"
        "start((sys.executable, '-c', script), environ=os.environ, folder=Path.cwd(),"
        " stdin=subprocess.DEVNULL)\n"
        "while not Path('pids').exists() or not Path('pids').read_text():"
        " time.sleep(0.01)\n"
        f"{end}\n"
    )

    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ours],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(notewell.__file__).parents[1])},
        capture_output=True,
        check=False,
        timeout=60,
    )

    assert is_gone(wait_for(tmp_path / "pids"))
