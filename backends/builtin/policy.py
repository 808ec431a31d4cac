"""What the settings mean for the builtin engine."""

from collections.abc import Mapping
from typing import ClassVar, Final

from notewell.backends.policy import Policy, Switch

_SEARCH: Final = "agents.defaults.memorySearch"
_HYBRID: Final = f"{_SEARCH}.query.hybrid.enabled"


class BuiltinPolicy(Policy):
    """Everything as under `memorySearch`."""

    modes: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "keyword": {f"{_SEARCH}.provider": "none"},
        "hybrid": {_HYBRID: True},
        "vector": {_HYBRID: False},
    }
    embeds = True
    reports_staleness = False

    @property
    def transcripts(self) -> Switch:
        """Whether they are indexed as notes are."""
        on = self.agent.search.experimental.session_memory
        return Switch("memorySearch.experimental.sessionMemory", on)
