"""What the settings ask for and this version does not do, yet or at all."""

from collections.abc import Callable, Collection
from typing import Final

from notewell.config.settings import AgentSettings, Settings

_Asks = Callable[[Settings, AgentSettings], bool]


def later_features(
    settings: Settings, agent: AgentSettings, *, told: Collection[str] = ()
) -> tuple[str, ...]:
    """Return a sentence for each configured feature that this version lacks.

    Each is short: they stand in every answer, whoever reads it.

    Args:
        settings: Every setting.
        agent: The agent whose features are asked for.
        told: Kinds of steps down that the reader is told of in another place.
    """
    return tuple(
        sentence
        for kind, asks, sentence in _FEATURES
        if kind not in told and asks(settings, agent)
    )


def unused_settings(settings: Settings, agent: AgentSettings) -> tuple[str, ...]:
    """Return a sentence for each of OpenClaw's keys that notewell has no use for.

    They concern whoever looks after the file, so answers go without them.
    """
    shared = ("memory.", "agents.defaults.", f"{agent.at}.")
    return tuple(
        f"{key} is a setting of OpenClaw that notewell does not use."
        for key in settings.unused
        if key.startswith(shared)
    )


def _asks_for_half(settings: Settings, agent: AgentSettings) -> bool:
    search = agent.search
    half = ("sessions" in search.sources) != search.experimental.session_memory
    return settings.memory.backend != "qmd" and half


def _asks_qmd_for_half(settings: Settings, agent: AgentSettings) -> bool:
    memory, asked = settings.memory, "sessions" in agent.search.sources
    return memory.backend == "qmd" and asked != memory.qmd.sessions.enabled


# The kind of the step down that says the same in an answer, who asks, what is said.
_FEATURES: Final[tuple[tuple[str, _Asks, str], ...]] = (
    (
        "",
        _asks_for_half,
        'Transcripts need "sessions" in sources and experimental.sessionMemory.',
    ),
    (
        "",
        _asks_qmd_for_half,
        'Transcripts need "sessions" in sources and memory.qmd.sessions.enabled.',
    ),
)
