"""Where keys are found."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from notewell.adapters.embeddings.base import EmbeddingSettings, KeyLookup
from notewell.adapters.embeddings.choose import find_key
from notewell.adapters.embeddings.remote.openai import provider
from notewell.config import load_settings
from notewell.errors import EmbeddingError


def found(
    home: Path,
    name: str = "openai",
    *,
    remote: str | None = None,
    entry: str | None = None,
    environ: Mapping[str, str] = {},
    agent: str = "main",
    first: bool = True,
) -> KeyLookup:
    file = home / "openclaw.json"
    parts = {
        "agents": {
            "list": [{"id": agent, "memorySearch": {"remote": {"apiKey": remote}}}]
        },
        "models": {"providers": {"openai": {"apiKey": entry}}},
    }
    file.write_text(json.dumps(parts), encoding="utf-8")
    variables = {"OPENCLAW_STATE_DIR": str(home), **environ}
    settings = load_settings(config_file=file, environ=variables, home=home)
    return find_key(name, settings, settings.agent(None), variables, first=first)


def revealed(key: KeyLookup) -> str | None:
    return key.key.reveal() if key.key else None


def put_profiles(home: Path, content: Any, agent: str = "main") -> None:
    folder = home / "agents" / agent / "agent"
    folder.mkdir(parents=True)
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    (folder / "auth-profiles.json").write_bytes(raw)


def api_key(key: object, provider: str = "openai") -> dict[str, object]:
    return {"type": "api_key", "provider": provider, "key": key}


def test_the_order_is_remote_entry_profile_environment(tmp_path: Path) -> None:
    put_profiles(tmp_path, {"profiles": {"openai:default": api_key("profile")}})
    environ = {"OPENAI_API_KEY": "variable"}

    every = found(tmp_path, remote="remote", entry="entry", environ=environ)
    second = found(
        tmp_path, remote="remote", entry="entry", environ=environ, first=False
    )

    assert revealed(every) == "remote"
    assert revealed(second) == "entry"
    assert revealed(found(tmp_path, entry="entry", environ=environ)) == "entry"
    assert revealed(found(tmp_path, environ=environ)) == "profile"


def test_a_reference_whose_variable_is_not_set_gives_way(tmp_path: Path) -> None:
    environ = {"OPENAI_API_KEY": "variable"}

    assert revealed(found(tmp_path, remote="${MISSING}", environ=environ)) == "variable"


@pytest.mark.parametrize("written", ["", "  ", "two\nlines", "schlüssel"])
def test_what_no_header_can_carry_is_no_key(tmp_path: Path, written: str) -> None:
    assert found(tmp_path, environ={"OPENAI_API_KEY": written}).key is None


@pytest.mark.parametrize(
    "profile",
    [
        api_key("env:MINE"),
        api_key("${MINE}"),
        {"mode": "api_key", "provider": "openai", "key": "sk-mine"},
        {
            "type": "api_key",
            "provider": "openai",
            "keyRef": {"source": "env", "id": "MINE"},
        },
    ],
)
def test_a_profile_may_hold_a_key_or_a_reference(
    tmp_path: Path, profile: dict[str, object]
) -> None:
    put_profiles(tmp_path, {"profiles": {"openai:default": profile}})

    assert revealed(found(tmp_path, environ={"MINE": "sk-mine"})) == "sk-mine"


def test_profiles_count_in_their_order(tmp_path: Path) -> None:
    profiles = {"openai:a": api_key("a"), "openai:b": api_key("b")}
    put_profiles(tmp_path, {"profiles": profiles, "order": {"openai": ["openai:b"]}})

    assert revealed(found(tmp_path)) == "b"


def test_geminis_profiles_are_googles(tmp_path: Path) -> None:
    put_profiles(tmp_path, {"profiles": {"google:default": api_key("g", "google")}})

    assert revealed(found(tmp_path, "gemini")) == "g"


def test_an_agent_uses_its_own_profiles_and_then_those_of_main(tmp_path: Path) -> None:
    put_profiles(tmp_path, {"profiles": {"openai:default": api_key("main")}})
    before = revealed(found(tmp_path, agent="work"))

    put_profiles(tmp_path, {"profiles": {"openai:default": api_key("work")}}, "work")

    assert before == "main"
    assert revealed(found(tmp_path, agent="work")) == "work"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[" * 100_000,
        b"nonsense",
        [],
        {"profiles": []},
        {"profiles": {"a": None, "b": {"provider": "openai", "type": ["api_key"]}}},
        {"profiles": {"a": api_key(17)}},
        {"profiles": {"a": api_key({"source": "exec", "id": "x"})}},
        {"profiles": {"a": api_key("k")}, "order": "openai"},
    ],
)
def test_a_file_that_makes_no_sense_does_no_harm(tmp_path: Path, content: Any) -> None:
    put_profiles(tmp_path, content)

    key = found(tmp_path, environ={"OPENAI_API_KEY": "k"})

    assert revealed(key) == "k"


@pytest.mark.parametrize("name", ["openai", "openai-codex"])
def test_a_login_by_oauth_is_refused_with_the_reason(tmp_path: Path, name: str) -> None:
    login = {"type": "oauth", "provider": name, "access": "sk-token"}
    put_profiles(tmp_path, {"profiles": {f"{name}:default": login}})

    key = found(tmp_path)
    request = EmbeddingSettings(name="openai", state_dir=tmp_path, key=key)

    assert key.key is None
    with pytest.raises(EmbeddingError) as caught:
        provider(request).open()
    assert "OAuth entries cover chat, not embeddings" in str(caught.value)
    assert caught.value.reason == "auth"
    assert "sk-token" not in repr(key) + str(caught.value) + caught.value.remedy
