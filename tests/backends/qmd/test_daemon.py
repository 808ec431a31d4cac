"""The daemon that stays: late answers, deaths and nonsense do not reach the next one."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

import notewell
from notewell.backends.qmd.daemon import Daemon, DaemonFailed, DaemonLate

SERVER = """
import json, sys, time
for line in sys.stdin:
    question = json.loads(line)
    if "id" not in question:
        continue
    searches = question["params"].get("arguments", {{}}).get("searches", [])
    asked = searches[0]["query"] if searches else ""
    {mood}
    results = [{{"file": f"notes/{{asked}}.md", "score": 1, "line": 3}}]
    result = {{"structuredContent": {{"results": results}}}}
    answer = {{"jsonrpc": "2.0", "id": question["id"], "result": result}}
    print(json.dumps(answer), flush=True)
"""

Started = Callable[[str], Daemon]


@pytest.fixture
async def daemon(tmp_path: Path) -> AsyncIterator[Started]:
    """Starts a daemon that does something before it answers."""
    made: list[Daemon] = []

    def start(mood: str) -> Daemon:
        script = tmp_path / "server.py"
        script.write_text(SERVER.format(mood=mood), encoding="utf-8")
        command = (sys.executable, "-SE", str(script))
        made.append(Daemon(command, environ=os.environ, folder=tmp_path))
        return made[-1]

    yield start
    for one in made:
        await one.close()


async def ask(daemon: Daemon, word: str, within: float = 20.0) -> list[str]:
    found = await daemon.typed([("lex", word)], ["notes"], count=5, within=within)
    return [f"{one.collection}/{one.path}" for one in found]


async def test_one_process_answers_question_after_question(daemon: Started) -> None:
    one = daemon("pass")

    assert await ask(one, "a") == ["notes/a.md"]
    pid = one.pid
    assert await ask(one, "b") == ["notes/b.md"]
    assert one.pid == pid


async def test_an_answer_that_comes_too_late_is_not_taken_for_the_next(
    daemon: Started,
) -> None:
    one = daemon("time.sleep(1.0 if asked == 'slow' else 0)")
    await ask(one, "a")
    pid = one.pid

    with pytest.raises(DaemonLate):
        await ask(one, "slow", within=0.2)

    assert await ask(one, "b") == ["notes/b.md"]
    assert one.pid == pid


async def test_one_that_answers_nothing_for_long_is_stopped(
    daemon: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notewell.backends.qmd.daemon._HUNG_SECONDS", 0.1)
    one = daemon("time.sleep(60 if asked == 'hang' else 0)")
    await ask(one, "a")

    for _ in range(2):
        with pytest.raises(DaemonLate):
            await ask(one, "hang", within=0.2)

    assert one.pid is None
    assert await ask(one, "b") == ["notes/b.md"]


async def test_a_question_that_is_called_off_is_not_waited_for(daemon: Started) -> None:
    one = daemon("time.sleep(60 if asked == 'hang' else 0)")
    await ask(one, "a")
    pid = one.pid
    hung = asyncio.ensure_future(ask(one, "hang"))
    await asyncio.sleep(0.1)

    hung.cancel()

    with pytest.raises(asyncio.CancelledError):
        await hung
    assert one.pid == pid


async def test_one_that_dies_over_a_question_is_started_again(daemon: Started) -> None:
    one = daemon("sys.exit() if asked == 'die' else None")
    await ask(one, "a")

    with pytest.raises(DaemonFailed, match="it ended"):
        await ask(one, "die")

    assert await ask(one, "b") == ["notes/b.md"]


async def test_noise_between_the_answers_is_passed_over(daemon: Started) -> None:
    one = daemon("print('[node-llama-cpp] hello\\\\n{{}}\\\\n[1]', flush=True)")

    assert await ask(one, "a") == ["notes/a.md"]


async def test_questions_of_several_tasks_get_their_own_answers(
    daemon: Started,
) -> None:
    one = daemon("time.sleep(0.01)")

    got = await asyncio.gather(*(ask(one, f"w{n}") for n in range(8)))

    assert got == [[f"notes/w{n}.md"] for n in range(8)]


async def test_waiting_for_others_that_ask_counts_as_time(daemon: Started) -> None:
    one = daemon("time.sleep(1.0 if asked == 'slow' else 0)")
    await ask(one, "a")
    slow = asyncio.ensure_future(ask(one, "slow"))
    await asyncio.sleep(0)

    with pytest.raises(DaemonLate):
        await ask(one, "b", within=0.2)

    assert await slow == ["notes/slow.md"]


async def test_one_that_was_idle_is_stopped_and_started_when_needed(
    daemon: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notewell.backends.qmd.daemon.IDLE_SECONDS", 0.1)
    one = daemon("pass")
    await ask(one, "a")
    pid = one.pid

    for _ in range(500):
        if one.pid is None:
            break
        await asyncio.sleep(0.01)

    assert one.pid is None
    assert await ask(one, "b") == ["notes/b.md"]
    assert one.pid != pid


@pytest.mark.parametrize("mood", ["pass", "time.sleep(60 if asked == 'hang' else 0)"])
def test_it_ends_when_we_are_killed_even_if_it_hangs(mood: str, tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(SERVER.format(mood=mood), encoding="utf-8")
    ours = (
        "import asyncio, os, sys\n"
        "from pathlib import Path\n"
        "from notewell.backends.qmd.daemon import Daemon\n"
        "async def main():\n"
        f"    one = Daemon((sys.executable, '-SE', {str(script)!r}),"
        " environ=os.environ, folder=Path.cwd())\n"
        "    await one.typed([('lex', 'a')], ['notes'], count=5, within=20)\n"
        "    print(one.pid, flush=True)\n"
        "    await one.typed([('lex', 'hang')], ['notes'], count=5, within=60)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", ours],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(notewell.__file__).parents[1])},
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as program:
        assert program.stdout is not None
        pid = int(program.stdout.readline())
        program.send_signal(signal.SIGKILL)

    for _ in range(500):
        try:
            os.kill(pid, 0)
            stat = Path(f"/proc/{pid}/stat")
            if stat.exists() and ") Z" in stat.read_text(encoding="utf-8"):
                break
        except ProcessLookupError:
            break
        time.sleep(0.01)
    else:
        raise AssertionError("the daemon outlived us")
