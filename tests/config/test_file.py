"""Which file is read, and what happens when it cannot be."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

import notewell
from notewell.config import Settings, load_settings
from notewell.errors import ConfigError

Load: TypeAlias = Callable[..., Settings]


def test_no_file_at_all_is_fine(load: Load) -> None:
    settings = load()

    assert settings.file is None
    assert settings.memory.backend == "builtin"
    assert [agent.id for agent in settings.agents] == ["main"]


@pytest.mark.parametrize("content", [b"", b" \n", b"\xef\xbb\xbf", b"// nothing yet\n"])
def test_an_empty_file_has_no_settings(load: Load, content: bytes) -> None:
    assert load(content).memory.backend == "builtin"


def test_a_byte_order_mark_is_skipped(load: Load) -> None:
    assert (
        load(b'\xef\xbb\xbf{"memory": {"citations": "off"}}').memory.citations == "off"
    )


def test_json5_is_understood(load: Load) -> None:
    settings = load("{ memory: { 'citations': \"on\", /* and */ offline: true, }, }")

    assert settings.memory.citations == "on"
    assert settings.memory.offline


def test_of_two_equal_keys_the_last_counts(load: Load) -> None:
    for text in ("{memory: 1, memory: {offline: true}}", '{"memory": 1, "memory": {}}'):
        assert load(text).memory.citations == "auto"


def test_half_a_surrogate_pair_is_read_where_it_is_not_ours(load: Load) -> None:
    settings = load(r"""{ ui: { name: "cut \ud83d" }, memory: { offline: true } }""")

    assert settings.memory.offline


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    missing = tmp_path / "nope.json"

    with pytest.raises(ConfigError, match=r"nope\.json: there is no such file"):
        load_settings(config_file=missing, environ={}, home=tmp_path)


def test_the_flag_beats_the_variable_and_the_variable_beats_the_state(
    load: Load, home: Path, tmp_path: Path
) -> None:
    load('{"memory": {"backend": "in-state"}}')
    variable, flag = tmp_path / "variable.json", tmp_path / "flag.json"
    variable.write_text('{"memory": {"backend": "by-variable"}}', encoding="utf-8")
    flag.write_text('{"memory": {"backend": "by-flag"}}', encoding="utf-8")
    environ = {"OPENCLAW_CONFIG_PATH": str(variable)}

    by_variable = load_settings(environ=environ, home=home)
    by_flag = load_settings(config_file=flag, environ=environ, home=home)

    assert by_variable.memory.backend == "by-variable"
    assert by_flag.memory.backend == "by-flag"


def test_a_missing_file_in_the_variable_is_a_warning(load: Load) -> None:
    settings = load(environ={"OPENCLAW_CONFIG_PATH": "/nope/openclaw.json"})

    [warning] = settings.warnings
    assert "/nope/openclaw.json, which does not exist" in warning


def test_the_state_folder_can_be_moved(tmp_path: Path, home: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (state / "openclaw.json").write_text(
        "{memory: {citations: 'on'}}", encoding="utf-8"
    )

    settings = load_settings(environ={"OPENCLAW_STATE_DIR": str(state)}, home=home)

    assert settings.state_dir == state
    assert settings.memory.citations == "on"
    assert settings.agent(None).search.store.path == state / "memory/main.sqlite"


def test_the_state_folder_may_start_with_a_tilde(load: Load, home: Path) -> None:
    settings = load(environ={"OPENCLAW_STATE_DIR": "~/elsewhere"})

    assert settings.state_dir == home / "elsewhere"


@pytest.mark.parametrize(
    ("text", "where", "problem"),
    [
        ("{\n  memory: {\n    backend: }\n}", "3:14", "expected a value"),
        ("{ memory: {}\n  agents: {} }", "2:3", "expected ',' or '}'"),
        ("{ memory: 'open\n }", "1:11", "the string that starts here is not closed"),
        ("{ memory: {}", "1:1", "the object that starts here is not closed"),
        ("{\n memory: [{},", "2:10", "the list that starts here is not closed"),
        ("/* no end", "1:1", "the comment that starts here is not closed"),
        ("{}\n\n /* no end", "3:2", "the comment that starts here is not closed"),
        ("{} {}", "1:4", "expected the end of the file, found '{'"),
        ("{} // {\n /* { */ {}", "2:10", "expected the end of the file, found '{'"),
        ("{\n memory: none }", "2:10", "a text needs quotes"),
        ("{ memory: nul", "1:11", "a text needs quotes"),
        ("{ memory 1 }", "1:10", "expected ':', found '1'"),
        ("{ , }", "1:3", "expected a key, found ','"),
        ("{ a: 1,, }", "1:8", "unexpected ','"),
        ("{ a: 1 / }", "1:8", "unexpected '/'"),
        ("{ a: 1.2.3 }", "1:6", "the number that starts here"),
        ("{ a: 1e400 }", "1:6", "the number that starts here is .* too large"),
        ("{ a: '\\u12' }", "1:8", "expected a hexadecimal digit, found"),
        ("{ '漢😀': }", "1:9", "expected a value, found '}'"),
        ("{ a: '\\ud83d', b: }", "1:19", "expected a value, found '}'"),
        ("{\r\n  a: }", "2:6", "expected a value"),
        ("{ a:\n" + "[" * 200, "2:200", "nested deeper than 200 levels"),
    ],
)
def test_broken_json5_is_named_by_line_and_column(
    load: Load, home: Path, text: str, where: str, problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem) as caught:
        load(text)

    assert caught.value.key == f"{home}/.openclaw/openclaw.json:{where}"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"[]", "holds a list"),
        (b'"text"', "holds a text"),
        (b'{"a": "\xff"}', r"not UTF-8 \(line 1\)"),
        ("{}".encode("utf-16"), "not UTF-8"),
        (rb"{a: '\Uffffffff'}", "an escape that stands for no character"),
        (b"{a:" * 100_000, "nested deeper"),
        (b"[" * 100_000, "nested deeper"),
        (b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}", "nested deeper"),
        (b'{"a": "' + b"x" * 5_000_000 + b'"}', "larger than 4 MB"),
    ],
)
def test_a_file_that_is_no_settings_file_says_so(
    load: Load, content: bytes, problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        load(content)


def test_a_folder_in_place_of_the_file_says_so(load: Load, home: Path) -> None:
    (home / ".openclaw/openclaw.json").mkdir(parents=True)

    with pytest.raises(ConfigError, match="is a folder"):
        load()


def test_a_pipe_in_place_of_the_file_is_not_waited_for(load: Load, home: Path) -> None:
    (home / ".openclaw").mkdir(parents=True)
    os.mkfifo(home / ".openclaw/openclaw.json")

    with pytest.raises(ConfigError, match="is not a file"):
        load()


def test_the_null_device_is_an_empty_file(home: Path) -> None:
    settings = load_settings(config_file=Path(os.devnull), environ={}, home=home)

    assert settings.file == Path(os.devnull)


UNREADABLE = """
import os, sys
from pathlib import Path
from notewell.config import load_settings
from notewell.errors import ConfigError
if os.getuid() == 0:
    os.setuid(65534)
try:
    load_settings(config_file=Path(sys.argv[1]), environ={}, home=Path("/"))
except ConfigError as exc:
    print(exc)
"""


def test_an_unreadable_file_says_so(tmp_path: Path) -> None:
    file = tmp_path / "openclaw.json"
    file.write_text("{}", encoding="utf-8")
    file.chmod(0)
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)

    run = [sys.executable, "-c", UNREADABLE, str(file)]
    answer = subprocess.run(
        run,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(Path(notewell.__file__).parents[1])},
        check=True,
    )

    assert "cannot be read (Permission denied)" in answer.stdout
