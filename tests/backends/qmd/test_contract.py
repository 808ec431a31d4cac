"""QMD keeps what `notewell.backends.base` promises."""

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from notewell.backends.base import Site
from notewell.backends.contract import BackendContract
from notewell.backends.qmd import QmdBackend
from notewell.config import load_settings

from .conftest import command_of, environ_for


class TestQmd(BackendContract):
    engine = QmdBackend

    def site(self, root: Path, state: Path) -> Site:
        settings = load_settings(
            config_file=None,
            environ={"OPENCLAW_STATE_DIR": str(state)},
            home=state,
            overrides={
                "agents.defaults.workspace": str(root),
                "memory.qmd.command": command_of(),
                "memory.qmd.limits.timeoutMs": 30_000,
            },
        )
        return replace(
            super().site(root, state), memory=settings.memory, environ=environ_for()
        )
