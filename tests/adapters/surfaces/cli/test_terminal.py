"""What a person at a terminal gets. The program really runs on one (a pty)."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

Terminal: TypeAlias = Callable[..., str]
COMMAND = (
    sys.executable,
    "-c",
    "import sys; from notewell.adapters.surfaces.cli import main; sys.exit(main())",
)
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\]8;;[^\x1b]*\x1b\\")


@pytest.fixture
def terminal(environ: dict[str, str], notes: Path) -> Terminal:
    """Runs `notewell` on a terminal and returns all that it was sent."""

    def run(*words: str, columns: int = 80, **variables: str) -> str:
        near, far = pty.openpty()
        fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        child = subprocess.Popen(
            [*COMMAND, "--workspace", str(notes), *words],
            env={**environ, "TERM": "xterm-256color", **variables},
            stdin=far,
            stdout=far,
            stderr=far,
        )
        os.close(far)
        sent = _read_all(near)
        os.close(near)
        assert child.wait(timeout=300) == 0, sent
        return sent.decode("utf-8").replace("\r\n", "\n")

    return run


def _read_all(descriptor: int) -> bytes:
    sent = b""
    while True:
        try:
            piece = os.read(descriptor, 65536)
        except OSError:  # Linux says so when the last writer has gone
            return sent
        if not piece:
            return sent
        sent += piece


def plain(sent: str) -> str:
    return ESCAPES.sub("", sent)


def test_matches_stand_out_and_the_best_line_is_marked(terminal: Terminal) -> None:
    terminal("index")

    sent = terminal("search", "gateway port")

    assert "\x1b[1;33mgateway\x1b[0m \x1b[1;33mport\x1b[0m is 18789." in sent
    assert "▸ 3" in plain(sent)


def test_the_citation_is_a_link_to_the_file(terminal: Terminal, notes: Path) -> None:
    terminal("index")

    sent = terminal("search", "gateway")

    link = f"\x1b]8;;{(notes / 'MEMORY.md').as_uri()}\x1b\\"
    assert f"{link}\x1b[1mMEMORY.md#L1-L3\x1b[0m\x1b]8;;\x1b\\" in sent


@pytest.mark.parametrize(
    "variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "dumb"]
)
def test_no_escape_sequence_is_sent_where_none_is_wanted(
    variables: dict[str, str], terminal: Terminal
) -> None:
    terminal("index")

    assert "\x1b" not in terminal("search", "gateway", **variables)


def test_long_lines_are_wrapped_beside_their_numbers(
    terminal: Terminal, notes: Path
) -> None:
    words = " ".join(f"word{number}" for number in range(40))
    (notes / "memory" / "long.md").write_text(f"pelican {words}\n", encoding="utf-8")
    terminal("index")

    lines = plain(terminal("search", "pelican", columns=60)).splitlines()

    assert max(map(len, lines)) <= 60
    body = lines[1 : lines.index("")]
    assert body[0].startswith("  ▸ 1  pelican word0")
    assert all(line.startswith("       word") for line in body[1:])


def test_the_text_of_a_note_cannot_steer_the_terminal(
    terminal: Terminal, notes: Path
) -> None:
    hostile = "pelican \x1b]0;owned\x07\x1b[2J\x9b2J\u202e end\n"
    (notes / "memory" / "hostile.md").write_text(hostile, encoding="utf-8")
    terminal("index")

    for sent in (terminal("search", "pelican"), terminal("get", "memory/hostile.md")):
        rest = plain(sent)
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(rest)
        assert "\\x1b]0;owned\\x07\\x1b[2J\\x9b2J\\u202e end" in rest.replace(
            "\n       ", " "
        )
        assert "\x1b[2J" not in sent
        assert "\x1b]0" not in sent


def test_json_on_a_terminal_cannot_steer_it_either(
    terminal: Terminal, notes: Path
) -> None:
    hostile = "pelican \x1b[2J\x9b2J\u202e end\n"
    (notes / "memory" / "hostile.md").write_text(hostile, encoding="utf-8")
    terminal("index", "--json")

    sent = terminal("search", "pelican", "--json")

    assert not {"\x1b", "\x9b", "\u202e"} & set(sent)


def test_lines_of_a_note_are_numbered(terminal: Terminal) -> None:
    sent = terminal("get", "memory/2026-01-10.md", "--from", "3", "--lines", "1")

    assert sent == "\x1b[2m3\x1b[0m  ## Night\n"


def test_first_use_draws_a_bar_and_takes_it_away(terminal: Terminal) -> None:
    sent = terminal("search", "gateway")

    assert "First use: indexing" in sent
    assert "3/3" in plain(sent)
    last_erasure = sent.rindex("\x1b[2K")
    assert "indexing" not in sent[last_erasure:]
    assert "MEMORY.md#L1-L3" in sent[last_erasure:]


def test_a_dumb_terminal_gets_a_line_instead_of_a_bar(terminal: Terminal) -> None:
    sent = terminal("index", TERM="dumb")

    assert sent.startswith("Indexing 3 files …\n3 files, 3 passages")
    assert "\x1b" not in sent
