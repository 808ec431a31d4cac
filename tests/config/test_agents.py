"""Agents: defaults, overrides, ids, workspaces and index files."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from notewell.config import Settings
from notewell.config.listing import list_settings
from notewell.errors import ConfigError, UsageError

Load: TypeAlias = Callable[..., Settings]


def test_without_a_list_there_is_main(load: Load, home: Path) -> None:
    [agent] = load().agents

    assert agent.id == "main"
    assert agent.workspace == home / ".openclaw/workspace"
    assert agent.workspace_origin == "default"
    assert agent.search.store.path == home / ".openclaw/memory/main.sqlite"


def test_an_agent_overrides_the_defaults_key_by_key(load: Load) -> None:
    settings = load(
        """{ agents: {
          defaults: { memorySearch: { query: { maxResults: 9, minScore: 0.1 } } },
          list: [
            { id: "a", memorySearch: { query: { maxResults: 2 } } },
            { id: "b" },
          ],
        } }"""
    )

    a, b = settings.agents

    assert (a.search.query.max_results, a.search.query.min_score) == (2, 0.1)
    assert (b.search.query.max_results, b.search.query.min_score) == (9, 0.1)
    assert a.given == {"query.maxResults", "query.minScore"}


def test_an_agent_has_the_extra_paths_of_all_and_its_own(load: Load) -> None:
    settings = load(
        """{ agents: {
          defaults: { memorySearch: { extraPaths: ["x", "y"] } },
          list: [{ id: "a", memorySearch: { extraPaths: ["z", "x"] } }],
        } }"""
    )

    assert settings.agent("a").search.extra_paths == ("x", "y", "z")


def test_null_unsets_what_can_be_unset(load: Load) -> None:
    settings = load(
        """{ agents: {
          defaults: { memorySearch: { model: "m" } },
          list: [{ id: "a", memorySearch: { model: null } }],
        } }"""
    )

    assert settings.agent("a").search.model is None


def test_memory_search_is_a_second_name_that_loses(load: Load) -> None:
    settings = load(
        """{
          memory: { search: { query: { maxResults: 3, minScore: 0.2 } } },
          agents: { defaults: { memorySearch: { query: { maxResults: 8 } } } },
        }"""
    )

    query = settings.agent(None).search.query

    assert settings.warnings == ()
    assert (query.max_results, query.min_score) == (8, 0.2)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ("[{id: 'a'}, {id: 'b'}]", "a"),
        ("[{id: 'a'}, {id: 'b', default: true}]", "b"),
        ("[]", "main"),
    ],
)
def test_the_default_agent_is_the_marked_one_or_the_first(
    load: Load, entries: str, expected: str
) -> None:
    settings = load(f"{{ agents: {{ list: {entries} }} }}")

    assert settings.default_agent == expected
    assert settings.agent(None).id == expected


def test_two_defaults_are_a_warning(load: Load) -> None:
    settings = load(
        "{agents: {list: [{id: 'a', default: true}, {id: 'b', default: true}]}}"
    )

    [warning] = settings.warnings
    assert "a, b are all the default; a is used" in warning


def test_workspaces_come_from_the_entry_else_the_defaults(
    load: Load, home: Path
) -> None:
    settings = load(
        """{ agents: {
          defaults: { workspace: "/notes" },
          list: [{ id: "a" }, { id: "b", workspace: "~/b" }],
        } }"""
    )

    a, b = settings.agents

    assert (a.workspace, a.workspace_origin) == (Path("/notes"), "file")
    assert (b.workspace, b.workspace_origin) == (home / "b", "file")
    assert a.workspace_key == "agents.defaults.workspace"
    assert b.workspace_key == "agents.list[1].workspace"


def test_agents_that_nobody_gave_a_workspace_do_not_share_one(
    load: Load, home: Path
) -> None:
    settings = load("{ agents: { list: [{ id: 'a' }, { id: 'b' }] } }")

    a, b = settings.agents

    assert a.workspace == home / ".openclaw/workspace"
    assert b.workspace == home / ".openclaw/workspace-b"
    assert a.workspace_origin == b.workspace_origin == "default"
    assert a.workspace_key == "agents.list[0].workspace"


def test_the_profile_has_a_workspace_of_its_own(load: Load, home: Path) -> None:
    settings = load(environ={"OPENCLAW_PROFILE": "work"})

    agent = settings.agent(None)

    assert settings.profile == "work"
    assert agent.workspace == home / ".openclaw/workspace-work"
    assert agent.workspace_origin == "default"
    [value] = [
        v for v in list_settings(settings) if v.key == "agents.defaults.workspace"
    ]
    assert value.origin == "environment OPENCLAW_PROFILE"


@pytest.mark.parametrize("profile", ["default", "Default", "", "  "])
def test_the_default_profile_is_none(load: Load, profile: str) -> None:
    assert load(environ={"OPENCLAW_PROFILE": profile}).profile is None


@pytest.mark.parametrize("profile", ["../up", "a/b", "..", "a\\b", ".hidden", "x" * 65])
def test_a_profile_that_would_leave_its_folder_is_refused(
    load: Load, profile: str
) -> None:
    with pytest.raises(ConfigError, match="OPENCLAW_PROFILE"):
        load(environ={"OPENCLAW_PROFILE": profile})


@pytest.mark.parametrize(
    "name",
    [
        "",
        "../up",
        "a/b",
        "..",
        ".",
        "a\\\\b",
        "a b",
        "a\\u0000",
        "\\ud800",
        "a:b",
        "x" * 65,
        "漢" * 64 + "漢",
    ],
)
def test_an_id_that_is_no_file_name_is_refused(load: Load, name: str) -> None:
    with pytest.raises(ConfigError, match=r"agents\.list\[0\]\.id") as caught:
        load(f'{{"agents": {{"list": [{{"id": "{name}"}}]}}}}')

    assert "an agent id" in caught.value.remedy


@pytest.mark.parametrize("name", ["main", "工作", "ops-2", "_own", "a.b_c", "x" * 64])
def test_an_id_in_any_script_names_the_index_file(load: Load, name: str) -> None:
    settings = load(f'{{"agents": {{"list": [{{"id": "{name}"}}]}}}}')

    assert settings.agent(name).search.store.path.name == f"{name}.sqlite"


@pytest.mark.parametrize("second", ["work", "Work", "WORK"])
def test_two_agents_never_share_an_id(load: Load, second: str) -> None:
    settings = load(f"{{agents: {{list: [{{id: 'work'}}, {{id: '{second}'}}]}}}}")

    assert [agent.at for agent in settings.agents] == ["agents.list[0]"]
    [warning] = settings.warnings
    assert warning.startswith("agents.list[1].id: ")
    assert "this agent is left out" in warning


@pytest.mark.parametrize(
    "wrong",
    [
        "7",
        "{}",
        "{id: 'x', workspace: 7}",
        "{id: 'x', memorySearch: {enabled: 'no'}}",
        "{id: 'x', memorySearch: 7}",
    ],
)
def test_a_wrong_entry_costs_its_agent_and_no_other(load: Load, wrong: str) -> None:
    settings = load(f"{{agents: {{list: [{{id: 'a'}}, {wrong}, {{id: 'b'}}]}}}}")

    assert [agent.id for agent in settings.agents] == ["a", "b"]
    [warning] = settings.warnings
    assert warning.startswith("agents.list[1]")
    assert "this agent is left out" in warning


@pytest.mark.parametrize(
    "entries",
    [
        "7, {id: 'a'}",
        "{id: 'a'}, {id: '../x', default: true}",
        "{id: 'a'}, {id: 'x', default: 'yes'}",
        "{id: 'a'}, {id: 'x', default: true, workspace: 7}",
        "{id: 'x', memorySearch: {enabled: 'no'}}, {id: 'a'}",
    ],
)
def test_the_default_agent_never_becomes_another_by_a_mistake(
    load: Load, entries: str
) -> None:
    with pytest.raises(ConfigError):
        load(f"{{agents: {{list: [{entries}]}}}}")


def test_a_wrong_first_entry_is_left_out_where_another_is_the_default(
    load: Load,
) -> None:
    settings = load("{agents: {list: [7, {id: 'b'}, {id: 'a', default: true}]}}")

    assert settings.default_agent == "a"
    assert [agent.id for agent in settings.agents] == ["b", "a"]


def test_agents_never_share_an_index_file(load: Load, home: Path) -> None:
    settings = load(
        """{ agents: {
          defaults: { memorySearch: { store: { path: "~/one.sqlite" } } },
          list: [{ id: "a" }, { id: "b" }],
        } }"""
    )

    a, b = settings.agents

    assert a.search.store.path == home / "one.sqlite"
    assert b.search.store.path == home / "one-b.sqlite"
    [warning] = settings.warnings
    assert "share the index file" in warning


def test_an_unknown_agent_is_refused_with_the_known_ones(load: Load) -> None:
    settings = load("{ agents: { list: [{ id: 'kitchen' }, { id: 'main' }] } }")

    with pytest.raises(UsageError, match="no agent 'kichen'") as caught:
        settings.agent("kichen")

    assert caught.value.remedy == "did you mean 'kitchen'? configured: kitchen, main"
