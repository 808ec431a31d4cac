"""Which transcripts an agent has: its own, live and set aside."""

import json
from pathlib import Path

import pytest

from notewell.sessions import list_transcripts
from notewell.sessions.files import session_of

STAMP = "2026-01-01T04-00-00.000Z"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the sessions of `main` are; its state folder is `tmp_path`."""
    folder = tmp_path / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("a.jsonl", ("a", "live")),
        ("a-topic-7.jsonl", ("a-topic-7", "live")),
        (f"a.jsonl.reset.{STAMP}", ("a", "reset")),
        ("a.jsonl.reset.2026-01-01T04", ("a", "reset")),
        (f"a.jsonl.deleted.{STAMP}", ("a", "deleted")),
        ("keep.reset.x.jsonl", ("keep.reset.x", "live")),
        (f"a.jsonl.bak.{STAMP}", None),
        ("a.checkpoint.3f2504e0-4f89-11d3-9a0c-0305e82c3301.jsonl", None),
        ("a.trajectory.jsonl", None),
        ("sessions.json", None),
        (".jsonl", None),
        (".a.jsonl", None),
        ("a.jsonl.lock", None),
    ],
)
def test_a_name_says_what_a_file_is(name: str, meant: object) -> None:
    assert session_of(name) == meant


def test_live_and_reset_transcripts_are_found_with_their_conversations(
    folder: Path, tmp_path: Path
) -> None:
    names = ["a.jsonl", f"a.jsonl.reset.{STAMP}", "b.jsonl", f"b.jsonl.deleted.{STAMP}"]
    for name in names:
        (folder / name).write_bytes(b"{}\n")
    store = {
        "agent:main:main": {"sessionId": "a"},
        "agent:main:x:group:1": {"sessionId": "z", "sessionFile": "/else/b.jsonl"},
    }
    (folder / "sessions.json").write_text(json.dumps(store), encoding="utf-8")

    found, skipped = list_transcripts(tmp_path, "main")

    assert [(each.path, each.kind, each.session_key) for each in found] == [
        ("sessions/a.jsonl", "live", "agent:main:main"),
        (f"sessions/a.jsonl.reset.{STAMP}", "reset", "agent:main:main"),
        ("sessions/b.jsonl", "live", "agent:main:x:group:1"),
    ]
    assert [each.size for each in found] == [3, 3, 3]
    assert skipped == ()


def test_deleted_sessions_are_read_on_request(folder: Path, tmp_path: Path) -> None:
    (folder / f"b.jsonl.deleted.{STAMP}").touch()

    [found] = list_transcripts(tmp_path, "main", deleted=True).found

    assert (found.session_id, found.kind) == ("b", "deleted")


def test_no_agent_sees_the_transcripts_of_another(folder: Path, tmp_path: Path) -> None:
    (folder / "a.jsonl").touch()
    other = tmp_path / "agents" / "other"
    other.mkdir()
    (other / "sessions").symlink_to(folder)

    assert list_transcripts(tmp_path, "nobody").found == ()
    found, [skipped] = list_transcripts(tmp_path, "other")
    assert (found, skipped.reason) == ((), "symlink")


def test_what_is_odd_is_named_and_does_not_stop_the_rest(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "good.jsonl").touch()
    (folder / "folder.jsonl").mkdir()
    (folder / "link.jsonl").symlink_to(folder / "good.jsonl")
    (folder / f"packed.jsonl.reset.{STAMP}.zst").touch()

    found, skipped = list_transcripts(tmp_path, "main")

    assert [each.session_id for each in found] == ["good"]
    assert [(each.path, each.reason) for each in skipped] == [
        ("sessions/folder.jsonl", "not-a-file"),
        ("sessions/link.jsonl", "symlink"),
        (f"sessions/packed.jsonl.reset.{STAMP}.zst", "ignored"),
    ]
