"""Transcripts of Claude Code and Codex: those of one project alone are found."""

import json
import os
from pathlib import Path

import pytest

from notewell.config.memory_schema import TranscriptSource
from notewell.sessions.programs import (
    ProgramTranscripts,
    list_program_transcripts,
    local_prefixes,
    program_file,
    project_name,
    sources_of,
)

ONE = "0b7fd1c2-7a51-4a3f-9a55-1e1c2f6f2f10"
TWO = "1c8fe2d3-8b62-4b40-8b66-2f2d3a7a3a21"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def claude(home: Path, project: Path, name: str, cwd: object = None) -> Path:
    """Write a transcript of Claude Code, whose first line says no folder."""
    file = home / ".claude" / "projects" / project_name(str(project)) / name
    file.parent.mkdir(parents=True, exist_ok=True)
    message = {"role": "user", "content": "hello"}
    line = {"type": "user", "cwd": cwd or str(project), "message": message}
    rows = [json.dumps({"type": "summary", "summary": "x"}), json.dumps(line)]
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return file


def codex(home: Path, cwd: Path, day: str, session: str) -> Path:
    """Write a transcript of Codex, whose first line is long."""
    folder = home / ".codex" / "sessions" / day
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"rollout-{day.replace('/', '-')}T10-00-00-{session}.jsonl"
    payload = {"id": session, "cwd": str(cwd), "base_instructions": "x" * 100_000}
    line = {"timestamp": "x", "type": "session_meta", "payload": payload}
    file.write_text(json.dumps(line) + "\n", encoding="utf-8")
    return file


def source(home: Path, program: str, project: Path, **more: bool) -> ProgramTranscripts:
    folder = home / (".claude" if program == "claude-code" else ".codex")
    return ProgramTranscripts(
        program=program, project=str(project), folder=folder, **more
    )


@pytest.mark.parametrize(
    ("project", "name"),
    [
        ("/home/me/my.notes", "-home-me-my-notes"),
        ("/home/é\U0001f600/x_y.z", "-home-----x-y-z"),
        ("/" + "a" * 250, "-" + "a" * 199 + "-feo44x"),
    ],
)
def test_a_project_is_named_as_claude_code_names_it(project: str, name: str) -> None:
    assert project_name(project) == name


def test_claude_code_is_read_of_the_folder_in_which_a_session_was_begun(
    home: Path,
) -> None:
    project = home / "a-b"
    file = claude(home, project, f"{ONE}.jsonl")
    claude(home, project, f"{TWO}.jsonl", str(home / "a" / "b"))  # of the same name
    claude(home, project, "agent-1.jsonl")
    claude(home, project, f"{ONE}/subagents/agent-2.jsonl")
    claude(home, home / "other", f"{TWO}.jsonl")

    [found] = list_program_transcripts([source(home, "claude-code", project)]).found

    assert found.file == str(file)
    assert (
        found.path == f"sessions/claude-code/{project_name(str(project))}/{ONE}.jsonl"
    )
    assert (found.session_id, found.session_key) == (ONE, None)


def test_codex_is_read_of_every_day_and_of_one_project(home: Path) -> None:
    project = home / "shop"
    first = codex(home, project, "2026/02/11", ONE)
    codex(home, project, "2026/03/01", TWO)
    codex(home, home / "other", "2026/03/01", ONE)
    codex(home, project / "below", "2026/03/02", ONE)

    found = list_program_transcripts([source(home, "codex", project)]).found

    assert [each.session_id for each in found] == [ONE, TWO]
    assert found[0].path == f"sessions/codex/2026/02/11/{first.name}"
    assert program_file([source(home, "codex", project)], found[0].path) == first
    assert (
        source(home, "codex", project).watched()[-1] == first.parents[2] / "03" / "02"
    )


@pytest.mark.parametrize("what", ["file", "folder", "projects"])
def test_links_are_not_followed(home: Path, what: str) -> None:
    project = home / "shop"
    file = claude(home, project, f"{ONE}.jsonl")
    moved = {"file": file, "folder": file.parent, "projects": file.parents[1]}[what]
    moved.rename(home / "elsewhere")
    moved.symlink_to(home / "elsewhere")

    found, skipped = list_program_transcripts([source(home, "claude-code", project)])

    assert found == ()
    assert [each.reason for each in skipped] == ["symlink"]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b'{"cwd": "/torn',
        b"nonsense\n" * 100,
        b'{"a": "' + b"x" * (5 * 1024 * 1024) + b'"}\n',
        b'{"cwd": 7}\n{"cwd": "relative"}\n{"cwd": "/a\\u0000b"}\n',
        b"[" * 100_000 + b"\n",
    ],
    ids=lambda raw: repr(raw[:12]),
)
def test_a_file_that_does_not_say_its_project_is_of_none(
    home: Path, raw: bytes
) -> None:
    claude(home, home / "shop", f"{ONE}.jsonl").write_bytes(raw)

    found = list_program_transcripts([source(home, "claude-code", home / "shop")])

    assert found == ((), ())


def test_pipes_and_names_that_are_none_are_passed_over(home: Path) -> None:
    folder = claude(home, home / "shop", f"{ONE}.jsonl").parent
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "folder.jsonl").mkdir()
    (folder / "packed.jsonl.zst").write_bytes(b"x")

    found, skipped = list_program_transcripts(
        [source(home, "claude-code", home / "shop")]
    )

    assert ([each.session_id for each in found], skipped) == ([ONE], ())


def test_no_path_leads_out_of_the_folder_of_a_source(home: Path) -> None:
    sources = [source(home, "claude-code", home / "shop")]

    name = project_name(str(home / "shop"))
    for path in (
        f"sessions/claude-code/{name}/../other/x.jsonl",
        "sessions/claude-code/other/x.jsonl",
        "sessions/claude-code//etc/passwd",
        "sessions/x.jsonl",
    ):
        assert program_file(sources, path) is None, path


def test_all_sources_of_a_program_have_to_allow_that_text_is_sent(home: Path) -> None:
    allowed = source(home, "codex", home / "a", remote=True)

    assert local_prefixes([]) == ("sessions/claude-code/", "sessions/codex/")
    assert local_prefixes([allowed]) == ("sessions/claude-code/",)
    assert "sessions/codex/" in local_prefixes(
        [allowed, source(home, "codex", home / "b")]
    )


def test_a_project_is_a_source_of_one_workspace(home: Path) -> None:
    mine, theirs, project = home / "mine", home / "theirs", home / "shop"
    configured = [
        TranscriptSource(program="codex", workspace=mine, project=project),
        TranscriptSource(program="codex", workspace=theirs, project=project),
        TranscriptSource(program="claude-code", workspace=theirs, project=project),
        TranscriptSource(program="codex", workspace=mine),
    ]

    found, told = sources_of(configured, mine)

    assert [each.project for each in found] == [str(project), str(mine)]
    [sentence] = told
    assert sentence.startswith("memory.transcripts[1] is left out")
    assert [each.program for each in sources_of(configured, theirs)[0]] == [
        "claude-code"
    ]
