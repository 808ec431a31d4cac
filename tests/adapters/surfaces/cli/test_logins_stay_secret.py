"""An address with a login or a key in it is never shown so, wherever it was written."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from notewell.errors import UsageError, without_logins

if TYPE_CHECKING:
    from tests.adapters.surfaces.conftest import Notewell

LOGIN = "http://me:hunter2@127.0.0.1:9/v1"
QUERY = "http://127.0.0.1:9/v1?key=hunter2"
DAMAGED = "http:/me:hunter2@127.0.0.1"
PORT = "http://me:hunter2@127.0.0.1:99999/v1"
COMMANDS = (("doctor",), ("config",), ("search", "gateway"), ("models", "pull"))


def search_settings(address: str) -> dict[str, dict[str, Any]]:
    return {
        "base address": {"provider": "openai", "remote": {"baseUrl": address}},
        "provider": {"provider": address},
        "fallback": {"provider": "openai", "fallback": address},
        "model file": {"provider": "local", "local": {"modelPath": address}},
        "model": {"provider": "sentence-transformers", "model": address},
    }


@pytest.mark.parametrize("address", [LOGIN, QUERY, DAMAGED, PORT])
@pytest.mark.parametrize("place", search_settings(LOGIN))
def test_an_address_in_the_settings_is_shown_without_its_login(
    run: "Notewell", environ: dict[str, str], address: str, place: str
) -> None:
    state = Path(environ["OPENCLAW_STATE_DIR"])
    state.mkdir()
    settings = {
        "agents": {"defaults": {"memorySearch": search_settings(address)[place]}}
    }
    (state / "openclaw.json").write_text(json.dumps(settings), encoding="utf-8")

    for words in COMMANDS:
        ran = run(*words, "--verbose")
        assert "hunter2" not in ran.said + ran.text, words


@pytest.mark.parametrize("address", [LOGIN, QUERY, PORT])
@pytest.mark.parametrize("name", ["HF_ENDPOINT", "HTTP_PROXY", "ALL_PROXY"])
@pytest.mark.parametrize("model", ["hf:a/b/c.gguf", "me/zoo"])
def test_an_address_in_the_environment_is_shown_without_its_login(
    run: "Notewell", environ: dict[str, str], address: str, name: str, model: str
) -> None:
    environ.update({"HF_ENDPOINT": "http://127.1:9", name: address})

    ran = run("models", "pull", model, "--verbose")

    assert ran.code != 0
    assert "hunter2" not in ran.said + ran.text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"no {LOGIN} here", "no http://127.0.0.1:9/v1 here"),
        (f"'{QUERY}'", "'http://127.0.0.1:9/v1'"),
        (DAMAGED, "http:/127.0.0.1"),
        ("//me:hunter2@host/x", "//host/x"),
        ("mail ada@example.org about memory/a:b@c.md", None),
        ("notes//x@y.md and a?b#c", None),
        ("see https://example.org/a@b", None),
    ],
)
def test_an_error_holds_no_login(text: str, shown: str | None) -> None:
    error = UsageError(text, remedy=text)

    assert error.message == error.remedy == str(error) == (shown or text)
    assert without_logins(error.message) == error.message
