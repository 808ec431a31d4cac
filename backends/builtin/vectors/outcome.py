"""What vectors give to a search and to a run, also when there are none.

Light, for this is loaded by those who have no provider, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.values import dataclass

if TYPE_CHECKING:
    from notewell.adapters.embeddings.base import EmbeddingIdentity
    from notewell.backends.builtin.vectors.nearest import NearestNeighbours
    from notewell.types import Fallback


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryVector:
    """A query's vector with the set that it is compared with, or why there is none.

    Attributes:
        vector: float32, little-endian, unit length; None: words alone.
        identity: What the vector depends on.
        cut: How the passages of the set that is wanted are cut into windows.
        provider: Who made it.
        model: With which model.
        fallbacks: Steps down that were taken.
        local_to_remote: The query left this machine because a local provider failed.
        neighbours: What it is compared by.
    """

    vector: bytes | None = None
    identity: EmbeddingIdentity | None = None
    cut: str = ""
    provider: str | None = None
    model: str | None = None
    fallbacks: tuple[Fallback, ...] = ()
    local_to_remote: bool = False
    neighbours: NearestNeighbours | None = None


KEYWORDS_ONLY = QueryVector()


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedReport:
    """What a run of embedding has left.

    Attributes:
        embedded: Passages that have a vector of the provider that was asked last.
        left: Texts that still lack one.
        failed: No provider could finish.
        local_to_remote: Text left this machine because a local provider failed.
        warnings: What a person should know.
    """

    embedded: int = 0
    left: int = 0
    failed: bool = False
    local_to_remote: bool = False
    warnings: tuple[str, ...] = ()
