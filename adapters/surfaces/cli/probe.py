"""One search that shows whether an index answers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from notewell.errors import NotewellError
from notewell.types import StatusReport

if TYPE_CHECKING:
    from notewell.memory import SyncMemory

_QUERY: Final = "notewell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """How a probe search went.

    Attributes:
        ok: Whether the configured engine answered, at full strength.
        detail: The same for a person.
        mode: How it searched; None when it did not.
        took_ms: Wall time of the search.
    """

    ok: bool
    detail: str
    mode: str | None = None
    took_ms: float | None = None


def lost_cause(memory: "SyncMemory", report: StatusReport) -> str | None:
    """Return why every search fails, in one sentence; None when none is known to.

    Nothing is built for this: without an index only a missing engine is a cause.
    """
    if not report.enabled:
        return None
    if report.index.location and report.index.indexed_at is None:
        return None
    answer = memory.search(_QUERY, max_results=1)
    if answer.reason != "unavailable":
        return None
    return answer.warnings[-1] if answer.warnings else "no engine could answer"


def probe(memory: "SyncMemory", report: StatusReport) -> Probe:
    """Search for a word, unless there is nothing that could answer.

    A search would build a missing index; a status must not.
    """
    if not report.enabled:
        return Probe(ok=True, detail="memory is switched off")
    if report.index.indexed_at is None:
        return Probe(ok=False, detail="the index was never built: run `notewell index`")
    try:
        answer = memory.search(_QUERY, max_results=1)
    except NotewellError as error:
        return Probe(ok=False, detail=error.message)
    weak = answer.degraded or answer.reason == "unavailable"
    causes = [step.message for step in answer.fallbacks]
    said = f"{answer.backend} answered, {answer.mode}, {answer.took_ms:,.0f} ms"
    return Probe(
        ok=not weak,
        detail="; ".join([said, *causes]),
        mode=answer.mode,
        took_ms=answer.took_ms,
    )
