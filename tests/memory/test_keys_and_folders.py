"""Which key counts for which folder: what may be sent is never decided by chance."""

import json
from pathlib import Path

import pytest

from notewell.memory.setup import Setup, set_up

OPENAI = {"models": {"providers": {"openai": {"apiKey": "sk-file"}}}}
REMOTE = {"memory": {"search": {"remote": {"apiKey": "sk-file"}}}}


class Home:
    """A home folder with OpenClaw's state in it.

    Attributes:
        folder: The home.
        usual: The workspace that is meant when nobody names one.
        named: Another folder of notes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / ".openclaw"
        self.usual = self.state / "workspace"
        self.named = folder / "notes"
        for each in (self.usual, self.named):
            each.mkdir(parents=True)
            (each / "MEMORY.md").write_text("x\n", encoding="utf-8")

    def opened(
        self,
        config: dict[str, object],
        *,
        own: dict[str, object] | None = None,
        workspace: Path | None = None,
        **environ: str,
    ) -> Setup:
        """Read the settings as a command does."""
        (self.state / "openclaw.json").write_text(json.dumps(config), encoding="utf-8")
        text = json.dumps(own) if own else ""
        (self.state / "notewell.json5").write_text(text, encoding="utf-8")
        return set_up(
            workspace=workspace,
            agent=None,
            config=None,
            backend=None,
            server=False,
            environ={"OPENCLAW_STATE_DIR": str(self.state), **environ},
            overrides={},
        )


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("HOME", str(tmp_path))
    return Home(tmp_path)


def in_file(home: Home, config: dict[str, object]) -> dict[str, object]:
    return {"agents": {"defaults": {"workspace": str(home.named)}}, **config}


def provider(setup: Setup) -> str:
    first = setup.embedding.first
    return first.name if first else "none"


@pytest.mark.parametrize("config", [OPENAI, REMOTE])
def test_a_key_in_the_file_counts_for_the_folder_that_the_file_leads_to(
    home: Home, config: dict[str, object]
) -> None:
    assert provider(home.opened(config)) == "openai"
    assert provider(home.opened(in_file(home, config))) == "openai"
    assert provider(home.opened({}, own=config)) == "openai"


@pytest.mark.parametrize("config", [OPENAI, REMOTE])
def test_a_key_in_the_file_never_counts_for_a_folder_that_a_flag_names(
    home: Home, config: dict[str, object]
) -> None:
    elsewhere = home.opened(config, workspace=home.named)
    the_same = home.opened(config, workspace=home.usual)
    named = home.opened(in_file(home, config), workspace=home.named)

    assert [provider(each) for each in (elsewhere, the_same, named)] == ["static"] * 3
    assert "is not used" in elsewhere.embedding.hint


def test_a_key_in_the_file_never_counts_for_the_current_folder(
    home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (home.usual / "MEMORY.md").unlink()
    home.usual.rmdir()
    monkeypatch.chdir(home.named)

    setup = home.opened(dict(OPENAI))

    assert setup.workspace.root == home.named.resolve()
    assert provider(setup) == "static"


def test_a_key_in_the_environment_alone_needs_a_folder_that_the_file_names(
    home: Home,
) -> None:
    usual = home.opened({}, OPENAI_API_KEY="sk-env")
    named = home.opened(in_file(home, {}), OPENAI_API_KEY="sk-env")
    flag = home.opened({}, workspace=home.named, OPENAI_API_KEY="sk-env")

    assert [provider(each) for each in (usual, named, flag)] == [
        "static",
        "openai",
        "static",
    ]
    assert "OPENAI_API_KEY" in usual.embedding.hint
    assert "agents.defaults.workspace" in usual.embedding.hint


def test_a_reference_in_the_file_to_a_variable_is_a_key_in_the_file(home: Home) -> None:
    config = {"models": {"providers": {"openai": {"apiKey": "${K}"}}}}

    assert provider(home.opened(dict(config), K="sk-env")) == "openai"
    assert provider(home.opened(dict(config))) == "static"


def test_a_profile_of_openclaw_needs_a_folder_that_the_file_names(home: Home) -> None:
    folder = home.state / "agents" / "main" / "agent"
    folder.mkdir(parents=True)
    profile = {"type": "api_key", "provider": "openai", "key": "sk-profile"}
    (folder / "auth-profiles.json").write_text(
        json.dumps({"profiles": {"openai:default": profile}}), encoding="utf-8"
    )

    assert provider(home.opened({})) == "static"
    assert provider(home.opened(in_file(home, {}))) == "openai"


def test_a_hint_names_the_key_and_its_place_and_never_shows_it(home: Home) -> None:
    setup = home.opened(dict(OPENAI))

    assert "models.providers.openai.apiKey" in setup.embedding.hint
    assert "notewell index" in setup.embedding.hint
    assert "api.openai.com" in setup.embedding.hint
    assert "sk-file" not in setup.embedding.hint


@pytest.mark.parametrize("name", ["static", "none", "ollama"])
def test_whoever_names_a_provider_needs_no_hint(home: Home, name: str) -> None:
    search = {"memory": {"search": {"provider": name}}}

    setup = home.opened({**OPENAI, **search})

    assert provider(setup) == name
    assert setup.embedding.hint == ""


def test_offline_asks_nobody_and_hints_at_nothing(home: Home) -> None:
    setup = home.opened(dict(OPENAI), own={"memory": {"offline": True}})

    assert provider(setup) == "static"
    assert setup.embedding.hint == ""
