"""`notewell index` and `notewell status`: counts that are counted."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.adapters.surfaces.conftest import Notewell


@pytest.fixture
def two_agents(notes: Path, tmp_path: Path) -> Path:
    """A configuration with two agents, each with its own notes."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "MEMORY.md").write_bytes(b"The other agent likes tea.\n")
    agents = [
        {"id": "main", "workspace": str(notes)},
        {"id": "tea", "workspace": str(other)},
    ]
    file = tmp_path / "openclaw.json"
    file.write_text(json.dumps({"agents": {"list": agents}}), encoding="utf-8")
    return file


def test_an_index_run_tells_what_it_left_behind(run: "Notewell") -> None:
    ran = run("index", "--json")

    assert ran.code == 0
    assert ran.value == {
        "files": 3,
        "chunks": 3,
        "embedded": 3,
        "pending": 0,
        "skipped": [],
        "localToRemote": False,
        "warnings": [],
    }


def test_people_get_a_sentence(run: "Notewell") -> None:
    ran = run("index")

    assert ran.code == 0
    assert ran.text.startswith("3 files, 3 passages, 3 with a vector; 3 changed; ")


def test_a_rebuild_leaves_the_same_index(run: "Notewell") -> None:
    run("index")

    ran = run("index", "--force", "--json")

    assert (ran.code, ran.value["files"]) == (0, 3)


def test_what_is_left_out_is_named_the_first_ten(run: "Notewell", notes: Path) -> None:
    for number in range(12):
        (notes / "memory" / f"link-{number:02}.md").symlink_to(notes / "MEMORY.md")

    ran, verbose = run("index"), run("index", "--verbose")

    assert ran.said.count("skipped: memory/link-") == 10
    assert "and 2 more" in ran.said
    assert verbose.said.count("skipped: memory/link-") == 12
    assert len(run("index", "--json").value["skipped"]) == 12


def test_all_agents_are_covered(run: "Notewell", two_agents: Path) -> None:
    indexed = run("index", "--json", "--config", str(two_agents), workspace=None)
    states = run("status", "--json", "--config", str(two_agents), workspace=None)

    assert [(item["agent"], item["files"]) for item in indexed.value["agents"]] == [
        ("main", 3),
        ("tea", 1),
    ]
    assert [item["agent"] for item in states.value["agents"]] == ["main", "tea"]


def test_one_agent_can_be_named(run: "Notewell", two_agents: Path) -> None:
    line = ["--json", "--config", str(two_agents), "--agent", "tea"]

    assert run("index", *line, workspace=None).value["files"] == 1
    assert run("status", *line, workspace=None).value["agent"] == "tea"


def test_an_agent_without_its_folder_does_not_hide_the_other(
    run: "Notewell", two_agents: Path, tmp_path: Path
) -> None:
    (tmp_path / "other" / "MEMORY.md").unlink()
    (tmp_path / "other").rmdir()

    for command in ("index", "status"):
        ran = run(command, "--json", "--config", str(two_agents), workspace=None)
        plain = run(command, "--config", str(two_agents), workspace=None)

        main, tea = ran.value["agents"]
        assert (ran.code, plain.code) == (1, 1)
        assert "error" not in main
        assert tea["error"]["type"] == "usage"
        assert "Traceback" not in plain.said


def test_status_before_any_index_builds_nothing(
    run: "Notewell", environ: dict[str, str]
) -> None:
    ran = run("status", "--deep", "--json")

    value = ran.value
    assert (value["diskFiles"], value["index"]["files"]) == (3, 0)
    assert value["index"]["indexedAt"] is None
    assert value["probe"]["ok"] is False
    assert not list(Path(environ["OPENCLAW_STATE_DIR"]).rglob("*.sqlite"))


def test_status_counts_what_has_changed_since(run: "Notewell", notes: Path) -> None:
    run("index")
    (notes / "memory" / "new.md").write_bytes(b"new\n")

    before = run("status", "--json").value
    plain = run("status").text
    after = run("status", "--index", "--json").value

    assert (before["diskFiles"], before["index"]["files"]) == (4, 3)
    assert before["index"]["pending"] == 1
    assert "3 of 4 files" in plain
    assert "1 pending: run `notewell index`" in plain
    assert (after["index"]["files"], after["index"]["pending"]) == (4, 0)


def test_status_of_a_complete_index_says_so(run: "Notewell") -> None:
    run("index")

    plain = run("status").text

    assert "3 of 3 files, 3 passages" in plain
    assert "up to date" in plain


def test_a_probe_shows_that_the_index_answers(run: "Notewell") -> None:
    run("index")

    probe = run("status", "--deep", "--json").value["probe"]

    assert (probe["ok"], probe["mode"]) == (True, "hybrid")


def test_an_extra_path_with_a_problem_is_shown(
    run: "Notewell", notes: Path, tmp_path: Path
) -> None:
    search = {"extraPaths": [str(tmp_path / "gone")]}
    defaults = {"workspace": str(notes), "memorySearch": search}
    file = tmp_path / "openclaw.json"
    file.write_text(json.dumps({"agents": {"defaults": defaults}}), encoding="utf-8")

    value = run("status", "--json", "--config", str(file), workspace=None).value
    plain = run("status", "--config", str(file), workspace=None).text

    assert value["extraPaths"][0]["problem"]
    assert "gone" in plain


def test_status_says_that_the_vectors_were_never_made(
    run: "Notewell", environ: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "openclaw.json"
    file.write_text('{memory: {search: {provider: "openai"}}}', encoding="utf-8")
    run("search", "anything", "--config", str(file))

    missing = run("status", "--config", str(file)).text
    environ["OPENAI_API_KEY"] = "sk-none"
    text = run("status", "--config", str(file)).text

    assert "                openai: none yet; run `notewell index`" in text.splitlines()
    assert "openai: none: openai: there is no API key; set OPENAI_API_KEY" in missing


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        ("{}", "builtin, by words and by meaning (static)"),
        ('{memory: {search: {provider: "none"}}}', "builtin, by words"),
        (
            '{memory: {search: {provider: "openai"}}}',
            "builtin, by words and by meaning (openai)",
        ),
        (
            '{memory: {backend: "qmd", fallback: "none"}}',
            "none: qmd does not answer",
        ),
    ],
    ids=["defaults", "words alone", "a provider", "an engine that is lacking"],
)
def test_status_names_only_what_is_in_use(
    text: str, engine: str, run: "Notewell", tmp_path: Path
) -> None:
    file = tmp_path / "openclaw.json"
    file.write_text(text, encoding="utf-8")

    lines = run("status", "--config", str(file)).text.splitlines()

    assert f"  engine        {engine}" in lines
    assert "  sources       memory" in lines


def test_index_tells_its_phases_when_it_is_asked_to(run: "Notewell") -> None:
    ran = run("index", "--verbose")

    lines = ran.said.splitlines()
    assert ran.code == 0
    assert "engine: builtin" in lines
    assert any(line.startswith("sources: memory; ") for line in lines)
    assert any(line.startswith("provider: static, ") for line in lines)
    assert "engine:" not in run("index").said


def test_the_habit_of_asking_a_host_for_its_memory_is_understood(
    run: "Notewell",
) -> None:
    assert run("memory", "status").text == run("status").text
    assert run("memory", "nothing").code == 2
