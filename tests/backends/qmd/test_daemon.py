"""The daemon that stays: late answers, deaths and nonsense do not reach the next one."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
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
def daemon(tmp_path: Path) -> Iterator[Started]:
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
        one.close()


def ask(daemon: Daemon, word: str, within: float = 20.0) -> list[str]:
    found = daemon.typed([("lex", word)], ["notes"], count=5, within=within)
    return [f"{one.collection}/{one.path}" for one in found]


def test_one_process_answers_question_after_question(daemon: Started) -> None:
    one = daemon("pass")

    assert ask(one, "a") == ["notes/a.md"]
    pid = one.pid
    assert ask(one, "b") == ["notes/b.md"]
    assert one.pid == pid


def test_an_answer_that_comes_too_late_is_not_taken_for_the_next(
    daemon: Started,
) -> None:
    one = daemon("time.sleep(1.0 if asked == 'slow' else 0)")
    ask(one, "a")
    pid = one.pid

    with pytest.raises(DaemonLate):
        ask(one, "slow", within=0.2)

    assert ask(one, "b") == ["notes/b.md"]
    assert one.pid == pid


def test_one_that_answers_nothing_for_long_is_stopped(
    daemon: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notewell.backends.qmd.daemon._HUNG_SECONDS", 0.1)
    one = daemon("time.sleep(60 if asked == 'hang' else 0)")
    ask(one, "a")

    for _ in range(2):
        with pytest.raises(DaemonLate):
            ask(one, "hang", within=0.2)

    assert one.pid is None
    assert ask(one, "b") == ["notes/b.md"]


def test_a_question_that_is_called_off_is_not_waited_for(daemon: Started) -> None:
    one = daemon("time.sleep(60 if asked == 'hang' else 0)")
    ask(one, "a")
    stop = threading.Event()
    stop.set()

    with pytest.raises(DaemonLate):
        one.typed([("lex", "hang")], ["notes"], count=5, within=20, stop=stop)


def test_one_that_dies_over_a_question_is_started_again(daemon: Started) -> None:
    one = daemon("sys.exit() if asked == 'die' else None")
    ask(one, "a")

    with pytest.raises(DaemonFailed, match="it ended"):
        ask(one, "die")

    assert ask(one, "b") == ["notes/b.md"]


def test_noise_between_the_answers_is_passed_over(daemon: Started) -> None:
    one = daemon("print('[node-llama-cpp] hello\\\\n{{}}\\\\n[1]', flush=True)")

    assert ask(one, "a") == ["notes/a.md"]


def test_questions_of_several_threads_get_their_own_answers(daemon: Started) -> None:
    one = daemon("time.sleep(0.01)")
    got: dict[str, list[str]] = {}

    def put(word: str) -> None:
        got[word] = ask(one, word)

    threads = [threading.Thread(target=put, args=(f"w{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert got == {f"w{n}": [f"notes/w{n}.md"] for n in range(8)}


def test_one_that_was_idle_is_stopped_and_started_when_needed(
    daemon: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notewell.backends.qmd.daemon.IDLE_SECONDS", 0.1)
    one = daemon("pass")
    ask(one, "a")
    pid = one.pid

    for _ in range(500):
        if one.pid is None:
            break
        threading.Event().wait(0.01)

    assert one.pid is None
    assert ask(one, "b") == ["notes/b.md"]
    assert one.pid != pid


def test_it_ends_by_itself_when_we_are_killed(tmp_path: Path) -> None:
    # Its input closes with us: that is how `qmd mcp` learns that nobody is there.
    script = tmp_path / "server.py"
    script.write_text(SERVER.format(mood="pass"), encoding="utf-8")
    ours = (
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "from notewell.backends.qmd.daemon import Daemon\n"
        f"one = Daemon((sys.executable, '-SE', {str(script)!r}), environ=os.environ,"
        " folder=Path.cwd())\n"
        "one.typed([('lex', 'a')], ['notes'], count=5, within=20)\n"
        "print(one.pid, flush=True)\n"
        "time.sleep(60)\n"
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
        threading.Event().wait(0.01)
    else:
        raise AssertionError("the daemon outlived us")
