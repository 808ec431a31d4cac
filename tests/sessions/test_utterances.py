"""What is kept of a line of a transcript."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.sessions.reading import Role, clean_text, utterance_of


def line(role: str, content: object, **more: object) -> dict[str, object]:
    return {"type": "message", "message": {"role": role, "content": content}, **more}


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (line("user", "Hello"), "Hello"),
        (line("assistant", [{"type": "text", "text": "Hi"}]), "Hi"),
        (
            line(
                "assistant",
                [
                    {"type": "thinking", "thinking": "hm"},
                    {"type": "text", "text": "one"},
                    {"type": "toolCall", "name": "exec", "arguments": {"x": "secret"}},
                    {"type": "text", "text": "two"},
                ],
            ),
            "one\ntwo",
        ),
    ],
)
def test_what_people_and_the_agent_say_is_kept(record: object, text: str) -> None:
    said = utterance_of(record)

    assert said is not None
    assert said.text == text


@pytest.mark.parametrize(
    "record",
    [
        None,
        7,
        [],
        {},
        {"type": "session", "id": "x"},
        {"type": "message"},
        {"type": "message", "message": "text"},
        {"type": "message", "message": {"role": "user"}},
        {"type": "custom_message", "message": {"role": "user", "content": "x"}},
        line("toolResult", "output"),
        line("system", "rules"),
        line("user", ""),
        line("user", {"text": "x"}),
        line("user", [None, 7, {"type": "text"}, {"type": "text", "text": 7}]),
        line("assistant", [{"type": "toolCall", "name": "exec"}]),
        line("assistant", "NO_REPLY"),
        line("assistant", "no_reply"),
        line("assistant", "HEARTBEAT_OK"),
        line("user", "System: [2026-03-01 10:00] Exec finished"),
        line("user", "[cron:nightly] Summarise the day."),
        line("user", "Read HEARTBEAT.md if it exists."),
    ],
    ids=repr,
)
def test_all_else_is_not(record: object) -> None:
    assert utterance_of(record) is None


@pytest.mark.parametrize(
    ("role", "text", "kept"),
    [
        ("assistant", "<think>secret plan</think>Done.", "Done."),
        ("assistant", "<thinking>never ends", ""),
        ("assistant", 'Before <tool_call>{"a": 1}</tool_call> after', "Before  after"),
        ("assistant", "<final>Answer</final>", "Answer"),
        ("assistant", "Answer<|im_end|>", "Answer"),
        ("assistant", "<｜end▁of▁sentence｜>Answer", "Answer"),
        ("assistant", "[[reply_to_current]] Answer", "Answer"),
        ("assistant", "Done.\n\nNO_REPLY", "Done."),
        ("user", "NO_REPLY is a word that I use", "NO_REPLY is a word that I use"),
        ("user", "a\r\nb\n\n\n\nc", "a\nb\n\nc"),
        ("user", "[Sun 2026-03-01 10:00 GMT+1] Hello", "Hello"),
        ("user", "Hello\n[message_id: 42]", "Hello"),
        (
            "user",
            'Sender (untrusted metadata):\n```json\n{"id": 1}\n```\n\nHello',
            "Hello",
        ),
        ("user", "see [[My note]] and [x](y)", "see [[My note]] and [x](y)"),
        ("user", "lone \ud83c half", "lone \ufffd half"),
    ],
)
def test_what_the_machinery_added_is_taken_out(
    role: Role, text: str, kept: str
) -> None:
    assert clean_text(text, role) == kept


@pytest.mark.parametrize(
    "stamp",
    [
        "2026-03-01T10:00:00.000Z",
        "2026-03-01T11:00:00+01:00",
        1_772_359_200_000,
        1_772_359_200,
    ],
)
def test_a_time_is_read_in_every_form(stamp: object) -> None:
    said = utterance_of(line("user", "x", timestamp=stamp))

    assert said is not None
    assert said.at == datetime(2026, 3, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    "stamp", [None, "", "soon", -1, 0, True, float("nan"), float("inf"), 1e30, []]
)
def test_a_time_that_makes_no_sense_is_no_time(stamp: object) -> None:
    said = utterance_of(line("user", "x", timestamp=stamp))

    assert said is not None
    assert said.at is None


@given(st.text(), st.sampled_from(["user", "assistant"]))
def test_cleaning_never_fails_and_can_be_stored(text: str, role: Role) -> None:
    clean_text(text, role).encode("utf-8")


def test_a_message_is_bounded() -> None:
    assert len(clean_text("x" * 1_000_000, "user")) == 200_000
