"""What the documents say is true: their code runs, their links lead somewhere."""

import re
import shlex
import tomllib
import typing
from dataclasses import fields
from pathlib import Path

import pytest

import notewell
from notewell import errors, types
from notewell.adapters.surfaces.tools.definitions import reference_chapters
from notewell.backends.text.analysis import terms_of
from notewell.config import load_settings

ROOT = Path(__file__).resolve().parents[1]
DOCS = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if ROOT / "docs" / "example" not in page.parents
]
FOR_USERS = [ROOT / "README.md", *DOCS]
PAGES = [*FOR_USERS, ROOT / "CONTRIBUTING.md", ROOT / "tests" / "README.md"]


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    """Return the fenced blocks of a language, also those inside of a list."""
    found = re.findall(
        rf"^( *)```{language}\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE
    )
    return [
        re.sub(f"^{margin}", "", block, flags=re.MULTILINE) for margin, block in found
    ]


@pytest.mark.parametrize("page", FOR_USERS, ids=named)
def test_python_in_a_page_for_users_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(tmp_path))

    for block in blocks(page.read_text(encoding="utf-8"), "python"):
        exec(compile(block, named(page), "exec"), {"__name__": "__page__"})  # noqa: S102


@pytest.mark.parametrize("page", FOR_USERS, ids=named)
def test_configuration_in_a_page_for_users_loads_without_a_warning(
    page: Path, tmp_path: Path
) -> None:
    file = tmp_path / "openclaw.json"

    for block in blocks(page.read_text(encoding="utf-8"), "json5"):
        own = "notewell.json5" in block.partition("\n")[0]
        if own or block.startswith("{"):  # the others are a part of one
            file.write_text("{}" if own else block, encoding="utf-8")
            (tmp_path / "notewell.json5").write_text(
                block if own else "", encoding="utf-8"
            )
            environ = dict.fromkeys(re.findall(r"env:(\w+)", block), "a key")
            environ["OPENCLAW_STATE_DIR"] = str(tmp_path)
            settings = load_settings(
                config_file=file, environ=environ, home=tmp_path, overrides={}
            )
            assert settings.warnings == ()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_of_a_page_lead_to_files(page: Path) -> None:
    text = re.sub(r"`[^`\n]+`", "", page.read_text(encoding="utf-8"))
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)

    missing = [to for to in targets if not (page.parent / to).exists()]

    assert missing == []


def test_the_readme_begins_with_the_two_commands() -> None:
    [first] = blocks(read("README.md"), "sh")[:1]

    question = '"what did we decide about the backup retention?"'
    assert first.splitlines() == [
        f"bin/notewell search {question} --workspace docs/example",
        "bin/test",
    ]


SESSIONS = blocks(read("README.md"), "console")


@pytest.mark.parametrize("offline", ["0", "1"])
@pytest.mark.parametrize("session", SESSIONS)
def test_a_session_in_the_readme_is_what_the_command_prints(
    session: str,
    offline: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    from notewell.adapters.surfaces.cli import main

    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("NOTEWELL_OFFLINE", offline)
    command, _, printed = session.partition("\n")

    code = main(shlex.split(command.removeprefix("$ bin/notewell ")))

    shown = capfd.readouterr().out
    assert code == 0
    assert shown.splitlines()[:-2] == printed.splitlines()


def test_the_first_session_in_the_readme_is_answered_in_other_words() -> None:
    words = terms_of(shlex.split(SESSIONS[0].partition("\n")[0])[3])

    notes = (ROOT / "docs/example").rglob("*.md")

    for note in notes:
        assert not words & terms_of(note.read_text(encoding="utf-8")), note


def test_clients_are_told_of_the_server_as_in_the_readme() -> None:
    readme, guide = read("README.md"), read("docs/how-to/agents.md")

    assert sorted(blocks(readme, "json")) == sorted(blocks(guide, "json"))
    for command in re.findall(r"`(\w+ mcp add .*)`", readme):
        assert f"{command}\n" in blocks(guide, "sh")


def test_the_readme_installs_as_the_guide_does() -> None:
    _, ways, path = blocks(read("README.md"), "sh")

    assert [ways, path] == blocks(read("docs/how-to/install.md"), "sh")[:2]


def test_without_ready_packages_every_dependency_is_named() -> None:
    """A dependency that was added to the project is added to the guide for musl, too."""
    project = tomllib.loads(read("pyproject.toml"))["project"]
    without = {"sqlite-vec", "wordllama"}

    needed = {re.split(r"[=<>; ]", each)[0] for each in project["dependencies"]}

    [listed] = [
        block
        for block in blocks(read("docs/how-to/install.md"), "sh")
        if "--no-deps" in block
    ]
    named = {re.split(r"[=<>]", each)[0] for each in shlex.split(listed)}
    assert needed - without <= named


def test_excerpts_of_the_example_plugin_stand_in_it() -> None:
    guide = read("docs/how-to/plugin.md")
    plugin = [
        file.read_text(encoding="utf-8")
        for file in (ROOT / "examples" / "plugin").rglob("*")
        if file.suffix in (".py", ".toml")
    ]

    excerpts = [*blocks(guide, "py"), *blocks(guide, "toml")]

    assert len(excerpts) == 5
    assert all(any(each in file for file in plugin) for each in excerpts)


def test_the_reference_has_every_public_name() -> None:
    pages = read("docs/reference/python.md") + read("docs/reference/errors.md")

    documented = re.findall(r"^::: notewell\.(?:errors\.)?(\w+)$", pages, re.MULTILINE)

    public = {*notewell.__all__} - {"__version__"}
    assert public - {*documented} == set()
    assert {*documented} - public == {"EmbeddingError"}  # caught as a BackendError


def test_the_tree_of_errors_is_the_one_in_the_code() -> None:
    [tree] = blocks(read("docs/reference/errors.md"), "text")

    assert errors.__doc__ is not None
    assert tree in errors.__doc__


def test_the_tools_are_described_as_the_code_has_them() -> None:
    page = read("docs/reference/tools.md")

    begin, end = "<!-- made from the code -->\n", "<!-- end -->"

    assert page.partition(begin)[2].partition(end)[0] == reference_chapters()


@pytest.mark.parametrize(
    "shape", [types.SearchAnswer, types.Hit, types.Fallback, types.Document]
)
def test_the_page_of_answers_has_every_field(shape: type[types.SearchAnswer]) -> None:
    page = read("docs/answers.md")

    names = [_camel(each.name) for each in fields(shape)]

    assert [name for name in names if f"`{name}`" not in page] == []


@pytest.mark.parametrize(
    "vocabulary",
    [types.Mode, types.EmptyReason, types.FallbackKind, types.FallbackReason],
)
def test_the_page_of_answers_has_every_word(vocabulary: object) -> None:
    page = read("docs/answers.md")

    words = typing.get_args(vocabulary)

    assert [word for word in words if f"`{word}`" not in page] == []


def _camel(name: str) -> str:
    first, *others = name.rstrip("_").split("_")
    return first + "".join(word.title() for word in others)
