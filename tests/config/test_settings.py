"""Values: precedence, forms, limits, and the rules that tie them together."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from notewell.config import (
    ScopeMatch,
    ScopeRule,
    ScopeSettings,
    Settings,
    load_settings,
)
from notewell.config.listing import list_settings
from notewell.errors import ConfigError
from notewell.types import NarrowedPath

Load: TypeAlias = Callable[..., Settings]


SEARCH = "agents.defaults.memorySearch"


def nested(key: str, value: str) -> str:
    """Write one dotted key as JSON."""
    for name in reversed(key.split(".")):
        value = f'{{"{name}": {value}}}'
    return value


def values_of(settings: Settings) -> dict[str, object]:
    return {each.key: each.value for each in list_settings(settings)}


def test_a_flag_beats_the_environment_which_beats_the_file(load: Load) -> None:
    file = nested("memory.offline", "false")
    environ = {"NOTEWELL_OFFLINE": "1"}

    assert not load(file).memory.offline
    assert load(file, environ=environ).memory.offline
    flag = {"memory.offline": False}
    assert not load(file, environ=environ, overrides=flag).memory.offline


def test_a_flag_beats_the_override_of_an_agent(load: Load) -> None:
    settings = load(
        "{agents: {list: [{id: 'a', memorySearch: {query: {maxResults: 2}}}]}}",
        overrides={f"{SEARCH}.query.maxResults": 20},
    )

    assert settings.agent("a").search.query.max_results == 20


def test_a_flag_for_a_workspace_may_be_a_path(load: Load, tmp_path: Path) -> None:
    settings = load(overrides={"agents.defaults.workspace": tmp_path})

    agent = settings.agent(None)

    assert (agent.workspace, agent.workspace_origin) == (tmp_path, "flag")


@pytest.mark.parametrize(
    "key", ["memory.bakend", "gateway.port", "agents.list", "", "memory.backend.x"]
)
def test_a_flag_for_no_setting_is_refused(load: Load, key: str) -> None:
    with pytest.raises(ConfigError):
        load(overrides={key: "qmd"})


@pytest.mark.parametrize("word", ["0", "no", "OFF", "false"])
def test_offline_can_be_switched_off_by_the_environment(load: Load, word: str) -> None:
    settings = load(
        nested("memory.offline", "true"), environ={"NOTEWELL_OFFLINE": word}
    )

    assert not settings.memory.offline


def test_offline_is_yes_or_no(load: Load) -> None:
    with pytest.raises(ConfigError, match="NOTEWELL_OFFLINE: is 'maybe'"):
        load(environ={"NOTEWELL_OFFLINE": "maybe"})


@pytest.mark.parametrize(
    ("key", "value", "accepted"),
    [
        ("memory.backend", "1", "the name of a plugin"),
        (f"{SEARCH}.enabled", "null", "true or false"),
        ("agents.defaults.workspace", "7", "a path"),
        ("plugins.slots.memory", "[]", '"none"'),
    ],
)
def test_a_wrong_value_is_an_error_where_nobody_knows_what_may_be_answered(
    load: Load, key: str, value: str, accepted: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(nested(key, value))

    assert caught.value.key == key
    assert accepted in caught.value.accepted


@pytest.mark.parametrize(
    ("key", "value", "accepted"),
    [
        ("memory.citations", '"sometimes"', '"auto", "on" or "off"'),
        ("memory.qmd.searchMode", '"hybrid"', '"vsearch"'),
        ("memory.qmd.update.interval", '"5 minutes"', '"5m"'),
        ("memory.qmd.update.interval", "-1", "0 is off"),
        ("memory.qmd.update.debounceMs", "1.5", "a whole number"),
        ("memory.qmd.limits.timeoutMs", "0", "from 1 to"),
        ("memory.qmd.paths", '{"path": "x"}', "a list of objects with path"),
        (f"{SEARCH}.extraPaths", '"notes"', "a list of paths"),
        (f"{SEARCH}.sources", '"memory"', '"memory" or "sessions"'),
        (f"{SEARCH}.chunking.tokens", "15", "from 16"),
        (f"{SEARCH}.chunking.tokens", "true", "a whole number"),
        (f"{SEARCH}.query.maxResults", "0", "from 1"),
        (f"{SEARCH}.query.maxResults", '"6"', "a whole number"),
        (f"{SEARCH}.query.maxResults", "1" + "0" * 400, "a whole number"),
        (f"{SEARCH}.query.minScore", "1.01", "from 0 to 1"),
        (f"{SEARCH}.query.minScore", "NaN", "from 0 to 1"),
        (f"{SEARCH}.query.hybrid.vectorWeight", "Infinity", "a number"),
        (f"{SEARCH}.query.hybrid.mmr.lambda", "false", "from 0 to 1"),
        (f"{SEARCH}.query.hybrid.temporalDecay.halfLifeDays", "0", "a number"),
        (f"{SEARCH}.store.path", '"a\\u0000b"', "a path"),
        (f"{SEARCH}.store.path", '"~someone/x"', "a path"),
        (f"{SEARCH}.sync.detach", '"yes"', "true or false"),
        ("agents.defaults.compaction.reserveTokensFloor", "-1", "at least 0"),
        (
            "agents.defaults.compaction.memoryFlush.forceFlushTranscriptBytes",
            '"2 boxes"',
            '"2mb"',
        ),
    ],
)
def test_a_wrong_value_costs_its_key_with_a_warning_that_says_what_is_accepted(
    load: Load, key: str, value: str, accepted: str
) -> None:
    settings = load(nested(key, value))

    [warning] = settings.warnings
    assert warning.startswith(f"{key}: ")
    assert "; it is left out; accepted: " in warning
    assert accepted in warning
    assert values_of(settings) == values_of(load("{}"))


@pytest.mark.parametrize(
    ("key", "value", "counts"),
    [
        ("memory.offline", '"yes"', True),
        ("memory.offline", "0", True),
        ("memory.offline", "null", True),
        ("memory.fallback", '"qmd"', "none"),
        (f"{SEARCH}.remote.batch.enabled", '"no"', False),
        (f"{SEARCH}.cache.enabled", '"no"', False),
        (f"{SEARCH}.cache.maxEntries", '"few"', 0),
        ("memory.qmd.command", "[]", []),
        ("memory.qmd.command", "7", []),
        ("memory.qmd.includeDefaultMemory", '"no"', False),
        ("memory.qmd.sessions.retentionDays", '"30 days"', 0.0),
        ("memory.qmd.sessions.retentionDays", "-1", 0.0),
        ("memory.qmd.scope.default", '"ask"', "deny"),
        ("agents.defaults.compaction.memoryFlush.enabled", '"no"', False),
    ],
)
def test_a_wrong_value_errs_on_the_closed_side(
    load: Load, key: str, value: str, counts: object
) -> None:
    settings = load(nested(key, value))

    [warning] = settings.warnings
    assert warning.startswith(f"{key}: is ")
    assert f"; it counts as {json.dumps(counts)}; accepted: " in warning
    assert values_of(settings)[key] == counts


@pytest.mark.parametrize(
    ("key", "value", "accepted"),
    [
        (f"{SEARCH}.provider", '""', "the name of an embedding provider"),
        (f"{SEARCH}.provider", '"\\ud800"', "the name of an embedding provider"),
        (f"{SEARCH}.model", "{}", "a text that is not empty"),
        (f"{SEARCH}.local", '"/models/m.gguf"', "an object: { modelPath: …"),
        (f"{SEARCH}.local.modelPath", "false", "a path of a GGUF file"),
        (f"{SEARCH}.remote", "true", "an object: { baseUrl: …"),
        (f"{SEARCH}.remote.baseUrl", '"ftp://host"', "an address"),
        (f"{SEARCH}.remote.baseUrl", '"http://host:99999/v1"', "an address"),
        (f"{SEARCH}.remote.apiKey", "5", "${NAME}"),
        (f"{SEARCH}.remote.headers", '{"a b": "c"}', "an object of header texts"),
        ("models.providers.openai.apiKey", "5", "${NAME}"),
        ("models.providers.openai.baseUrl", "5", "an address"),
        ("models.providers.openai", "1", "an object: { apiKey: …"),
        ("models.providers", "[]", "an object"),
        ("models", "[]", "an object"),
    ],
)
def test_nothing_is_sent_where_a_value_is_wrong_that_says_what_and_where(
    load: Load, key: str, value: str, accepted: str
) -> None:
    settings = load(nested(key, value), environ={"OPENAI_API_KEY": "sk-1"})

    [warning] = settings.warnings
    assert warning.startswith(f"{key}: ")
    assert "; no provider is asked until it is right; accepted: " in warning
    assert accepted in warning
    search = settings.agent(None).search
    assert (search.provider, search.fallback) == ("none", "none")
    assert values_of(settings)[f"{SEARCH}.provider"] == "none"


def test_a_wrong_entry_of_a_provider_costs_nothing_where_another_one_is_asked(
    load: Load,
) -> None:
    settings = load(
        "{agents: {defaults: {memorySearch: {provider: 'local', fallback: 'gemini'}}},"
        " models: {providers: {openai: 1}}}"
    )

    search = settings.agent(None).search
    assert (search.provider, search.fallback) == ("local", "gemini")


def test_an_agent_that_says_it_right_asks_its_provider(load: Load) -> None:
    settings = load(
        "{agents: {defaults: {memorySearch: {provider: 'openai', remote: {baseUrl: 5}}},"
        " list: [{id: 'a'},"
        " {id: 'b', memorySearch: {remote: {baseUrl: 'http://host/v1'}}}]}}"
    )

    assert settings.agent("a").search.provider == "none"
    assert settings.agent("b").search.provider == "openai"


@pytest.mark.parametrize(
    ("key", "value", "accepted"),
    [
        (
            f"{SEARCH}.chunking",
            "null",
            "an object: { tokens: …, overlap: …, window: … }",
        ),
        (f"{SEARCH}.chunking", "400", "an object such as { tokens: 400 }"),
        (f"{SEARCH}.chunking.window", "120", "an object such as { tokens: 120 }"),
        (f"{SEARCH}.store.vector", "false", "an object such as { enabled: false }"),
        (f"{SEARCH}.query.hybrid", "false", "an object such as { enabled: false }"),
        (f"{SEARCH}.sync", "[]", "an object: { onSessionStart: …"),
        ("memory.qmd.update", "'5m'", "an object: { interval: …"),
    ],
)
def test_a_wrong_container_costs_its_keys_and_says_what_to_write(
    load: Load, key: str, value: str, accepted: str
) -> None:
    settings = load(nested(key, value))

    [warning] = settings.warnings
    assert warning.startswith(f"{key}: is ")
    assert f"; it is left out; accepted: {accepted}" in warning
    assert values_of(settings) == values_of(load("{}"))


@pytest.mark.parametrize(
    ("key", "said", "closed"),
    [
        (f"{SEARCH}.remote.batch", "enabled", f"{SEARCH}.remote.batch.enabled"),
        (
            "agents.defaults.compaction",
            "memoryFlush.enabled",
            "agents.defaults.compaction.memoryFlush.enabled",
        ),
    ],
)
def test_something_else_in_the_place_of_a_container_is_closed(
    load: Load, key: str, said: str, closed: str
) -> None:
    settings = load(nested(key, "true"))

    [warning] = settings.warnings
    assert f"; {said} counts as false; accepted: an object" in warning
    assert values_of(settings)[closed] is False


def test_an_extra_path_may_have_a_pattern_and_a_slip_in_it_widens_nothing(
    load: Load,
) -> None:
    settings = load(
        """{memory: {search: {extraPaths: ["x", {path: "~/v", pattern: " a/*.md "},
        {path: "y"}, {path: "v", patern: "a/*.md"}, {path: "v", pattern: ""},
        {pattern: "*"}, {path: "v", pattern: ["a"]}]}}}"""
    )

    home = settings.state_dir.parent
    assert settings.agent(None).search.extra_paths == (
        "x",
        NarrowedPath(f"{home}/v", "a/*.md"),
        "y",
    )
    assert [warning.split(":")[0] for warning in settings.warnings] == [
        f"memory.search.extraPaths[{number}]" for number in range(3, 7)
    ]


ALLOW = ScopeRule(action="allow", match=ScopeMatch(chat_type="direct"))
NOBODY = ScopeRule(action="deny")


@pytest.mark.parametrize(
    ("scope", "rules"),
    [
        (
            "{rules: [{action: 'allow', match: {chatType: 'direct'}}, 7]}",
            (ALLOW, NOBODY),
        ),
        ("{rules: [{action: 'ask'}]}", (NOBODY,)),
        ("{rules: [{action: 'allow', match: {chatType: 'x'}}]}", (NOBODY,)),
        ("{rules: [{action: 'allow', match: {chatTyp: 'direct'}}]}", (NOBODY,)),
        ("{rules: [{action: 'allow', mach: {}}]}", (NOBODY,)),
        ("{rules: [{match: {}}]}", (NOBODY,)),
        ("{rulez: [{action: 'deny'}]}", (NOBODY,)),
        ("'allow'", (NOBODY,)),
    ],
)
def test_a_wrong_rule_allows_nobody_and_those_before_it_hold(
    load: Load, scope: str, rules: tuple[ScopeRule, ...]
) -> None:
    settings = load(f"{{memory: {{qmd: {{scope: {scope}}}}}}}")

    assert settings.memory.qmd.scope == ScopeSettings(default="deny", rules=rules)
    [warning] = settings.warnings
    assert warning.startswith("memory.qmd.scope")


@pytest.mark.parametrize(
    ("written", "found", "warnings"),
    [
        ("[]", ("memory",), 1),
        ("['sessions', 'web']", ("sessions",), 1),
        ("['web']", ("memory",), 2),
        ("['sessions', 'memory', 'sessions']", ("sessions", "memory"), 0),
    ],
)
def test_a_source_that_nobody_has_costs_itself_and_none_at_all_is_told(
    load: Load, written: str, found: tuple[str, ...], warnings: int
) -> None:
    settings = load(f"{{memory: {{search: {{sources: {written}}}}}}}")

    assert settings.agent(None).search.sources == found
    assert len(settings.warnings) == warnings


def test_a_wrong_item_of_a_list_is_left_out_alone(load: Load) -> None:
    settings = load(
        "{memory: {qmd: {paths: [{path: 'a'}, {name: 'b'}, {path: 'c', pattern: 5}]},"
        " search: {extraPaths: ['x', 7, 'y']}}}"
    )

    assert [each.path for each in settings.memory.qmd.paths] == ["a"]
    assert settings.agent(None).search.extra_paths == ("x", "y")
    assert [warning.split(":")[0] for warning in settings.warnings] == [
        "memory.qmd.paths[1].path",
        "memory.qmd.paths[2].pattern",
        "memory.search.extraPaths[1]",
    ]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("{agents: []}", "agents"),
        ("{agents: {defaults: null}}", "agents.defaults"),
        ("{agents: {list: {}}}", "agents.list"),
        ("{agents: {list: ['main']}}", "agents.list[0]"),
        ("{agents: {list: [{id: 'a', default: 'yes'}]}}", "agents.list[0].default"),
        ("{agents: {list: [{}]}}", "agents.list[0].id"),
        (
            "{agents: {list: [{id: 'a', memorySearch: 1}]}}",
            "agents.list[0].memorySearch",
        ),
        ("{memory: 'x'}", "memory"),
        ("{memory: {search: []}}", "memory.search"),
        ("{plugins: {slots: 1}}", "plugins.slots"),
    ],
)
def test_a_wrong_container_is_an_error_with_its_key(
    load: Load, text: str, key: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(text)

    assert caught.value.key == key


def test_a_warning_about_an_agent_names_the_entry(load: Load) -> None:
    settings = load(
        "{agents: {defaults: {memorySearch: {query: {maxResults: 3}}}, list: [{id: 'a'},"
        " {id: 'b', memorySearch: {query: {maxResults: -2}}}]}}"
    )

    [warning] = settings.warnings
    assert warning == (
        "agents.list[1].memorySearch.query.maxResults: is -2; it is left out;"
        " accepted: a whole number from 1 to 10000"
    )
    assert settings.agent("b").search.query.max_results == 3


def test_a_wrong_flag_is_an_error(load: Load) -> None:
    with pytest.raises(ConfigError) as caught:
        load(overrides={f"{SEARCH}.query.maxResults": -2})

    assert str(caught.value) == f"{SEARCH}.query.maxResults: is -2"
    assert caught.value.remedy == "accepted: a whole number from 1 to 10000"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("{memory: {serach: {}}}", "did you mean memory.search?"),
        ("{memory: {bakend: 'qmd'}}", "memory.bakend; did you mean memory.backend?"),
        (
            "{agents: {defaults: {memorySearch: {query: {maxResult: 1}}}}}",
            "did you mean agents.defaults.memorySearch.query.maxResults?",
        ),
        (
            "{agents: {defaults: {memorySearch: {temporalDecay: {}}}}}",
            "did you mean agents.defaults.memorySearch.query.hybrid.temporalDecay?",
        ),
        (
            "{agents: {defaults: {memorySearch: {lambda: 1}}}}",
            "did you mean agents.defaults.memorySearch.query.hybrid.mmr.lambda?",
        ),
        (
            "{agents: {defaults: {compaction: {memoryFlush: {enable: true}}}}}",
            "did you mean agents.defaults.compaction.memoryFlush.enabled?",
        ),
        ("{memory: {qmd: {limits: {zzz: 1}}}}", "known: maxResults,"),
    ],
)
def test_an_unknown_key_of_ours_is_a_warning_with_the_nearest(
    load: Load, text: str, hint: str
) -> None:
    [warning] = load(text).warnings

    assert hint in warning


def test_unset_means_default_and_auto_means_unset(load: Load) -> None:
    settings = load(nested(f"{SEARCH}.provider", '"auto"'))

    assert settings.agent(None).search.provider is None


@pytest.mark.parametrize(
    ("vector", "text", "expected"),
    [
        (0.7, 0.3, (0.7, 0.3)),
        (1, 1, (0.5, 0.5)),
        (5, -3, (1.0, 0.0)),
        (0, 0, (0.7, 0.3)),
        (-1, -1, (0.7, 0.3)),
        (0.2, 0.2, (0.5, 0.5)),
    ],
)
def test_weights_are_clamped_and_sum_to_one(
    load: Load, vector: float, text: float, expected: tuple[float, float]
) -> None:
    settings = load(
        nested(
            f"{SEARCH}.query.hybrid",
            f'{{"vectorWeight": {vector}, "textWeight": {text}}}',
        )
    )

    hybrid = settings.agent(None).search.query.hybrid

    assert (hybrid.vector_weight, hybrid.text_weight) == expected


def test_an_overlap_that_is_not_below_the_passage_is_left_out(load: Load) -> None:
    settings = load(nested(f"{SEARCH}.chunking", '{"tokens": 100, "overlap": 100}'))

    [warning] = settings.warnings
    assert warning.startswith(f"{SEARCH}.chunking.overlap: is 100, not below tokens")
    assert settings.agent(None).search.chunking.overlap == 20


def test_an_overlap_that_nobody_set_gives_way(load: Load) -> None:
    settings = load(nested(f"{SEARCH}.chunking.tokens", "100"))

    assert settings.agent(None).search.chunking.overlap == 20


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ('"30s"', 30),
        ('"5m"', 300),
        ('"1h"', 3600),
        ('"1h30m"', 5400),
        ('"500ms"', 0.5),
        ('"1d"', 86400),
        ('"0"', 0),
        ("0", 0),
        ('"0m"', 0),
        ('"5"', 300),
        ("5", 300),
    ],
)
def test_durations_are_seconds(load: Load, written: str, seconds: float) -> None:
    settings = load(nested("memory.qmd.update.interval", written))

    assert settings.memory.qmd.update.interval == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ('"2mb"', 2 * 1024**2),
        ('"1.5 KB"', 1536),
        ('"1GiB"', 1024**3),
        ('"7"', 7),
        ("9", 9),
        ("0", 0),
        ("null", None),
    ],
)
def test_sizes_are_bytes(load: Load, written: str, size: int | None) -> None:
    key = "agents.defaults.compaction.memoryFlush.forceFlushTranscriptBytes"

    settings = load(nested(key, written))

    assert settings.compaction.memory_flush.force_flush_transcript_bytes == size


def test_a_whole_number_may_be_written_with_a_point(load: Load) -> None:
    settings = load(nested(f"{SEARCH}.query.maxResults", "6.0"))

    assert settings.agent(None).search.query.max_results == 6


def test_a_command_is_a_program_or_a_list(load: Load, home: Path) -> None:
    alone = load(nested("memory.qmd.command", '"~/bin/qmd"')).memory.qmd.command
    listed = load(nested("memory.qmd.command", '["node", "q.js"]')).memory.qmd.command

    assert alone == (f"{home}/bin/qmd",)
    assert listed == ("node", "q.js")


def test_the_scope_is_direct_chats_unless_it_is_said(load: Load) -> None:
    usual = load().memory.qmd.scope
    said = load(
        '{"memory": {"qmd": {"scope": {"default": "allow", "rules": ['
        '{"action": "deny", "match": {"chatType": "dm", "keyPrefix": "x:"}}]}}}}'
    ).memory.qmd.scope

    direct = ScopeMatch(chat_type="direct")
    assert usual.default == "deny"
    assert usual.rules == (ScopeRule(action="allow", match=direct),)
    assert said.default == "allow"
    assert said.rules[0].match == ScopeMatch(chat_type="direct", key_prefix="x:")


@pytest.mark.parametrize(
    ("slot", "off"), [('"none"', True), ('"memory-core"', False), ("null", False)]
)
def test_the_plugin_slot_switches_everything_off(
    load: Load, slot: str, off: bool
) -> None:
    assert load(nested("plugins.slots.memory", slot)).memory_off is off


def test_paths_start_at_home_or_at_the_folder_of_the_file(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "etc"
    folder.mkdir()
    file = folder / "mine.json"
    file.write_text(
        """{ agents: { defaults: {
          workspace: "notes/../vault",
          memorySearch: {
            extraPaths: ["~/more", "../team", "/srv/x"],
            local: { modelPath: "~/m.gguf", modelCacheDir: "models" },
            store: { path: "<state>/index/{agentId}.db" },
          },
        } } }""",
        encoding="utf-8",
    )

    agent = load_settings(config_file=file, environ={}, home=home).agent(None)

    assert agent.workspace == folder / "vault"
    assert agent.search.extra_paths == (f"{home}/more", "../team", "/srv/x")
    assert agent.search.local.model_path == f"{home}/m.gguf"
    assert agent.search.local.model_cache_dir == folder / "models"
    assert agent.search.store.path == home / ".openclaw/index/main.db"


def test_a_removed_current_folder_does_not_matter(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert load(overrides={"memory.backend": "qmd"}).memory.backend == "qmd"


def test_a_tilde_alone_is_home(load: Load, home: Path) -> None:
    assert (
        load(nested("agents.defaults.workspace", '"~"')).agent(None).workspace == home
    )


def test_a_reference_to_a_model_is_no_path(load: Load) -> None:
    settings = load(nested(f"{SEARCH}.local.modelPath", '"hf:me/model/file.gguf"'))

    assert settings.agent(None).search.local.model_path == "hf:me/model/file.gguf"


def test_settings_cannot_be_changed(load: Load) -> None:
    settings = load()
    attribute = "backend"

    with pytest.raises(AttributeError):
        setattr(settings.memory, attribute, "qmd")


@pytest.mark.parametrize(
    ("written", "zone"),
    [("'Europe/Paris'", "Europe/Paris"), ("' '", None), ("null", None)],
)
def test_the_users_zone_is_read(load: Load, written: str, zone: str | None) -> None:
    settings = load(f"{{agents: {{defaults: {{userTimezone: {written}}}}}}}")

    assert settings.user_timezone == zone
    assert settings.warnings == ()
    [value] = [
        each for each in list_settings(settings) if each.key.endswith("userTimezone")
    ]
    assert (value.value, value.origin) == (zone, "file" if zone else "default")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("'Europe/Berln'", "did you mean 'Europe/Berlin'?"),
        ("'berlin'", "did you mean 'Europe/Berlin'?"),
        ("'PST'", "did you mean 'America/Los_Angeles'?"),
        ("'UTC+2'", "did you mean 'Etc/GMT-2'?"),
        ("'Mars/Olympus'", "such as 'Europe/Berlin'"),
        ("'../etc/passwd'", "such as 'Europe/Berlin'"),
        ("7", "is no name of a zone"),
    ],
)
def test_a_zone_that_is_none_is_a_warning_that_names_a_right_one(
    load: Load, written: str, said: str
) -> None:
    settings = load(f"{{agents: {{defaults: {{userTimezone: {written}}}}}}}")

    [warning] = settings.warnings
    assert warning.startswith("agents.defaults.userTimezone: ")
    assert said in warning
    assert settings.user_timezone is None
