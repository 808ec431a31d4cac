"""Which providers an agent has."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from notewell.adapters.embeddings.base import NO_PROVIDER, ProviderChoice
from notewell.adapters.embeddings.choose import choose_providers
from notewell.backends.registry import policy_of
from notewell.config import load_settings
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from tests.adapters.embeddings.conftest import Opened, Server

EVERY_KEY = {
    name: "sk-ambient"
    for name in ("OPENAI_API_KEY", "GOOGLE_API_KEY", "VOYAGE_API_KEY")
}


class Chosen(Protocol):
    """Chooses with these keys under `memorySearch` and these other parts of the file."""

    def __call__(
        self,
        search: Mapping[str, Any] = ...,
        /,
        *,
        environ: Mapping[str, str] = ...,
        configured: bool = ...,
        **rest: Any,
    ) -> ProviderChoice: ...


@pytest.fixture
def chosen(tmp_path: Path) -> Chosen:
    def choose_(
        search: Mapping[str, Any] = {},
        /,
        *,
        environ: Mapping[str, str] = {},
        configured: bool = True,
        **rest: Any,
    ) -> ProviderChoice:
        file = tmp_path / "openclaw.json"
        parts = {"agents": {"defaults": {"memorySearch": search}}, **rest}
        file.write_text(json.dumps(parts), encoding="utf-8")
        variables = {"OPENCLAW_STATE_DIR": str(tmp_path / "state"), **environ}
        settings = load_settings(config_file=file, environ=variables, home=tmp_path)
        agent = settings.agent(None)
        static = policy_of(settings, agent).embeds
        return choose_providers(
            settings, agent, variables, configured=configured, static=static
        )

    return choose_


def names(choice: ProviderChoice) -> tuple[str | None, str | None]:
    return (
        choice.first.name if choice.first else None,
        choice.second.name if choice.second else None,
    )


def everyone(choice: ProviderChoice) -> list[str]:
    return [provider.name for provider in choice.providers]


@pytest.mark.parametrize("search", [{}, {"provider": "auto"}])
def test_without_any_setting_the_one_that_comes_with_the_install_is_chosen(
    chosen: Chosen, search: Mapping[str, Any]
) -> None:
    choice = chosen(search)

    assert everyone(choice) == ["static"]
    assert choice.first is not None
    assert (choice.first.remote, choice.first.instant) == (False, True)


@pytest.mark.parametrize("fallback", [{}, {"fallback": "ollama"}])
def test_the_one_that_comes_with_the_install_stands_behind_the_others(
    chosen: Chosen, fallback: Mapping[str, Any]
) -> None:
    choice = chosen({"provider": "openai", **fallback})

    assert everyone(choice) == ["openai", *fallback.values(), "static"]
    assert choice.last is not None


def test_nothing_stands_behind_one_whose_fallback_is_none_in_writing(
    chosen: Chosen,
) -> None:
    assert everyone(chosen({"provider": "openai", "fallback": "none"})) == ["openai"]


@pytest.mark.parametrize(
    ("search", "order"),
    [
        ({"provider": "static"}, ["static"]),
        ({"provider": "static", "fallback": "ollama"}, ["static", "ollama"]),
        ({"provider": "ollama", "fallback": "static"}, ["ollama", "static"]),
    ],
)
def test_one_that_is_named_does_not_stand_in_for_itself(
    chosen: Chosen, search: Mapping[str, Any], order: list[str]
) -> None:
    choice = chosen(search)

    assert everyone(choice) == order
    assert choice.last is None


def test_without_its_package_words_alone_are_searched(
    chosen: Chosen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "wordllama", raising=False)

    assert chosen() == NO_PROVIDER
    assert everyone(chosen({"provider": "ollama"})) == ["ollama"]


def test_another_engine_is_given_no_vectors_that_nobody_asked_for(
    chosen: Chosen,
) -> None:
    assert chosen(memory={"backend": "qmd"}) == NO_PROVIDER
    assert everyone(chosen({"provider": "ollama"}, memory={"backend": "qmd"})) == [
        "ollama"
    ]


@pytest.mark.parametrize(
    ("variables", "name"),
    [
        (("MISTRAL_API_KEY", "OPENAI_API_KEY"), "openai"),
        (("VOYAGE_API_KEY", "GEMINI_API_KEY"), "gemini"),
        (("GOOGLE_API_KEY",), "gemini"),
        (("MISTRAL_API_KEY", "VOYAGE_API_KEY"), "voyage"),
        (("MISTRAL_API_KEY",), "mistral"),
        (("OLLAMA_API_KEY",), "static"),
    ],
)
def test_the_first_whose_key_resolves_is_chosen(
    chosen: Chosen, variables: tuple[str, ...], name: str | None
) -> None:
    environ = dict.fromkeys(variables, "sk-ambient")

    assert names(chosen(environ=environ)) == (name, None)
    assert names(chosen({"provider": "auto"}, environ=environ)) == (name, None)


def test_a_key_in_the_environment_uploads_no_folder_that_is_not_configured(
    chosen: Chosen,
) -> None:
    assert everyone(chosen(environ=EVERY_KEY, configured=False)) == ["static"]


def test_a_provider_that_is_named_serves_any_folder(chosen: Chosen) -> None:
    choice = chosen({"provider": "openai"}, environ=EVERY_KEY, configured=False)

    assert names(choice) == ("openai", None)


@pytest.mark.parametrize("configured", [True, False])
def test_a_model_file_that_is_there_comes_first(
    chosen: Chosen, tmp_path: Path, configured: bool
) -> None:
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF")
    search = {"local": {"modelPath": str(model)}}

    choice = chosen(search, environ=EVERY_KEY, configured=configured)

    assert names(choice) == ("local", None)


@pytest.mark.parametrize(
    "path", ["/nowhere/model.gguf", "hf:org/repository/model.gguf", "."]
)
def test_a_model_file_that_is_not_there_is_not_chosen(
    chosen: Chosen, path: str
) -> None:
    choice = chosen({"local": {"modelPath": path}}, environ=EVERY_KEY)

    assert names(choice) == ("openai", None)


def test_address_and_key_under_remote_are_nobody_elses(chosen: Chosen) -> None:
    remote = {"apiKey": "sk-mine", "baseUrl": "https://mine.example/v1"}

    alone = chosen({"remote": remote})
    beside = chosen(
        {"remote": {"baseUrl": "https://mine.example/v1"}},
        environ={"VOYAGE_API_KEY": "sk"},
    )

    assert alone.first is not None
    assert (alone.first.name, alone.first.host) == ("openai", "mine.example")
    assert beside.first is not None
    assert (beside.first.name, beside.first.host) == ("voyage", "api.voyageai.com")


def test_the_provider_none_is_none(chosen: Chosen) -> None:
    assert chosen({"provider": "none"}, environ=EVERY_KEY) == NO_PROVIDER


def test_the_second_has_its_own_model_key_and_address(
    chosen: Chosen, server: Server, opened: Opened
) -> None:
    choice = chosen(
        {
            "provider": "voyage",
            "fallback": "openai",
            "model": "first-model",
            "outputDimensionality": 7,
            "remote": {
                "apiKey": "sk-first",
                "baseUrl": "https://first.example",
                "headers": {"X-First": "1"},
            },
        },
        models={
            "providers": {
                "openai": {
                    "apiKey": "sk-second",
                    "baseUrl": server.url,
                    "headers": {"X-Second": "2"},
                }
            }
        },
    )
    assert names(choice) == ("voyage", "openai")
    assert choice.second is not None

    opened(choice.second).identity()

    [seen] = server.seen
    assert seen.body["model"] == "text-embedding-3-small"
    assert "dimensions" not in seen.body
    assert seen.headers["authorization"] == "Bearer sk-second"
    assert seen.headers["x-second"] == "2"
    assert "x-first" not in seen.headers


def test_headers_of_both_places_merge_and_those_under_remote_win(
    chosen: Chosen, server: Server, opened: Opened
) -> None:
    choice = chosen(
        {"provider": "openai", "remote": {"headers": {"X-A": "remote"}}},
        models={
            "providers": {
                "openai": {
                    "baseUrl": server.url,
                    "headers": {"x-a": "entry", "X-B": "entry"},
                }
            }
        },
    )
    assert choice.first is not None

    opened(choice.first).identity()

    headers = server.seen[0].headers
    assert (headers["x-a"], headers["x-b"]) == ("remote", "entry")


def test_a_server_is_told_the_role_in_the_words_that_are_configured(
    chosen: Chosen, server: Server, opened: Opened
) -> None:
    types = {"inputType": "passage", "queryInputType": "query"}
    plain = {"provider": "openai", "remote": {"baseUrl": server.url}}
    first = chosen({**plain, **types}).first
    without = chosen(plain).first
    assert first is not None
    assert without is not None
    embedder = opened(first)

    embedder.embed(["a"], "document")
    embedder.embed(["a"], "query")

    told = [seen.body["input_type"] for seen in server.seen[-2:]]
    assert told == ["passage", "query"]
    assert embedder.identity() != opened(without).identity()


def test_nothing_stands_in_for_itself(chosen: Chosen) -> None:
    choice = chosen({"provider": "gemini", "fallback": "google"})

    assert names(choice) == ("gemini", None)


def test_where_nothing_is_chosen_nothing_stands_in(chosen: Chosen) -> None:
    assert everyone(chosen({"fallback": "ollama"})) == ["static"]
    assert chosen({"provider": "none", "fallback": "ollama"}) == NO_PROVIDER


@pytest.mark.parametrize("name", ["opnai", "bedrock", "github-copilot", "lmstudio"])
def test_a_name_that_leads_nowhere_costs_that_provider_alone(
    chosen: Chosen, name: str
) -> None:
    choice = chosen({"provider": name}, environ=EVERY_KEY)

    assert everyone(choice) == [name, "static"]
    assert choice.first is not None
    assert not choice.first.remote
    with pytest.raises(EmbeddingError, match=name) as caught:
        choice.first.open()
    assert caught.value.reason == "missing"
    assert "agents.defaults.memorySearch.provider" in choice.warnings[0]


def test_a_name_is_told_with_the_nearest_one(chosen: Chosen) -> None:
    assert "did you mean 'openai'?" in chosen({"provider": "opnai"}).warnings[0]


@pytest.mark.parametrize("provider", [None, "none", "ollama"])
def test_a_stand_in_that_nobody_has_stands_in_for_nobody(
    chosen: Chosen, provider: str | None
) -> None:
    choice = chosen({"provider": provider, "fallback": "nosuch"})

    assert choice.second is None
    [told] = choice.problems
    assert "agents.defaults.memorySearch.fallback" in told
    assert "'nosuch'" in told


def test_openai_compatible_is_asked_at_its_own_address_alone(
    chosen: Chosen, server: Server, opened: Opened
) -> None:
    remote = {"baseUrl": f"{server.url}/v1/", "apiKey": "sk-own"}
    choice = chosen(
        {"provider": "openai-compatible", "remote": remote}, environ=EVERY_KEY
    )

    assert choice.first is not None
    assert opened(choice.first).identity().provider == "openai-compatible"
    assert server.seen[0].headers["authorization"] == "Bearer sk-own"


def test_openai_compatible_without_a_key_does_not_take_that_of_openai(
    chosen: Chosen, server: Server, opened: Opened
) -> None:
    search = {"provider": "openai-compatible", "remote": {"baseUrl": server.url}}
    openai = {"openai": {"apiKey": "sk-openai"}}
    choice = chosen(search, models={"providers": openai}, environ=EVERY_KEY)

    assert choice.first is not None
    opened(choice.first).identity()

    assert "authorization" not in server.seen[0].headers


def test_openai_compatible_without_an_address_goes_nowhere(chosen: Chosen) -> None:
    choice = chosen({"provider": "openai-compatible"}, environ=EVERY_KEY)

    assert choice.first is not None
    assert not choice.first.remote
    with pytest.raises(EmbeddingError, match="has no address"):
        choice.first.open()


def test_an_entry_with_an_address_is_a_provider(
    chosen: Chosen, server: Server, opened: Opened
) -> None:
    entry = {"baseUrl": f"{server.url}/api", "apiKey": "sk-house"}

    choice = chosen({"provider": "house"}, models={"providers": {"house": entry}})

    assert choice.first is not None
    assert (choice.first.name, choice.first.remote) == ("house", False)
    assert opened(choice.first).identity().provider == "house"
    assert server.seen[0].path == "/api/embeddings"
    assert server.seen[0].headers["authorization"] == "Bearer sk-house"


def test_an_entry_says_how_it_is_spoken_to(
    chosen: Chosen, server: Server, opened: Opened
) -> None:
    server.behave = lambda seen: server.reply(body={"embeddings": [[1, 2]]})
    entry = {"baseUrl": server.url, "api": "ollama"}

    choice = chosen({"provider": "box"}, models={"providers": {"box": entry}})

    assert choice.first is not None
    assert opened(choice.first).identity().dimension == 2
    assert server.seen[0].path == "/api/embed"


def test_an_entry_that_only_chats_is_asked_for_no_vectors(chosen: Chosen) -> None:
    entry = {"baseUrl": "https://chat.example", "api": "anthropic-messages"}

    choice = chosen({"provider": "chat"}, models={"providers": {"chat": entry}})

    assert everyone(choice) == ["chat", "static"]
    assert choice.first is not None
    with pytest.raises(EmbeddingError, match="its API has no embeddings"):
        choice.first.open()


def test_a_missing_key_is_told_when_the_provider_is_opened(chosen: Chosen) -> None:
    choice = chosen({"provider": "gemini"})
    assert choice.first is not None

    with pytest.raises(EmbeddingError) as caught:
        choice.first.open()

    assert caught.value.reason == "auth"
    assert caught.value.remedy == (
        "set GEMINI_API_KEY or agents.defaults.memorySearch.remote.apiKey "
        "or models.providers.google.apiKey"
    )


def test_ollama_on_this_machine_is_not_remote_and_needs_no_key(
    chosen: Chosen, opened: Opened
) -> None:
    here = chosen({"provider": "ollama"}).first
    there = chosen(
        {"provider": "ollama", "remote": {"baseUrl": "http://box.example:11434"}}
    ).first

    assert here is not None
    assert (here.remote, here.host) == (False, "")
    assert opened(here).model == "nomic-embed-text"
    assert there is not None
    assert (there.remote, there.host) == (True, "box.example")


def test_offline_refuses_a_remote_provider_when_it_is_opened(chosen: Chosen) -> None:
    choice = chosen({"provider": "openai"}, environ=EVERY_KEY, memory={"offline": True})
    assert choice.first is not None

    with pytest.raises(EmbeddingError, match=r"api\.openai\.com") as caught:
        choice.first.open()

    assert (caught.value.reason, caught.value.terminal) == ("offline", True)


def test_offline_allows_this_machine(
    chosen: Chosen, server: Server, opened: Opened
) -> None:
    remote = {"baseUrl": server.url, "apiKey": "sk"}

    choice = chosen({"remote": remote}, environ={"NOTEWELL_OFFLINE": "1"})

    assert choice.first is not None
    assert opened(choice.first).identity().dimension == 4


def test_offline_chooses_no_remote_provider(chosen: Chosen) -> None:
    choice = chosen(environ={**EVERY_KEY, "NOTEWELL_OFFLINE": "1"})

    assert everyone(choice) == ["static"]


@pytest.mark.parametrize("named", [{}, {"provider": "static"}])
def test_settings_that_static_has_no_use_for_are_told_by_their_keys(
    chosen: Chosen, named: Mapping[str, Any]
) -> None:
    choice = chosen({**named, "model": "minilm", "outputDimensionality": 64})

    where, why = (
        "agents.defaults.memorySearch",
        "is not used: the provider static has one",
    )
    assert choice.warnings == (
        f"{where}.model {why} model.",
        f"{where}.outputDimensionality {why} model.",
    )


def test_settings_that_the_provider_uses_are_no_reason_to_warn(chosen: Chosen) -> None:
    assert chosen({"provider": "ollama", "model": "bge-m3"}).warnings == ()
    assert chosen({"provider": "static"}).warnings == ()
