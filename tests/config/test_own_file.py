"""Our own file, `<state>/notewell.json5`: what it may say, and what it may not open."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import pytest

from notewell.config import Settings, load_settings, memory_switch
from notewell.config.listing import list_settings
from notewell.errors import ConfigError

NONE = "{plugins: {slots: {memory: 'none'}}}"
ON = "{memory: {enabled: true}}"
OFF = "{memory: {enabled: false}}"
FLAG = {"memory.enabled": True}


class LoadBoth(Protocol):
    """Writes both files and resolves the settings."""

    def __call__(
        self, host: str, own: str = "", *, overrides: Mapping[str, object] = ...
    ) -> Settings: ...


@pytest.fixture
def load_both(home: Path) -> LoadBoth:
    def loaded(
        host: str, own: str = "", *, overrides: Mapping[str, object] = {}
    ) -> Settings:
        state = home / ".openclaw"
        state.mkdir(parents=True, exist_ok=True)
        (state / "openclaw.json").write_text(host, encoding="utf-8")
        (state / "notewell.json5").write_text(own, encoding="utf-8")
        return load_settings(environ={}, home=home, overrides=overrides)

    return loaded


def is_on(settings: Settings, agent: str | None = None) -> bool:
    found = settings.agent(agent)
    return found.search.enabled and not settings.memory_off


@pytest.mark.parametrize(
    ("host", "own", "flag", "on"),
    [
        ("{}", "", False, True),
        (NONE, "", False, False),
        (NONE, ON, False, True),
        (NONE, "", True, True),
        (NONE, OFF, True, False),
        ("{}", OFF, False, False),
        ("{}", OFF, True, False),
        (OFF, ON, True, False),
        (ON, "", False, True),
        (
            "{plugins: {slots: {memory: 'none'}}, memory: {enabled: true}}",
            "",
            False,
            False,
        ),
        ("{}", NONE, False, False),
        (NONE, "{plugins: {slots: {memory: 'memory-core'}}}", False, False),
    ],
)
def test_what_is_off_is_switched_on_by_our_own_file_or_a_flag_and_by_nothing_else(
    load_both: LoadBoth, host: str, own: str, *, flag: bool, on: bool
) -> None:
    settings = load_both(host, own, overrides=dict(FLAG) if flag else {})

    assert is_on(settings) is on
    said = memory_switch(settings, settings.agent(None))
    assert bool(said) is ((host, own) not in (("{}", ""), (ON, "")))


@pytest.mark.parametrize(
    "host",
    [
        "{agents: {list: [{id: 'a', memorySearch: {enabled: false}}]}}",
        "{agents: {entries: {a: {memory: {search: {enabled: false}}}}}}",
        "{agents: {defaults: {memorySearch: {enabled: false}}, list: [{id: 'a'}]}}",
        "{memory: {search: {enabled: false}}, agents: {list: [{id: 'a'}]}}",
    ],
)
@pytest.mark.parametrize(
    "own",
    [
        ON,
        "{agents: {list: [{id: 'a', memorySearch: {enabled: true}}]}}",
        "{agents: {defaults: {memorySearch: {enabled: true}}}}",
        "{memory: {enabled: true, search: {enabled: true}}}",
    ],
)
def test_an_agent_that_is_off_stays_off(
    load_both: LoadBoth, host: str, own: str
) -> None:
    settings = load_both(host, own, overrides=dict(FLAG))

    assert not is_on(settings, "a")
    assert "enabled is false" in memory_switch(settings, settings.agent("a"))


def test_it_is_laid_over_the_other_key_by_key_and_says_so(
    load_both: LoadBoth, home: Path
) -> None:
    settings = load_both(
        """{memory: {citations: "on", search: {query: {maxResults: 3}}},
            agents: {list: [{id: "a", workspace: "/a"}, {id: "b", workspace: "/b"}]}}""",
        """{memory: {offline: true, search: {query: {minScore: 0.5}}},
            agents: {list: [{id: "b", workspace: "mine", memorySearch: {sync: {detach: false}}},
                            {id: "c", default: true}]}}""",
    )

    assert (settings.memory.citations, settings.memory.offline) == ("on", True)
    search = settings.agent("a").search
    assert (search.query.max_results, search.query.min_score) == (3, 0.5)
    assert [agent.id for agent in settings.agents] == ["a", "b", "c"]
    assert settings.default_agent == "c"
    assert settings.agent("b").workspace == home / ".openclaw" / "mine"
    assert not settings.agent("b").search.sync.detach
    origins = {each.key: each.origin for each in list_settings(settings)}
    assert origins["memory.citations"] == "file"
    assert origins["memory.offline"] == "notewell.json5"


def test_its_mistakes_are_told_with_its_name(load_both: LoadBoth) -> None:
    settings = load_both("{}", "{memory: {offline: 'yes', citatoins: 'on'}}")

    assert settings.memory.offline
    assert len(settings.warnings) == 2
    assert all(each.startswith("notewell.json5: ") for each in settings.warnings)


def test_one_that_is_no_json5_is_an_error_with_its_place(load_both: LoadBoth) -> None:
    with pytest.raises(ConfigError, match=r"notewell\.json5:1"):
        load_both("{}", "{memory")
