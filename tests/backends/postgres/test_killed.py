"""A writer that is killed leaves what was committed, and nothing of the rest."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.backends.postgres.conftest import NewStore
from tests.backends.postgres.test_store import fill

import notewell
from notewell.backends.postgres.store import PostgresStore

_FORKS = """
import os, signal, sys
from pathlib import Path
from notewell.backends.postgres.address import server_address
from notewell.backends.postgres.store import PostgresStore
from notewell.backends.remote.store import NoteRecord, Owner, PassageRecord
from notewell.config import PostgresSettings, Secret

dsn, space, locks = sys.argv[1:]

def write(turn):
    limits = PostgresSettings()
    address = server_address(Secret(dsn), limits)
    store = PostgresStore(
        address, None, limits, space=space, locks=Path(locks), stays=False
    )
    with store.writing(Owner("laptop", "main"), wait=None) as writer:
        number = writer.begin_generation("built so")
        for name in range(300):
            note = NoteRecord(path=f"{name}.md", signature=(1, 2, 3), digest=b"d")
            passage = PassageRecord(
                start_line=1, end_line=1, piece=False, heading="", length=2,
                row_length=2, digest=b"p", text=f"turn {turn}",
                weights={"turn": 5, f"t{turn}": 5},
            )
            writer.put_note(number, note, [passage])
            if name % 50 == 0:
                writer.commit()
        writer.publish(number, indexed_at=turn)

for line in sys.stdin:
    pid = os.fork()
    if not pid:
        write(int(line))
        signal.pause()
    print(pid, flush=True)
    os.waitpid(pid, 0)
    print("gone", flush=True)
"""


def kill_writers(dsn: str, store: PostgresStore, locks: Path, kills: int) -> set[int]:
    """Kill a writer so often, each a little later; return which turns were complete."""
    space = str(vars(store)["_space"])
    complete: set[int] = set()
    with subprocess.Popen(
        [sys.executable, "-u", "-c", _FORKS, dsn, space, str(locks)],
        env={**os.environ, "PYTHONPATH": str(Path(notewell.__file__).parents[1])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as forks:
        assert forks.stdin
        assert forks.stdout
        for turn in range(1, kills + 1):
            forks.stdin.write(f"{turn}\n")
            forks.stdin.flush()
            pid = int(forks.stdout.readline())
            time.sleep(0.012 * (turn % 20))
            os.kill(pid, signal.SIGKILL)  # where it has written all, it waits for that
            assert forks.stdout.readline() == "gone\n"
            with store.snapshot() as snapshot:
                [holding] = snapshot.holdings()
                texts = {
                    each.text
                    for each in snapshot.passages_of(
                        [each.id for each in snapshot.notes()]
                    )
                }
            assert len(texts) == 1
            assert holding.files == holding.passages == 300
            complete.add(int(texts.pop().removeprefix("turn ")))
        forks.stdin.close()
    return complete


def run(dsn: str, new_store: NewStore, tmp_path: Path, kills: int) -> None:
    store = new_store()
    store.prepare()
    fill(store, {f"{name}.md": "turn 0" for name in range(300)})

    kill_writers(dsn, store, tmp_path / "locks", kills)
    fill(store, {"last.md": "heron"})

    with store.snapshot() as snapshot:
        [holding] = snapshot.holdings()
        assert (holding.files, holding.building) == (1, None)
        assert snapshot.frequencies(["heron", "turn"]) == {"heron": 1}


def test_a_killed_writer_leaves_a_whole_index(
    dsn: str, new_store: NewStore, tmp_path: Path
) -> None:
    run(dsn, new_store, tmp_path, 20)


@pytest.mark.soak
def test_two_hundred_killed_writers_leave_a_whole_index(
    dsn: str, new_store: NewStore, tmp_path: Path
) -> None:
    run(dsn, new_store, tmp_path, 200)
