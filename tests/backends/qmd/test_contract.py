"""QMD keeps what `notewell.backends.base` promises."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from notewell.backends.base import Site
from notewell.backends.contract import BackendContract
from notewell.backends.qmd.engine import QmdBackend
from notewell.config import load_settings


class TestQmd(BackendContract):
    engine = QmdBackend
    one_pair_in = 7  # a question starts Node; `TestQmdOnEveryPair` asks for all

    @pytest.fixture(autouse=True)
    def _with_the_real_program(
        self, qmd: list[str], environ: Mapping[str, str]
    ) -> None:
        self._command = qmd
        self._environ = environ

    def site(self, root: Path, state: Path) -> Site:
        settings = load_settings(
            config_file=None,
            environ={"OPENCLAW_STATE_DIR": str(state)},
            home=state,
            overrides={
                "agents.defaults.workspace": str(root),
                "memory.qmd.command": self._command,
                "memory.qmd.limits.timeoutMs": 30_000,
            },
        )
        site = super().site(root, state)
        return replace(site, memory=settings.memory, environ=self._environ)


@pytest.mark.soak
class TestQmdOnEveryPair(TestQmd):
    one_pair_in = 1
