"""A writer that is killed tears no text: whoever writes next finishes it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import notewell
from notewell import open_memory_sync
from notewell.workspace import Workspace
from notewell.writing import AppendResult, append_note, finish_notes
from notewell.writing.journal import JournalEntry, NoteJournal
from notewell.writing.locks import state_file

LOG = "memory/2026-03-01.md"
TEXT = "\n".join(
    f"line {number} of a text that takes some room" for number in range(900)
)

KILLED_AT = """
import os, signal, sys
from pathlib import Path
from notewell.workspace import Workspace
from notewell.writing import append_note

root, at, size = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
note = root / "memory/2026-03-01.md"
write, fsync = os.write, os.fsync
syncs = 0

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def write_some(descriptor, data):
    if not os.path.samestat(os.fstat(descriptor), os.stat(note)):
        return write(descriptor, data)
    done = write(descriptor, data[:size])
    die()

def sync(descriptor):
    global syncs
    syncs += 1
    fsync(descriptor)
    if (at, syncs) in (("journal", 1), ("note", 2)):
        die()

if at == "write":
    os.write = write_some
else:
    os.fsync = sync
append_note(Workspace(root=root), "memory/2026-03-01.md", sys.stdin.read(),
            state_dir=root.parent / "state")
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with one log."""
    (tmp_path / "w" / "memory").mkdir(parents=True)
    (tmp_path / "w" / LOG).write_bytes(b"# Day\n")
    return tmp_path / "w"


def append(root: Path, text: str) -> AppendResult:
    workspace = Workspace(root=root)
    return append_note(workspace, LOG, text, state_dir=root.parent / "state")


def finish(root: Path) -> tuple[str, ...]:
    return finish_notes(Workspace(root=root), state_dir=root.parent / "state")


def kill_a_writer(root: Path, at: str, size: int = 0, text: str = TEXT) -> None:
    """Let a process append a text, which dies when it has come so far."""
    ran = subprocess.run(
        [sys.executable, "-c", KILLED_AT, root, at, str(size)],
        input=text,
        env={**os.environ, "PYTHONPATH": str(Path(notewell.__file__).parents[1])},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == -9, ran.stderr


@pytest.mark.parametrize(
    ("at", "size"),
    [
        *[("write", size) for size in (0, 1, 2, 16, 17, 8_192, 30_000)],
        ("note", 0),
    ],
)
@pytest.mark.parametrize("next_writer", ["index", "the same text", "another text"])
def test_the_next_writer_finishes_the_text_and_says_so(
    root: Path, at: str, size: int, next_writer: str
) -> None:
    kill_a_writer(root, at, size)

    if next_writer == "index":
        said = finish(root)
        other = ""
    elif next_writer == "the same text":
        appended = append(root, TEXT)
        said, other = appended.finished, ""
        assert not appended.written
    else:
        said, other = append(root, "another").finished, "\nanother\n"

    assert (root / LOG).read_text(encoding="utf-8") == f"# Day\n\n{TEXT}\n{other}"
    assert bool(said) == (at != "note")
    assert finish(root) == ()


@pytest.mark.parametrize("size", [0, 1, 20, 8_192, 30_000])
@pytest.mark.parametrize("between", [b"other\n", b"other", b"\n", b"line 0", b"\n\n"])
def test_the_whole_text_is_appended_below_what_another_program_wrote_meanwhile(
    root: Path, size: int, between: bytes
) -> None:
    kill_a_writer(root, "write", size)
    half = (root / LOG).read_bytes()
    with open(root / LOG, "ab") as opened:
        opened.write(between)

    [said] = finish(root)
    again = append(root, TEXT)

    after = (root / LOG).read_text(encoding="utf-8")
    assert after.startswith(half.decode("utf-8") + between.decode("utf-8"))
    assert f"\n{after}".count(f"\n{TEXT}\n") == 1
    assert said.startswith(LOG)
    assert not again.written


def test_a_text_is_finished_behind_what_was_appended_before_it(root: Path) -> None:
    state = state_file(root, root.parent / "state", "journal")
    raw = f"\n{TEXT}\n".encode()
    NoteJournal(state).begin(JournalEntry(path=LOG, text=TEXT, offset=6, raw=raw))
    with open(root / LOG, "ab") as opened:
        opened.write(b"other\n" + raw[:9_000])

    finish(root)

    assert (root / LOG).read_bytes() == b"# Day\nother\n" + raw


def test_a_kill_while_the_rest_is_appended_tears_nothing_either(root: Path) -> None:
    kill_a_writer(root, "write", 5_000)
    for size in (1, 5_000, 9_000):
        kill_a_writer(root, "write", size, text="- other")

    finish(root)

    assert (root / LOG).read_text(encoding="utf-8") == f"# Day\n\n{TEXT}\n"


def test_a_kill_before_the_journal_stands_leaves_nothing_behind(root: Path) -> None:
    kill_a_writer(root, "journal")
    left = sorted(each.name for each in (root.parent / "state" / "memory").iterdir())

    append(root, "new")

    assert (root / LOG).read_bytes() == b"# Day\n\nnew\n"
    [lock] = (root.parent / "state" / "memory").iterdir()
    assert len(left) == 2
    assert lock.suffix == ".lock"


def test_a_text_of_a_note_that_is_gone_is_not_lost(root: Path) -> None:
    kill_a_writer(root, "write", 5_000)
    (root / LOG).unlink()

    [said] = finish(root)

    assert (root / LOG).read_text(encoding="utf-8") == f"{TEXT}\n"
    assert "was appended" in said


def test_a_text_whose_note_became_a_link_is_kept_aside(root: Path) -> None:
    kill_a_writer(root, "write", 5_000)
    outside = root.parent / "outside.md"
    (root / LOG).rename(outside)
    (root / LOG).symlink_to(outside)
    before = outside.read_bytes()

    [said] = finish(root)

    kept = Path(said.rpartition(" in ")[2])
    assert json.loads(kept.read_text(encoding="utf-8"))["text"] == TEXT
    assert outside.read_bytes() == before
    assert finish(root) == ()


@pytest.mark.parametrize(
    "damage", [b"", b"{}", b"[1]", b'{"path":1}', b"\xff\xfe", b"{" * 100_000]
)
def test_a_journal_that_cannot_be_read_stops_nobody(root: Path, damage: bytes) -> None:
    journal = state_file(root, root.parent / "state", "journal")
    journal.parent.mkdir(parents=True)
    journal.write_bytes(damage)

    appended = append(root, "new")

    assert appended.written
    assert len(appended.finished) == 1
    assert (root / LOG).read_bytes() == b"# Day\n\nnew\n"


def test_a_journal_whose_bytes_were_changed_is_not_believed(root: Path) -> None:
    kill_a_writer(root, "write", 0)
    journal = state_file(root, root.parent / "state", "journal")
    stored = json.loads(journal.read_bytes())
    journal.write_text(json.dumps({**stored, "raw": "QUFBQQ=="}), encoding="utf-8")

    finish(root)

    assert (root / LOG).read_bytes() == b"# Day\n"


def test_an_index_run_and_a_flush_say_what_they_finished(root: Path) -> None:
    environ = {"OPENCLAW_STATE_DIR": str(root.parent / "state")}
    kill_a_writer(root, "write", 5_000)

    with open_memory_sync(workspace=root, environ=environ) as memory:
        found = memory.search("line")
        torn = (root / LOG).read_bytes()
        report = memory.refresh()
        whole = (root / LOG).read_bytes()
        kill_a_writer(root, "write", 10, text="line of another text")
        plan = memory.flush.plan()
        outcome = memory.flush.finish(plan, "- what the flush says")

    assert found.results
    assert len(torn) < len(whole)  # a search writes nothing
    assert any(LOG in warning for warning in report.warnings)
    assert outcome.succeeded
    assert [LOG in said for said in outcome.finished] == [True]


MANY_KILLS = """
import json, os, random, signal, sys, time
from pathlib import Path
from notewell.workspace import Workspace
from notewell.writing import append_note, finish_notes

root, rounds = Path(sys.argv[1]), int(sys.argv[2])
state, dice = root.parent / "state", random.Random(20261201)
workspace = Workspace(root=root)

def log(number):
    return f"memory/2026-{number // 200 + 1:02}-{number // 8 % 25 + 1:02}.md"

def text(number):
    lines = dice.choice([4, 200, 2_000, 20_000])
    body = "".join(f"{number} said {line}\\n" for line in range(lines))
    return f"begin {number}\\n{body}end {number}"

def write(number, said):
    append_note(workspace, log(number), said, state_dir=state)

def forked(work):
    child = os.fork()
    if child:
        return child
    try:
        work()
    finally:
        os._exit(0)

def other_program(number):  # which knows nothing of our locks
    with open(root / log(number), "ab", buffering=0) as opened:
        for line in range(12):
            opened.write(f"other {number}.{line}\\n".encode())
            time.sleep(0.0005)

def die_inside(file, size):  # when so much of the text stands in the note
    real = os.write
    def write_some(descriptor, data):
        if os.path.samestat(os.fstat(descriptor), os.stat(file)) and len(data) > size:
            real(descriptor, data[:size])
            os.kill(os.getpid(), signal.SIGKILL)
        return real(descriptor, data)
    os.write = write_some

def aim(child, target, file, before):
    # At the growth of the note, at the journal, or at any time at all.
    until = time.monotonic() + 2
    ends = time.monotonic() + dice.random() * 0.01
    while time.monotonic() < until and os.waitpid(child, os.WNOHANG) == (0, 0):
        if target == "note" and os.path.exists(file) and os.stat(file).st_size > before:
            break
        if target == "journal" and any((state / "memory").glob("*.journal")):
            break
        if target == "time" and time.monotonic() > ends:
            break
    else:
        return False
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True

found = dict(killed=0, half=0, torn=0, doubled=0, lost=0, missing=0)
for number in range(rounds):
    file, said = root / log(number), text(number)
    before = file.stat().st_size if file.exists() else 0
    target = dice.choice(["inside", "inside", "note", "journal", "time"])
    size = dice.randrange(len(said))
    def work():
        if target == "inside":
            die_inside(file, size)
        write(number, said)
    writer = forked(work)
    other = forked(lambda: other_program(number)) if number % 2 else None
    found["killed"] += target == "inside" or aim(writer, target, file, before)
    if target == "inside":
        os.waitpid(writer, 0)
    after = file.read_bytes() if file.exists() else b""
    found["half"] += f"begin {number}\\n".encode() in after and said.encode() not in after
    again = number % 3 == 0
    if again:
        write(number, said)
    elif number % 3 == 1:
        write(number, f"next {number}")
    else:
        finish_notes(workspace, state_dir=state)
    if other:
        os.waitpid(other, 0)
    after = file.read_bytes() if file.exists() else b""
    whole = (b"\\n" + after).count(b"\\n" + said.encode() + b"\\n")
    begun = f"begin {number}\\n".encode() in after
    found["doubled"] += whole > 1
    found["torn"] += begun and not whole
    found["missing"] += again and not whole
    if other:
        lines = [f"other {number}.{line}\\n".encode() for line in range(12)]
        found["lost"] += sum(after.count(line) != 1 for line in lines)
print(json.dumps(found))
"""


@pytest.mark.parametrize(
    "rounds", [30, pytest.param(1_000, marks=pytest.mark.soak)], ids=str
)
def test_kills_at_the_moment_of_writing_tear_double_and_lose_nothing(
    root: Path, rounds: int
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", MANY_KILLS, root, str(rounds)],
        env={**os.environ, "PYTHONPATH": str(Path(notewell.__file__).parents[1])},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["killed"] > rounds / 4
    assert (found["torn"], found["doubled"]) == (0, 0)
    assert (found["lost"], found["missing"]) == (0, 0)
    assert found["half"] > rounds / 10  # or nothing was aimed at
