"""What an agent is told in a flush."""

from datetime import UTC, date, datetime

import pytest

from notewell.config import MemoryFlushSettings
from notewell.flush import flush_prompts
from notewell.sessions.reading import without_silence
from notewell.zones import moment_in

NOW = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)


def test_our_own_prompts_name_the_log_of_the_day_and_the_silent_answer() -> None:
    prompts = flush_prompts(MemoryFlushSettings(), NOW)

    for text in (prompts.system, prompts.user):
        assert "memory/2026-03-01.md" in text
        assert "NO_REPLY" in text
        assert "YYYY" not in text
    assert prompts.path == "memory/2026-03-01.md"
    assert prompts.day == date(2026, 3, 1)
    assert "2026-03-01 23:59 (UTC)" in prompts.user


def test_the_day_is_the_users() -> None:
    prompts = flush_prompts(MemoryFlushSettings(), moment_in("Asia/Tokyo", NOW))

    assert "memory/2026-03-02.md" in prompts.user
    assert "2026-03-02 08:59" in prompts.user


def test_configured_prompts_get_the_day_and_the_silent_answer() -> None:
    settings = MemoryFlushSettings(
        system_prompt="Save to memory/YYYY-MM-DD.md now.",
        prompt="Keep it; reply with NO_REPLY if YYYY-MM-DD was quiet.",
    )

    prompts = flush_prompts(settings, NOW)

    assert prompts.system == (
        "Save to memory/2026-03-01.md now.\n\n"
        "If there is nothing to say, answer NO_REPLY."
    )
    assert prompts.user.startswith("Keep it; reply with NO_REPLY if 2026-03-01 was")
    assert prompts.user.count("NO_REPLY") == 1


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("NO_REPLY", ""),
        ("no_reply", ""),
        ("**NO_REPLY**", ""),
        ("`NO_REPLY`.", ""),
        ("NO_REPLY: nothing worth keeping.", ""),
        ("NO_REPLY\n\n- a", "- a"),
        ("- a\n- b\n\nNO_REPLY", "- a\n- b"),
        ("- a NO_REPLY", "- a"),
        ("HEARTBEAT_OK", ""),
        ("- NO_REPLYING is no word", "- NO_REPLYING is no word"),
        ("- we answer NO_REPLY here\n- b", "- we answer NO_REPLY here\n- b"),
    ],
)
def test_the_words_that_say_nothing_are_not_written_down(reply: str, text: str) -> None:
    assert without_silence(reply) == text
