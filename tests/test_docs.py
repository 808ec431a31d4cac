"""What the documents say is true: their code runs, their links lead somewhere."""

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "tests" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", [PAGES[0], *PAGES[3:]], ids=named)
def test_python_in_a_page_for_users_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(tmp_path))
    text = page.read_text(encoding="utf-8")

    for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        exec(compile(block, named(page), "exec"), {"__name__": "__page__"})  # noqa: S102


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_of_a_page_lead_to_files(page: Path) -> None:
    targets = re.findall(
        r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")
    )

    missing = [to for to in targets if not (page.parent / to).exists()]

    assert missing == []


def test_the_readme_begins_with_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")

    [first] = re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[:1]

    question = '"what did we decide about the backup retention?"'
    assert first.splitlines() == [
        f"bin/notewell search {question} --workspace docs/example",
        "bin/test",
    ]


def test_the_session_in_the_readme_is_what_the_command_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from notewell.adapters.surfaces.cli import main

    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(tmp_path))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [session] = re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    command, _, printed = session.partition("\n")

    code = main(shlex.split(command.removeprefix("$ bin/notewell ")))

    shown = capfd.readouterr().out
    assert code == 0
    assert shown.splitlines()[:-2] == printed.splitlines()
