"""Keys are found, and never shown."""

import json
import pickle
from collections.abc import Callable
from typing import TypeAlias

import pytest

from notewell.config import Secret, Settings
from notewell.config.listing import list_settings
from notewell.errors import ConfigError

Load: TypeAlias = Callable[..., Settings]


KEY = "sk-verysecret"

FILE = """{
  models: { providers: {
    openai: { apiKey: "THE-KEY", headers: { "X-Org": "THE-KEY" } },
    google: { apiKey: "${GEMINI}", baseUrl: "https://me:THE-KEY@host/v1?k=THE-KEY" },
  } },
  agents: { defaults: { memorySearch: { provider: "openai", remote: {
    apiKey: "env:MINE",
    baseUrl: "https://host/v1?key=${MINE}",
    headers: { Authorization: "Bearer ${MINE}", "X-Plain": "THE-KEY" },
  } } } },
}""".replace("THE-KEY", KEY)


@pytest.fixture
def settings(load: Load) -> Settings:
    return load(FILE, environ={"MINE": KEY, "GEMINI": KEY})


def test_keys_are_resolved(settings: Settings) -> None:
    remote = settings.agent(None).search.remote
    assert remote.api_key is not None
    assert remote.api_key.reveal() == KEY
    assert remote.base_url == f"https://host/v1?key={KEY}"
    assert remote.headers["Authorization"].reveal() == f"Bearer {KEY}"
    assert settings.providers["openai"].api_key == Secret(KEY)
    assert settings.providers["google"].api_key == Secret(KEY)


def test_no_print_out_holds_a_key(settings: Settings) -> None:
    listed = json.dumps([[v.key, v.value, v.origin] for v in list_settings(settings)])

    assert KEY not in listed
    assert KEY not in repr(settings)
    assert KEY not in str(settings)
    assert KEY not in f"{settings.agent(None).search.remote.api_key}"


def test_a_reference_is_shown_as_it_is_written(settings: Settings) -> None:
    shown = {value.key: value.value for value in list_settings(settings)}

    remote = "agents.defaults.memorySearch.remote"
    assert shown["models.providers.openai.apiKey"] == "[redacted]"
    assert shown["models.providers.google.apiKey"] == "${GEMINI}"
    assert shown["models.providers.google.baseUrl"] == "https://host/v1"
    assert shown[f"{remote}.apiKey"] == "env:MINE"
    assert shown[f"{remote}.headers"] == {
        "Authorization": "[redacted]",
        "X-Plain": "[redacted]",
    }


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (f"https://me:{KEY}@host/m.gguf?token={KEY}", "https://host/m.gguf"),
        (f"hf:me/model/m.gguf?token={KEY}", "hf:me/model/m.gguf"),
        (f"${{SERVER}}/m.gguf?token={KEY}", "${SERVER}/m.gguf"),
        (f"${{SCHEME}}://me:{KEY}@host/m.gguf", "${SCHEME}://host/m.gguf"),
        ("/models/m#1?.gguf", "/models/m#1?.gguf"),
    ],
)
def test_where_a_model_comes_from_is_shown_without_login_and_query(
    load: Load, written: str, shown: str
) -> None:
    settings = load(
        SEARCH % f'{{local: {{modelPath: "{written}"}}}}',
        environ={"SERVER": "https://host", "SCHEME": "https"},
    )

    values = {value.key: value.value for value in list_settings(settings)}
    assert values["agents.defaults.memorySearch.local.modelPath"] == shown
    assert KEY not in repr(settings)


def test_a_missing_variable_leaves_the_key_out_with_a_warning(load: Load) -> None:
    settings = load(FILE, environ={"MINE": KEY})

    [warning] = settings.warnings
    assert settings.providers["google"].api_key is None
    assert warning == (
        "models.providers.google.apiKey is left out: "
        "the environment variable GEMINI is not set"
    )


def test_a_missing_variable_elsewhere_is_an_error(load: Load) -> None:
    with pytest.raises(ConfigError, match="variable NOTES is not set"):
        load('{agents: {defaults: {workspace: "${NOTES}/x"}}}')


def test_variables_stand_inside_texts_and_can_be_escaped(load: Load) -> None:
    settings = load(
        '{agents: {defaults: {memorySearch: {extraPaths: ["${A}/b", "$${A}", "${a}"]}}}}',
        environ={"A": "/x"},
    )

    assert settings.agent(None).search.extra_paths == ("/x/b", "${A}", "${a}")


def test_the_reference_object_of_openclaw_is_understood(load: Load) -> None:
    text = """{ models: { providers: {
      openai: { apiKey: { source: "env", provider: "default", id: "MINE" } },
      voyage: { apiKey: { source: "exec", provider: "vault", id: "v" } },
    } } }"""

    settings = load(text, environ={"MINE": KEY})

    [warning] = settings.warnings
    assert settings.providers["openai"].api_key == Secret(KEY)
    assert settings.providers["voyage"].api_key is None
    assert "models.providers.voyage.apiKey" in warning


OPENAI = "{models: {providers: {openai: %s}}}"
SEARCH = "{agents: {defaults: {memorySearch: %s}}}"


@pytest.mark.parametrize(
    "text",
    [
        OPENAI % f'{{apiKey: ["{KEY}"]}}',
        OPENAI % f'{{apiKey: "{KEY}\\n"}}',
        OPENAI % f'{{apiKey: "{KEY}\\u2028x"}}',
        OPENAI % f'{{apiKey: {{source: 1, id: "{KEY}"}}}}',
        OPENAI % f'{{headers: "Bearer {KEY}"}}',
        OPENAI % f'{{headers: ["{KEY}"]}}',
        OPENAI % f'"{KEY}"',
        f'{{models: {{providers: "{KEY}"}}}}',
        f'{{models: "{KEY}"}}',
        SEARCH % f'{{remote: {{headers: "Bearer {KEY}"}}}}',
        SEARCH % f'{{remote: "{KEY}"}}',
        SEARCH % f'"{KEY}"',
        f'{{agents: {{list: ["{KEY}"]}}}}',
        f'"{KEY}"',
    ],
)
def test_an_error_about_a_key_does_not_repeat_it(load: Load, text: str) -> None:
    try:
        shown = str(list_settings(load(text)))
    except ConfigError as exc:
        shown = f"{exc}{exc.remedy}{exc.__context__!r}{exc.__cause__!r}"

    assert KEY not in shown


@pytest.mark.parametrize("block", ["models.providers.openai", "memory.search.remote"])
def test_a_key_that_is_a_number_is_not_repeated_either(load: Load, block: str) -> None:
    text = "4815162342"
    for name in reversed(block.split(".")):
        text = f"{{{name}: {text}}}"

    settings = load(text)

    [warning] = settings.warnings
    assert warning.startswith(f"{block}: is a number")
    assert "4815162342" not in f"{settings!r}{list_settings(settings)}"


def test_an_error_about_an_address_does_not_repeat_it(load: Load) -> None:
    settings = load(
        f'{{"models": {{"providers": {{"openai": {{"baseUrl": "x://{KEY}"}}}}}}}}'
    )

    assert settings.warnings
    assert KEY not in f"{settings!r}{list_settings(settings)}"


def test_a_secret_is_not_pickled() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(Secret(KEY))
