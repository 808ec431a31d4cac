"""What an engine's settings mean for the rest of notewell, known before it is opened.

No engine is known by name above this package: who needs a limit, a scope or the modes
of an engine asks its policy.
"""

from collections.abc import Mapping
from typing import ClassVar, Final

from notewell.config import AgentSettings, ScopeSettings, Settings
from notewell.types import NarrowedPath
from notewell.values import dataclass
from notewell.workspace import Workspace

MOST_CHARS: Final = 12_000
"""Characters of notes that one answer to a model has, unless settings say otherwise."""

MOST_DOCUMENTS: Final = 50
"""Notes that one call reads."""


@dataclass(frozen=True, slots=True)
class Switch:
    """A setting that switches something on.

    Attributes:
        key: Its full name in the configuration.
        on: Whether it is.
    """

    key: str
    on: bool


@dataclass(frozen=True, slots=True)
class Limit:
    """A setting that limits something.

    Attributes:
        key: Its full name in the configuration.
        most: What it allows.
    """

    key: str
    most: int


class Policy:
    """The settings of one agent as an engine takes them that says nothing else.

    An engine that takes them otherwise derives its own, and has it as its class
    attribute `policy`. It is made often and asked by commands that open no engine:
    cheap, without side effects, and never failing.

    Attributes:
        settings: Every setting, resolved.
        agent: The agent's settings.
        modes: Ways to search that can be compared, each with the settings, by their full
            key, that ask for it; the usual one first.
        embeds: The engine makes vectors by our providers, so that it is given those of
            the install where none is configured.
        reports_staleness: Every answer says whether notes have changed since they were
            indexed.
        denied: What is said where `scope` closes memory.
    """

    modes: ClassVar[Mapping[str, Mapping[str, object]]] = {}
    embeds: ClassVar[bool] = False
    reports_staleness: ClassVar[bool] = True
    denied: ClassVar[str] = "The scope rules do not allow memory in this conversation."

    def __init__(self, settings: Settings, agent: AgentSettings) -> None:
        self.settings = settings
        self.agent = agent

    @property
    def max_results(self) -> int:
        """The most results of an answer, unless a call says otherwise."""
        return self.agent.search.query.max_results

    @property
    def max_injected_chars(self) -> Limit:
        """What limits the characters of notes in an answer to a model."""
        return Limit(f"one answer ({MOST_CHARS:,} characters)", MOST_CHARS)

    @property
    def extra_paths(self) -> tuple[str | NarrowedPath, ...]:
        """What is read beside the workspace."""
        return self.agent.search.extra_paths

    @property
    def scope(self) -> ScopeSettings | None:
        """In which conversations memory may be seen; None: in all."""
        return None

    @property
    def transcripts(self) -> Switch | None:
        """What switches transcripts on, beside their source; None: they are not read."""
        return None

    @property
    def refresh_seconds(self) -> float:
        """How long a process may go on with the index after a command has answered."""
        return 60.0

    def left_out(self, workspace: Workspace, path: str) -> str | None:
        """Return why the settings close a path, as cited, to everybody, or None."""
        return None

    def why_unavailable(self, environ: Mapping[str, str]) -> str | None:
        """Return why the engine cannot run here, or None. It may take seconds."""
        return None

    def why_not_compared(self, environ: Mapping[str, str]) -> str | None:
        """Return why a comparison leaves the engine out unless it is named, or None."""
        return self.why_unavailable(environ)

    @property
    def remarks(self) -> tuple[str, ...]:
        """A sentence for each thing that the settings ask for by half.

        Each is short: they stand in every answer, whoever reads it.
        """
        switch, asked = self.transcripts, "sessions" in self.agent.search.sources
        if switch is None or switch.on == asked:
            return ()
        key = switch.key.removeprefix("memorySearch.")
        return (f'Transcripts need "sessions" in sources and {key}.',)
