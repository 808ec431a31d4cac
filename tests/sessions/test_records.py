"""Lines of Claude Code's and Codex's transcripts, as these programs write them."""

from datetime import UTC, datetime

import pytest

from notewell.sessions.reading import utterance_of

SESSION = "0b7fd1c2-7a51-4a3f-9a55-1e1c2f6f2f10"


def claude(kind: str, content: object, **more: object) -> dict[str, object]:
    """A line of `~/.claude/projects/<project>/<session>.jsonl`."""
    return {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/code/shop",
        "sessionId": SESSION,
        "version": "2.1.300",
        "gitBranch": "main",
        "type": kind,
        "message": {"role": kind, "content": content},
        "uuid": "1",
        "timestamp": "2026-03-01T10:00:00.000Z",
        **more,
    }


def codex(role: str, *texts: str, kind: str = "input_text") -> dict[str, object]:
    """A line of `~/.codex/sessions/<year>/<month>/<day>/rollout-….jsonl`."""
    content = [{"type": kind, "text": text} for text in texts]
    return {
        "timestamp": "2026-03-01T10:00:00.000Z",
        "type": "response_item",
        "payload": {"type": "message", "role": role, "content": content},
    }


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (claude("user", "Where is the key?"), "Where is the key?"),
        (claude("assistant", [text("Under"), text("the mat.")]), "Under\nthe mat."),
        (
            claude(
                "user",
                [
                    text("<ide_opened_file>The user opened a.py</ide_opened_file>"),
                    text("Fix it.\n<system-reminder>be good</system-reminder>"),
                ],
            ),
            "Fix it.",
        ),
        (
            claude(
                "user",
                "<command-name>/x</command-name>\n<command-args>a</command-args>",
            ),
            None,
        ),
        (claude("user", [{"type": "tool_result", "content": "secret"}]), None),
        (claude("assistant", [{"type": "thinking", "thinking": "hm"}]), None),
        (claude("assistant", [{"type": "tool_use", "input": {"x": "secret"}}]), None),
        (claude("user", "Caveat: …", isMeta=True), None),
        (claude("user", "a summary", isCompactSummary=True), None),
        (claude("user", "do this part", isSidechain=True), None),
        (claude("assistant", [text("overloaded")], isApiErrorMessage=True), None),
        (claude("user", "[Request interrupted by user]"), None),
        ({"type": "summary", "summary": "Keys", "leafUuid": "2"}, None),
        ({"type": "system", "subtype": "compact_boundary", "content": "x"}, None),
        (codex("user", "Where is the key?"), "Where is the key?"),
        (codex("assistant", "Under the mat.", kind="output_text"), "Under the mat."),
        (codex("developer", "<permissions instructions>x"), None),
        (
            codex(
                "user",
                "# AGENTS.md instructions for /work\n\n<INSTRUCTIONS>x</INSTRUCTIONS>",
                "<environment_context>\n  <cwd>/work</cwd>\n</environment_context>",
            ),
            None,
        ),
        (codex("user", "<environment_context>x</environment_context>Hi"), "Hi"),
        (
            codex(
                "user", "# Context from my IDE setup:\n\n## My request for Codex:\nHi\n"
            ),
            "Hi",
        ),
        (
            {"type": "event_msg", "payload": {"type": "user_message", "message": "x"}},
            None,
        ),
        ({"type": "compacted", "payload": {"message": "a summary"}}, None),
        (
            {"type": "response_item", "payload": {"type": "reasoning", "content": "x"}},
            None,
        ),
        (
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "old"}],
            },
            "old",
        ),
        ({"type": "user", "message": "odd"}, None),
        ({"type": "user", "message": {"role": "user", "content": {"a": 1}}}, None),
        ({"type": "response_item", "payload": ["odd"]}, None),
    ],
)
def test_what_somebody_said_is_kept_and_nothing_else(
    record: dict[str, object], said: str | None
) -> None:
    found = utterance_of(record)

    assert (found.text if found else None) == said


def test_the_moment_of_a_line_is_kept() -> None:
    found = [utterance_of(line) for line in (claude("user", "a"), codex("user", "b"))]

    at = datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert [(each.role, each.at) for each in found if each] == [("user", at)] * 2
