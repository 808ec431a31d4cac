"""A configuration in a temporary home, loaded as every command loads it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import pytest

from notewell.config import Settings, load_settings


class Load(Protocol):
    """Writes the text as `~/.openclaw/openclaw.json` and resolves the settings."""

    def __call__(
        self,
        text: str | bytes | None = None,
        *,
        environ: Mapping[str, str] = ...,
        overrides: Mapping[str, object] = ...,
    ) -> Settings: ...


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def load(home: Path) -> Load:
    def written_and_loaded(
        text: str | bytes | None = None,
        *,
        environ: Mapping[str, str] = {},
        overrides: Mapping[str, object] = {},
    ) -> Settings:
        state = home / ".openclaw"
        state.mkdir(parents=True, exist_ok=True)
        if text is not None:
            content = text.encode() if isinstance(text, str) else text
            (state / "openclaw.json").write_bytes(content)
        return load_settings(environ=environ, home=home, overrides=overrides)

    return written_and_loaded
