"""What a caller asks of a memory: checked, and compared with what there is."""

from collections.abc import Collection
from typing import Final

from notewell.config import AgentSettings
from notewell.errors import BackendError, BackendUnavailable
from notewell.types import Source

SOURCES: Final[frozenset[Source]] = frozenset({"memory", "sessions"})
AVAILABLE: Final[frozenset[Source]] = frozenset({"memory"})
"""What this version can search."""

MOST_RESULTS: Final = 10_000
"""As in the configuration."""

_NO_TRANSCRIPTS: Final = "Session transcripts are not searched by this version."


def limit_of(asked: int | None, configured: int) -> int:
    """Return how many results are wanted.

    Raises:
        ValueError: fewer than one, or more than MOST_RESULTS.
    """
    if asked is None:
        return configured
    if not 1 <= asked <= MOST_RESULTS:
        raise ValueError(f"max_results must lie in [1, {MOST_RESULTS}], got {asked}")
    return asked


def asked_sources(sources: Collection[Source] | None) -> frozenset[Source]:
    """Return where to look; everywhere when the caller does not say.

    Raises:
        ValueError: an unknown source, or none at all.
    """
    if sources is None:
        return SOURCES
    unknown = sorted(set(sources) - SOURCES)
    if unknown or not sources:
        raise ValueError(f"sources must be some of {sorted(SOURCES)}, got {unknown}")
    return frozenset(sources)


def enabled_sources(agent: AgentSettings) -> frozenset[Source]:
    """Return the sources that are configured."""
    return SOURCES & frozenset(agent.search.sources)


def left_out(
    asked: Collection[Source] | None, enabled: frozenset[Source]
) -> tuple[str, ...]:
    """Return a sentence for each source that was asked for and is not searched."""
    wanted = set(asked or ())
    dropped = sorted(wanted - enabled - {"sessions"})
    said = tuple(f"The source {name!r} is not configured." for name in dropped)
    return (*said, _NO_TRANSCRIPTS) if "sessions" in wanted else said


def sentences(failure: BackendError | None) -> tuple[str, ...]:
    """Return what a person should know of a failure, and what to do."""
    return () if failure is None else (f"{failure.message}; {failure.remedy}",)


def closed() -> BackendError:
    """Return what a memory says that was closed."""
    return BackendUnavailable(
        "memory", "it was closed", remedy="open it again with open_memory"
    )
