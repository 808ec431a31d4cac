"""Which program is QMD, and what it says when it is none."""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from notewell.backends.qmd.program import Program, child_environment, find_program
from notewell.errors import BackendError, BackendFailed, BackendUnavailable

Script = Callable[[str, str], Path]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Writes a program, given its path and the Python that it is."""

    def write(path: str, text: str) -> Path:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!{sys.executable} -SE\n{text}\n", encoding="utf-8")
        file.chmod(0o755)
        return file

    return write


async def found(command: str | list[str], folder: Path, path: str = "") -> Program:
    words = [command] if isinstance(command, str) else command
    environ = {"PATH": path or str(folder)}
    return await find_program(words, environ, folder=folder, within=20)


async def test_a_program_that_is_not_there_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(
        BackendUnavailable, match="no program 'qmd' in 1 folders"
    ) as got:
        await found("qmd", tmp_path)

    assert "npm install -g @tobilu/qmd" in got.value.remedy


async def test_a_program_on_path_is_kept_by_its_whole_name(
    script: Script, tmp_path: Path
) -> None:
    file = script("bin/qmd", "print('qmd 2.8.3 (facd35e)')")

    program = await found("qmd", tmp_path, str(tmp_path / "bin"))

    assert program.command == (str(file),)
    assert program.version == "2.8.3"


@pytest.mark.parametrize(
    ("version", "typed", "literal", "daemon"),
    [
        ("1.1.6", False, False, False),
        ("2.1.0", True, False, False),
        ("2.5.3", True, False, True),
        ("2.8.3", True, True, True),
        ("3.0.0-beta.1", True, True, True),
        ("10.2.0", True, True, True),
    ],
)
async def test_what_a_version_can_do_is_known_from_its_number(
    version: str,
    typed: bool,
    literal: bool,
    daemon: bool,
    script: Script,
    tmp_path: Path,
) -> None:
    file = script("qmd", f"print('qmd {version}')")

    able = (await found(str(file), tmp_path)).abilities

    assert (able.typed, able.literal_paths, able.daemon) == (typed, literal, daemon)


async def test_a_version_that_is_too_old_names_the_one_to_install(
    script: Script, tmp_path: Path
) -> None:
    file = script("qmd", "print('qmd 1.0.7')")

    with pytest.raises(BackendFailed, match=r"version 1\.0\.7 is too old") as got:
        await found(str(file), tmp_path)

    assert got.value.reason == "version"
    assert "@tobilu/qmd@2.8.3" in got.value.remedy


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("print('something else')", "does not say its version"),
        ("raise SystemExit(3)", "does not say its version"),
        ("import os; os.kill(os.getpid(), 11)", "dies at its start .signal 11."),
        ("import time; time.sleep(30)", "no answer within 1 s"),
    ],
)
async def test_a_program_that_does_not_say_what_it_is_is_refused(
    text: str, said: str, script: Script, tmp_path: Path
) -> None:
    file = script("qmd", text)

    with pytest.raises(BackendError, match=said):
        await find_program([str(file)], os.environ, folder=tmp_path, within=1)


async def test_npms_launcher_is_left_out_and_a_fitting_node_taken(
    script: Script, tmp_path: Path
) -> None:
    package = "lib/node_modules/@tobilu/qmd"
    launcher = script(f"{package}/bin/qmd", "raise SystemExit('not me')")
    entry = script(f"{package}/dist/cli/qmd.js", "")
    answers = "import sys; print('v{}' if len(sys.argv) == 2 else 'qmd 2.8.3')"
    script("old/node", answers.format("20.20.2"))
    node = script("bin/node", answers.format("22.23.3"))
    (tmp_path / "bin" / "qmd").symlink_to(launcher)

    program = await found("qmd", tmp_path, f"{tmp_path / 'old'}:{tmp_path / 'bin'}")

    assert program.command == (str(node), str(entry))


async def test_a_node_that_is_too_old_is_named_before_it_crashes_without_a_word(
    script: Script, tmp_path: Path
) -> None:
    launcher = script("lib/node_modules/@tobilu/qmd/bin/qmd", "")
    script("lib/node_modules/@tobilu/qmd/dist/cli/qmd.js", "")
    script("path/node", "print('v20.20.2')")

    with pytest.raises(BackendUnavailable, match=r"needs Node 22 .* v20\.20\.2") as got:
        await found(str(launcher), tmp_path, str(tmp_path / "path"))

    assert "memory.qmd.command" in got.value.remedy


async def test_a_program_installed_by_bun_runs_as_bun_starts_it(
    script: Script, tmp_path: Path
) -> None:
    launcher = script("global/node_modules/@tobilu/qmd/bin/qmd", "print('qmd 2.8.3')")
    script("global/node_modules/@tobilu/qmd/dist/cli/qmd.js", "")
    (tmp_path / "global" / "bun.lock").touch()

    assert (await found(str(launcher), tmp_path)).command == (str(launcher),)


def test_a_child_inherits_neither_keys_nor_what_changes_its_start() -> None:
    given: Mapping[str, str] = {
        "PATH": "/bin",
        "HOME": "/home/ada",
        "QMD_EMBED_MODEL": "/models/x.gguf",
        "CI": "1",
        "NODE_OPTIONS": "--inspect",
        "INDEX_PATH": "/home/ada/mine.sqlite",
        "QMD_CONFIG_DIR": "/home/ada/.config/qmd",
        "OPENAI_API_KEY": "k",
        "HF_TOKEN": "k",
    }

    child = child_environment(given)

    assert {name for name in given if name in child} == {
        "PATH",
        "HOME",
        "QMD_EMBED_MODEL",
    }
    assert child["NO_COLOR"] == "1"


def test_offline_the_libraries_of_a_child_are_told_to_fetch_nothing() -> None:
    given = {"PATH": "/bin", "HF_HUB_OFFLINE": "0"}

    here, alone = child_environment(given), child_environment(given, offline=True)

    assert here["HF_HUB_OFFLINE"] == "0"
    assert "NODE_LLAMA_CPP_SKIP_DOWNLOAD" not in here
    assert alone["HF_HUB_OFFLINE"] == "1"
    assert alone["NODE_LLAMA_CPP_SKIP_DOWNLOAD"] == "true"
