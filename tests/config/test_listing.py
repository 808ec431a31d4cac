"""What `notewell config` prints, what is said about later features, the page."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from notewell.backends.registry import policy_of
from notewell.config import (
    ResolvedValue,
    Settings,
    unused_settings,
)
from notewell.config.listing import list_settings, reference_table

Load: TypeAlias = Callable[..., Settings]


PAGE = Path(__file__).parents[2] / "docs/configuration.md"
SEARCH = "agents.defaults.memorySearch"


def shown(settings: Settings) -> dict[str, ResolvedValue]:
    return {value.key: value for value in list_settings(settings)}


def test_the_page_lists_every_key_as_the_code_has_it() -> None:
    page = PAGE.read_text(encoding="utf-8")

    begin, end = "<!-- reference: made from the code -->\n", "<!-- end -->"
    table = page.partition(begin)[2].partition(end)[0]

    assert table == reference_table()


def test_the_example_of_the_page_loads_without_a_warning(load: Load) -> None:
    page = PAGE.read_text(encoding="utf-8")

    settings = load(page.partition("```json5\n")[2].partition("```")[0])

    assert settings.warnings == ()
    assert settings.agent("work").search.query.max_results == 4


def test_every_setting_says_where_it_came_from(load: Load) -> None:
    settings = load(
        '{memory: {citations: "on", qmd: {update: {interval: "90s"}}}}',
        environ={"NOTEWELL_OFFLINE": "1"},
        overrides={"memory.backend": "qmd"},
    )

    values = shown(settings)

    assert (values["memory.citations"].value, values["memory.citations"].origin) == (
        "on",
        "file",
    )
    assert values["memory.qmd.update.interval"].value == "90s"
    assert values["memory.offline"].origin == "environment NOTEWELL_OFFLINE"
    assert (values["memory.backend"].value, values["memory.backend"].origin) == (
        "qmd",
        "flag",
    )
    assert (values["memory.fallback"].value, values["memory.fallback"].origin) == (
        "builtin",
        "default",
    )


def test_defaults_are_shown_in_the_spelling_of_the_file(load: Load) -> None:
    values = {key: value.value for key, value in shown(load()).items()}

    assert values["memory.qmd.update.interval"] == "5m"
    assert values["memory.qmd.update.embedInterval"] == "60m"
    assert values["memory.qmd.command"] == "qmd"
    assert values[f"{SEARCH}.query.hybrid.mmr.lambda"] == 0.7
    assert values[f"{SEARCH}.query.hybrid.temporalDecay.halfLifeDays"] == 30
    assert values[f"{SEARCH}.sources"] == ["memory"]
    store = str(values[f"{SEARCH}.store.path"])
    assert store.endswith("/.openclaw/memory/{agentId}.sqlite")
    assert values["memory.qmd.scope.rules"] == [
        {"action": "allow", "match": {"chatType": "direct"}}
    ]


def test_an_agent_lists_what_is_its_own(load: Load, home: Path) -> None:
    settings = load(
        """{ agents: { list: [
          { id: "a", workspace: "~/a", memorySearch: { query: { maxResults: 2 } } },
        ] } }"""
    )

    own = {
        key: value.value
        for key, value in shown(settings).items()
        if key.startswith("agents.list[0]")
    }

    assert own == {
        "agents.list[0].id": "a",
        "agents.list[0].workspace": f"{home}/a",
        "agents.list[0].memorySearch.query.maxResults": 2,
        "agents.list[0].memorySearch.store.path": f"{home}/.openclaw/memory/a.sqlite",
    }


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{memory: {search: {sources: ['sessions']}}}", "sessionMemory"),
        ("{memory: {search: {experimental: {sessionMemory: true}}}}", "sources"),
        ("{memory: {backend: 'qmd', qmd: {sessions: {enabled: true}}}}", "qmd"),
    ],
)
def test_a_configured_feature_of_later_is_said_in_short(
    load: Load, text: str, sentence: str
) -> None:
    settings = load(text)

    [said] = policy_of(settings, settings.agent(None)).remarks

    assert sentence in said
    assert len(said) <= 80


def test_a_setting_that_is_not_used_is_no_feature_of_later(load: Load) -> None:
    settings = load("{memory: {search: {multimodal: {enabled: true}}}}")

    [said] = unused_settings(settings, settings.agent(None))

    assert said.startswith("memory.search.multimodal is a setting of OpenClaw")
    assert policy_of(settings, settings.agent(None)).remarks == ()


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{memory: {search: {provider: 'none', model: 'm'}}}",
        "{memory: {search: {provider: 'auto'}}}",
        "{memory: {search: {sync: {watch: true, intervalMinutes: 5}}}}",
        "{agents: {defaults: {compaction: {memoryFlush: {enabled: false}}}}}",
        "{memory: {qmd: {limits: {maxResults: 3}}}}",
        "{memory: {fallback: 'none'}}",
    ],
)
def test_what_asks_for_nothing_is_not_spoken_of(load: Load, text: str) -> None:
    settings = load(text)

    assert policy_of(settings, settings.agent(None)).remarks == ()
    assert unused_settings(settings, settings.agent(None)) == ()


def test_a_default_that_is_not_the_same_when_written_out_says_what_it_means(
    load: Load,
) -> None:
    usual = {
        each.key: each.meaning for each in list_settings(load("{}")) if each.meaning
    }
    written = load("{memory: {search: {provider: 'auto', fallback: 'none'}}}")

    assert usual == {
        f"{SEARCH}.provider": 'the first that is set up, else "static"',
        f"{SEARCH}.fallback": '"static" stands behind the provider',
    }
    assert not any(each.meaning for each in list_settings(written))
