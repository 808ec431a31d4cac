"""A file that OpenClaw wrote works as it is."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from notewell.backends.registry import policy_of
from notewell.config import Settings, unused_settings

Load: TypeAlias = Callable[..., Settings]


FILE = Path(__file__).with_name("openclaw.json5")
ENVIRON = {"OPENAI_API_KEY": "sk-test-1"}


def test_a_current_file_loads_without_a_warning(load: Load, home: Path) -> None:
    settings = load(FILE.read_text(encoding="utf-8"), environ=ENVIRON)

    assert settings.warnings == ()
    assert settings.file == home / ".openclaw/openclaw.json"
    assert settings.default_agent == "main"
    assert settings.agent("kitchen").search.query.max_results == 3
    assert settings.agent("main").search.query.max_results == 6
    assert settings.compaction.reserve_tokens_floor == 24000
    assert settings.compaction.memory_flush.force_flush_transcript_bytes == 2 * 1024**2
    assert not settings.memory_off


def test_what_openclaw_has_and_we_do_not_is_said_and_not_a_warning(load: Load) -> None:
    settings = load(FILE.read_text(encoding="utf-8"), environ=ENVIRON)

    main = unused_settings(settings, settings.agent("main"))
    kitchen = unused_settings(settings, settings.agent("kitchen"))

    stranger = "agents.list[1].memorySearch.qmd"
    assert any("memory.qmd.mcporter" in sentence for sentence in main)
    assert any(stranger in sentence for sentence in kitchen)
    assert not any(stranger in sentence for sentence in main)
    assert not {*main, *kitchen} & set(
        policy_of(settings, settings.agent("main")).remarks
    )


def test_the_newest_layout_with_entries_and_memory_search_works(load: Load) -> None:
    settings = load(
        """{
        memory: { search: { query: { maxResults: 4 } } },
        agents: {
          ownership: "explicit",
          entries: {
            home: { workspace: "/w/home" },
            work: { workspace: "/w/work", memory: { search: { enabled: false } } },
          },
        } }"""
    )

    assert settings.warnings == ()
    assert [agent.id for agent in settings.agents] == ["home", "work"]
    assert settings.agent("home").search.query.max_results == 4
    assert not settings.agent("work").search.enabled


def test_a_chat_provider_may_look_as_it_likes(load: Load) -> None:
    settings = load("{ models: { providers: { chat: 7, other: { baseUrl: [] } } } }")

    assert settings.warnings == ()
    assert settings.providers == {}


def test_everything_outside_our_keys_may_have_any_shape(load: Load) -> None:
    settings = load("{ gateway: [], channels: 1, agents: { defaults: { model: [] } } }")

    assert settings.warnings == ()
