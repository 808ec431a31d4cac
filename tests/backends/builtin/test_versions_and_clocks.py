"""Two versions of notewell on one index, and a clock that jumps."""

import os
import random
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from tests.backends.conftest import finish

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook

NOTES = {f"memory/{n}.md": f"# Note {n}\n\nword{n} otter text\n" for n in range(20)}

OF_VERSION = """
import random
from notewell.backends.builtin import store, sync
store.SCHEMA_VERSION = sync.SCHEMA_VERSION = {version}
dice = random.Random({version})
for turn in range({turns}):
    engine = Engine(site)
    for number in dice.sample(range(20), 4):
        if dice.random() < 0.3:
            refresh(engine, force=dice.random() < 0.3)
        found = ask(engine, f"word{{number}}", 1)
        if [hit.path for hit in found.hits] != [f"memory/{{number}}.md"]:
            print("missed", turn, number, found)
        if any(step.reason not in ("version", "not-ready") for step in found.fallbacks):
            print("odd", turn, found.fallbacks)
    engine.status()
    engine.close()
"""
YEARS = 30 * 365 * 86_400


def take_turns(notebook: "Notebook", turns: int) -> list[str]:
    """Let an older, a newer and this version use one index at once."""
    notebook.write(NOTES)
    with ExitStack() as ending:
        both = [
            ending.enter_context(
                notebook.start(OF_VERSION.format(version=version, turns=turns))
            )
            for version in (1, 99)
        ]
        ends = [finish(process) for process in both]
    return [f"{code}: {out}{err}" for out, err, code in ends if code or out or err]


def test_two_versions_on_one_index_answer_what_is_there(notebook: "Notebook") -> None:
    assert take_turns(notebook, 3) == []

    report = notebook.refresh()

    assert (report.files, report.pending) == (len(NOTES), 0)
    assert not notebook.ask("word7").degraded


@pytest.mark.soak
def test_two_versions_take_many_turns_on_one_index(notebook: "Notebook") -> None:
    assert take_turns(notebook, 150) == []


def jump(notebook: "Notebook", monkeypatch: pytest.MonkeyPatch, turns: int) -> None:
    """Change notes under a clock that goes years to and fro; the index follows."""
    dice, real = random.Random(4), time.time
    notebook.write(NOTES)
    for turn in range(turns):
        shift = dice.uniform(-YEARS, YEARS)

        def shifted(by: float = shift) -> float:
            return real() + by

        def shifted_ns(by: float = shift) -> int:
            return int((real() + by) * 1e9)

        monkeypatch.setattr(time, "time", shifted)
        monkeypatch.setattr(time, "time_ns", shifted_ns)
        number = dice.randrange(20)
        notebook.write({f"memory/{number}.md": f"turn{turn:04} otter\n"})
        file = notebook.root / "memory" / f"{number}.md"
        os.utime(file, (max(0, shifted()), max(0, shifted())))

        report = notebook.refresh()

        assert (report.changed, report.pending) == (1 if turn else len(NOTES), 0)
        assert notebook.paths(f"turn{turn:04}", limit=1) == [f"memory/{number}.md"]
        assert notebook.engine.status().pending == 0


def test_an_index_follows_under_a_clock_that_jumps(
    notebook: "Notebook", monkeypatch: pytest.MonkeyPatch
) -> None:
    jump(notebook, monkeypatch, 15)


@pytest.mark.soak
def test_an_index_follows_long_under_a_clock_that_jumps(
    notebook: "Notebook", monkeypatch: pytest.MonkeyPatch
) -> None:
    jump(notebook, monkeypatch, 500)
