"""Who takes part: how contenders are named, and what is refused."""

from dataclasses import replace
from pathlib import Path

import pytest

from notewell.bench.contenders import UserSettings, read_entrants
from notewell.errors import ConfigError, UsageError

SEARCH = "agents.defaults.memorySearch"


def test_a_mode_is_a_setting_of_the_engine(user: UserSettings) -> None:
    keyword, vsearch = read_entrants(["builtin:keyword", "qmd:vsearch"], user)

    assert keyword.overrides[f"{SEARCH}.provider"] == "none"
    assert vsearch.settings == {"memory.qmd.searchMode": "vsearch"}
    assert (keyword.label, vsearch.backend) == ("builtin:keyword", "qmd")


def test_nobody_stands_in_for_a_contender(user: UserSettings) -> None:
    [entrant] = read_entrants(["qmd@memory.fallback=builtin"], user)

    assert entrant.overrides["memory.fallback"] == "none"


def test_the_end_of_a_key_is_enough(user: UserSettings) -> None:
    [entrant] = read_entrants(["builtin@mmr.enabled=true@mmr.lambda=0.5"], user)

    assert entrant.settings == {
        f"{SEARCH}.query.hybrid.mmr.enabled": True,
        f"{SEARCH}.query.hybrid.mmr.lambda": 0.5,
    }
    assert entrant.label == "builtin@enabled=true@lambda=0.5"


def test_a_label_shows_neither_keys_nor_where_things_lie(user: UserSettings) -> None:
    [entrant] = read_entrants(
        ["builtin@provider=openai@remote.apiKey=sk-secret@model=/home/me/model"], user
    )

    assert "sk-secret" not in f"{entrant.label} {entrant.settings}"
    assert entrant.label.endswith("@model=model")


def test_meaning_without_a_provider_is_unavailable_and_says_why(
    user: UserSettings,
) -> None:
    hybrid, words = read_entrants(
        ["builtin:hybrid@provider=none", "builtin:keyword"], user
    )

    assert "no embedding provider" in str(hybrid.unavailable)
    assert words.unavailable is None


@pytest.mark.parametrize(
    ("spec", "said", "remedy"),
    [
        ("elastic", "no engine 'elastic'", "builtin, postgres, qmd"),
        ("qmd:hybrid", "no mode 'hybrid'", "qmd:vsearch"),
        ("builtin@enabled=true", "several settings end with 'enabled'", "mmr.enabled"),
        ("builtin@mmr.lamda=1", "no setting 'mmr.lamda'", "notewell config"),
    ],
)
def test_a_mistake_is_told_with_what_would_be_right(
    spec: str, said: str, remedy: str, user: UserSettings
) -> None:
    with pytest.raises(UsageError) as caught:
        read_entrants([spec], user)

    assert said in caught.value.message
    assert remedy in caught.value.remedy


def test_a_value_that_makes_no_sense_is_refused_before_the_run(
    user: UserSettings,
) -> None:
    with pytest.raises(ConfigError, match="lambda"):
        read_entrants(["builtin@mmr.lambda=2"], user)


def test_the_same_contender_twice_is_refused(user: UserSettings) -> None:
    with pytest.raises(UsageError, match="takes part twice"):
        read_entrants(["builtin", "builtin"], user)


def test_settings_of_the_users_file_are_where_everybody_begins(
    user: UserSettings, tmp_path: Path
) -> None:
    file = tmp_path / "openclaw.json"
    file.write_text(
        '{"agents": {"defaults": {"memorySearch": {"provider": "ollama"}}}}',
        encoding="utf-8",
    )
    own = replace(user, config=str(file))

    [hybrid] = read_entrants(["builtin:hybrid"], own)

    assert hybrid.unavailable is None


def test_nobody_takes_part_where_memory_is_switched_off(
    user: UserSettings, tmp_path: Path
) -> None:
    file = tmp_path / "openclaw.json"
    file.write_text('{"plugins": {"slots": {"memory": "none"}}}', encoding="utf-8")

    [builtin] = read_entrants(["builtin"], replace(user, config=str(file)))

    assert "switched off" in str(builtin.unavailable)
