"""PostgreSQL keeps what `notewell.backends.base` promises."""

from dataclasses import replace
from pathlib import Path

import pytest

from notewell.backends.base import Site
from notewell.backends.contract import BackendContract
from notewell.backends.postgres.engine import PostgresBackend
from notewell.config import load_settings


class TestPostgres(BackendContract):
    engine = PostgresBackend

    @pytest.fixture(autouse=True)
    def _with_a_real_server(self, dsn: str) -> None:
        self._dsn = dsn

    def site(self, root: Path, state: Path) -> Site:
        settings = load_settings(
            config_file=None,
            environ={"OPENCLAW_STATE_DIR": str(state)},
            home=state,
            overrides={
                "agents.defaults.workspace": str(root),
                "memory.postgres.dsn": self._dsn,
                "memory.postgres.timeoutMs": 60_000,
            },
        )
        return replace(super().site(root, state), memory=settings.memory)
