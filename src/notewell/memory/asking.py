"""What a caller asks of a memory: checked, and compared with what there is."""

from collections.abc import Collection
from typing import Final

from notewell.errors import BackendError, BackendUnavailable
from notewell.memory.opening import Opening
from notewell.types import EmptyReason, Source

SOURCES: Final[frozenset[Source]] = frozenset({"memory", "sessions"})
MOST_RESULTS: Final = 10_000
"""As in the configuration."""


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


def threshold_of(asked: float | None) -> float | None:
    """Return below which score results are left out; None: as it is configured.

    Raises:
        ValueError: it is no score.
    """
    if asked is not None and not 0 <= asked <= 1:
        raise ValueError(f"min_score must lie in [0, 1], got {asked}")
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


def enabled_sources(opening: Opening) -> frozenset[Source]:
    """Return the sources that are configured and can be searched."""
    enabled = SOURCES & frozenset(opening.agent.search.sources)
    return enabled if opening.transcripts else enabled - {"sessions"}


def nothing_to_ask(
    query: str, sources: frozenset[Source], opening: Opening, session_key: str | None
) -> EmptyReason | None:
    """Return why no engine is to be asked, or None."""
    if not opening.enabled:
        return "memory-disabled"
    if not opening.allows(session_key):
        return "denied-by-scope"
    if not query.strip():
        return "empty-query"
    return None if sources else "source-disabled"


def left_out(asked: Collection[Source] | None, opening: Opening) -> tuple[str, ...]:
    """Return a sentence for each source that was asked for and is not searched."""
    dropped = set(asked or ()) - enabled_sources(opening)
    said = tuple(
        f"The source {name!r} is not configured." for name in dropped - {"sessions"}
    )
    why = opening.no_transcripts if "sessions" in dropped else None
    return (*said, f"Transcripts are not searched: {why}.") if why else said


def closed() -> BackendError:
    """Return what a memory says that was closed."""
    return BackendUnavailable(
        "memory", "it was closed", remedy="open it again with open_memory"
    )
