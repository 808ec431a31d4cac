"""Commands that a program with an open engine runs for others, and when it does not."""

import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import pytest

import notewell
from notewell import open_memory_sync, private_socket
from notewell.adapters.surfaces import warm
from notewell.adapters.surfaces.cli import main
from notewell.adapters.surfaces.cli.serving import CommandServer
from notewell.adapters.surfaces.warm import served_elsewhere
from notewell.memory.setup import set_up

Outcome: TypeAlias = tuple[int | None, str, str]

_TOOK = re.compile(r'"tookMs":[\d.]+|[\d,.]+ m?s$', re.MULTILINE)
_PEER = "notewell.adapters.surfaces.cli.serving.peer_user"


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody gives up for want of time: this machine may be busy."""
    monkeypatch.setattr("notewell.private_socket._HELLO_SECONDS", 300.0)
    monkeypatch.setattr("notewell.adapters.surfaces.warm._AGREES_SECONDS", 300.0)
    monkeypatch.setattr("notewell.adapters.surfaces.cli.serving._PATIENCE", 300.0)


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An indexed folder of notes, in an environment of its own."""
    runtime = tempfile.mkdtemp(
        prefix="nw"
    )  # short: a socket has 100 bytes for its path
    home = tmp_path / "home"
    home.mkdir()
    for name in list(os.environ):
        if name.startswith(("OPENCLAW", "NOTEWELL")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(home / "state"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
    monkeypatch.setenv("CI", "1")
    folder = tmp_path / "notes"
    (folder / "memory").mkdir(parents=True)
    note = folder / "memory" / "2026-01-10.md"
    note.write_text("# Gate\n\nThe heron nests at gate four.\n", encoding="utf-8")
    (folder / "MEMORY.md").write_text("The heron is Ada.\n", encoding="utf-8")
    with open_memory_sync(workspace=folder) as memory:
        memory.refresh()
    monkeypatch.chdir(folder)
    yield folder
    shutil.rmtree(runtime)


def server_of(notes: Path) -> CommandServer:
    setup = set_up(
        workspace=notes,
        agent=None,
        config=None,
        backend=None,
        server=True,
        environ=dict(os.environ),
        overrides={},
    )
    return CommandServer(setup)


@pytest.fixture
def server(notes: Path) -> Iterator[CommandServer]:
    """A server for the notes."""
    with server_of(notes) as made:
        yield made


@pytest.fixture
def written(capfd: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Runs a command, and returns its code and what was written, without times."""

    def run(command: Callable[..., int | None], *words: str) -> Outcome:
        capfd.readouterr()
        code = command(words)
        out, err = capfd.readouterr()
        return code, _TOOK.sub("", out), err

    return run


def own_process(words: tuple[str, ...]) -> int:
    kept = os.dup(1), os.dup(2)  # a search lets go of them when it has answered
    try:
        return main(words)
    finally:
        for place, copy in enumerate(kept, start=1):
            os.dup2(copy, place)
            os.close(copy)


def test_what_a_server_answers_is_what_the_command_itself_answers(
    server: CommandServer, notes: Path, written: Callable[..., Outcome]
) -> None:
    place = ("--workspace", str(notes))
    group = ("--session-key", "agent:main:discord:group:7")
    lines = [
        ("search", "heron", "--json", *place),
        (*place, "search", "where", "does", "the", "heron", "nest?"),
        ("search", "heron", "--format", "markdown", *place),
        ("search", "heron", "--json", *group, *place),
        ("search", "zzgx", *place),
        ("search", "--on", "2026-01-10", "", "--json", "--workspace", "."),
        ("recent", "--json", *place),
        ("get", "MEMORY.md", *place),
        ("get", "no such note", "--json", *place),
    ]

    for words in lines:
        assert written(served_elsewhere, *words) == written(own_process, *words)

    assert server.served == len(lines)


def test_a_group_sees_through_a_server_what_a_group_sees(
    server: CommandServer, notes: Path, written: Callable[..., Outcome]
) -> None:
    line = ("search", "heron", "Ada", "--json", "--workspace", str(notes))
    group = ("--session-key", "agent:main:discord:group:7")

    _, owner, _ = written(served_elsewhere, *line)
    _, shared, _ = written(served_elsewhere, *line, *group)

    assert "MEMORY.md" in owner
    assert "MEMORY.md" not in shared
    assert "2026-01-10.md" in shared


@pytest.mark.parametrize(
    "words",
    [
        ("remember", "search", "for", "herons"),
        ("index", "--workspace", "search"),
        ("search", "--nonsense", "heron"),
        ("search", "heron", "--verbose"),
        ("search", "heron", "--backend", "nobody"),
        ("search", "heron", "--agent", "other"),
        ("search", "heron", "--workspace", "/"),
        ("get", "../../secret.md"),
        ("help", "search"),
        ("status", "--json"),
    ],
)
def test_what_is_not_surely_the_same_is_declined_and_nothing_is_written(
    words: tuple[str, ...],
    server: CommandServer,
    notes: Path,
    written: Callable[..., Outcome],
) -> None:
    place = () if "--workspace" in words else ("--workspace", str(notes))

    assert written(served_elsewhere, *words, *place) == (None, "", "")
    assert server.served == 0
    assert not list((notes / "memory").glob("*heron*"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NOTEWELL_OFFLINE", "1"),
        ("OPENAI_API_KEY", "sk-another"),
        ("OPENCLAW_PROFILE", "other"),
        ("TZ", "Pacific/Auckland"),
    ],
)
def test_another_environment_is_declined(
    name: str,
    value: str,
    server: CommandServer,
    notes: Path,
    written: Callable[..., Outcome],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(name, value)

    line = ("search", "heron", "--workspace", str(notes))
    assert written(served_elsewhere, *line) == (None, "", "")


def test_settings_that_changed_since_the_server_began_are_declined(
    server: CommandServer,
    notes: Path,
    written: Callable[..., Outcome],
) -> None:
    state = Path(os.environ["OPENCLAW_STATE_DIR"])
    off = '{"memory": {"search": {"provider": "none"}}}'
    line = ("search", "heron", "--json", "--workspace", str(notes))
    before = written(served_elsewhere, *line)
    (state / "openclaw.json").write_text(off, encoding="utf-8")

    assert before[0] == 0
    assert written(served_elsewhere, *line) == (None, "", "")


def test_the_socket_and_its_folder_are_closed_to_others(server: CommandServer) -> None:
    assert server.path
    modes = [
        stat.S_IMODE(os.stat(p).st_mode)
        for p in (server.path, Path(server.path).parent)
    ]

    assert modes == [0o600, 0o700]


def test_a_folder_that_others_may_enter_is_not_used(notes: Path) -> None:
    folder = Path(os.environ["XDG_RUNTIME_DIR"], "notewell")
    folder.mkdir()
    folder.chmod(0o755)

    with server_of(notes) as server:
        assert server.path is None
    assert private_socket.socket_folder(os.environ) is None


def test_a_path_too_long_for_a_socket_means_no_socket(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = Path(os.environ["XDG_RUNTIME_DIR"], "x" * 90)
    long.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(long))

    with server_of(notes) as server:
        assert server.path is None


@pytest.mark.parametrize("side", ["notewell.private_socket.peer_user", _PEER])
def test_another_user_at_the_other_end_is_not_spoken_to(
    side: str,
    server: CommandServer,
    notes: Path,
    written: Callable[..., Outcome],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def somebody(_connection: object) -> int:
        return os.getuid() + 1

    monkeypatch.setattr(side, somebody)

    line = ("search", "heron", "--workspace", str(notes))
    assert written(served_elsewhere, *line) == (None, "", "")


def test_a_frame_of_garbage_harms_neither_the_server_nor_the_next_command(
    server: CommandServer, notes: Path, written: Callable[..., Outcome]
) -> None:
    assert server.path
    for garbage in (b"\xff\xff\xff\xff", b"\0\0\0\3abc", b"\0\0\0\7a\0b\0c\0d", b""):
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(server.path)
            caller.recv(len(private_socket.HELLO))
            caller.sendall(garbage)

    assert (
        written(served_elsewhere, "search", "heron", "--workspace", str(notes))[0] == 0
    )


def answering(path: str, *said: bytes) -> threading.Thread:
    """Listen at a path, and say that to whoever connects; then close."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()

    def answer() -> None:
        with listener:
            connection, _ = listener.accept()
            with connection, suppress(OSError):  # whoever has heard enough leaves
                for part in said:
                    connection.sendall(part)
                connection.recv(1 << 20)

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize(
    "said",
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n" + b" " * 100,),
        (private_socket.HELLO.replace(b"notewell 1", b"notewell 0"),),
        (private_socket.HELLO,),
        (private_socket.HELLO, private_socket.TAKEN),
        (private_socket.HELLO, b"Y\xff\xff\xff\xff"),
        (private_socket.HELLO, b"Y\0\0\0\7\0\1\0\0\0\77x"),
    ],
)
def test_a_server_that_speaks_wrongly_or_dies_leaves_the_command_to_itself(
    said: tuple[bytes, ...], notes: Path, written: Callable[..., Outcome]
) -> None:
    folder = private_socket.create_socket_folder(os.environ)
    assert folder
    path = os.path.join(folder, private_socket.socket_name(os.environ, 1))
    thread = answering(path, *said)

    assert written(served_elsewhere, "search", "heron") == (None, "", "")
    thread.join()


def test_a_server_that_hangs_and_a_socket_without_one_are_left_at_once(
    notes: Path, written: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = private_socket.create_socket_folder(os.environ)
    assert folder
    monkeypatch.setattr("notewell.private_socket._HELLO_SECONDS", 0.1)
    asked: list[str] = []

    def connected(path: str) -> object:
        asked.append(path)
        return private_socket.connected(path)

    monkeypatch.setattr(warm, "connected", connected)
    paths = [
        os.path.join(folder, private_socket.socket_name(os.environ, process))
        for process in (1, 2)
    ]
    with socket.socket(socket.AF_UNIX) as dead, socket.socket(socket.AF_UNIX) as hangs:
        dead.bind(paths[0])
        dead.close()
        hangs.bind(paths[1])
        hangs.listen()

        assert written(served_elsewhere, "search", "heron") == (None, "", "")

    assert sorted(asked) == paths


def test_a_socket_that_was_left_behind_is_cleared_away(notes: Path) -> None:
    folder = private_socket.create_socket_folder(os.environ)
    assert folder
    left = Path(folder, private_socket.socket_name(os.environ, 2**22 + 1))
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(left))

    with server_of(notes) as server:
        assert not left.exists()
        assert server.path
        assert Path(server.path).exists()
    assert not Path(server.path).exists()


def test_status_shows_the_socket_and_how_many_commands_it_served(
    server: CommandServer, notes: Path, written: Callable[..., Outcome]
) -> None:
    written(served_elsewhere, "search", "heron", "--workspace", str(notes))

    with open_memory_sync(workspace=notes) as memory:
        report = memory.status()

    assert report.sockets == {server.path: 1}


def test_a_watch_serves_a_search_from_the_shell_and_says_so(notes: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": str(Path(notewell.__file__).parents[1])}
    line = [sys.executable, "-P", "-m", "notewell"]
    place = ["--workspace", str(notes)]
    watch = subprocess.Popen(
        [*line, "watch", *place], env=environ, stdout=subprocess.PIPE, encoding="utf-8"
    )
    assert watch.stdout
    assert "watching" in watch.stdout.readline()
    while "2 files" not in watch.stdout.readline():
        pass

    program = (
        "import sys, os\n"
        "from notewell import private_socket\n"
        "from notewell.adapters.surfaces import warm\n"
        "private_socket._HELLO_SECONDS = warm._AGREES_SECONDS = 300\n"
        "from notewell.adapters.surfaces.warm import served_elsewhere\n"
        "code = served_elsewhere(sys.argv[1:])\n"
        "print(code, *sorted(sys.modules), file=sys.stderr)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-P", "-c", program, "search", "heron", *place],
        env=environ,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    watch.send_signal(signal.SIGTERM)
    last = watch.communicate(timeout=300)[0]

    code, *modules = ran.stderr.split()
    assert code == "0"
    assert "The heron" in ran.stdout
    assert "stopped, 1 command served" in last
    assert [name for name in modules if name.startswith("notewell")] == [
        "notewell",
        "notewell._version",
        "notewell.adapters",
        "notewell.adapters.surfaces",
        "notewell.adapters.surfaces.warm",
        "notewell.private_socket",
    ]
    assert {"click", "dataclasses", "apsw", "socket", "pathlib"}.isdisjoint(modules)
