"""What builtin's findings add to those of a backend that may have missed something."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from notewell.backends.base import Findings, in_order, share_lines
from notewell.backends.registry import STAND_IN
from notewell.types import Fallback, FallbackReason, Hit

_DOUBTS: Final[Mapping[FallbackReason, str]] = {
    "cjk": "may miss what is written so, because of its script",
    "syntax": "may miss what is written so, because of its signs",
    "missing": "lacks some of the notes; `notewell status` names them",
}


def second_opinion(
    findings: Findings,
    other: Findings,
    *,
    backend: str,
    doubt: FallbackReason,
    limit: int,
) -> Findings:
    """Add what a backend could not find to what it found.

    Args:
        findings: What the backend found.
        other: What builtin found.
        backend: The backend's name.
        doubt: Why it may have missed something.
        limit: The most hits.
    """
    more = [
        hit
        for hit in other.hits
        if not any(share_lines(hit, shown) for shown in findings.hits)
    ]
    if not more:
        return findings
    why = f"{backend} {_DOUBTS.get(doubt, 'may not find all of it')}"
    step = stepped(backend, doubt, why)
    if not findings.hits:
        return by_stand_in(other, *findings.fallbacks, step)
    step = replace(step, kind="lexical-index")
    return replace(
        findings,
        hits=_merged(findings.hits, more, limit),
        fallbacks=(*findings.fallbacks, step),
        doubt=None,
    )


def by_stand_in(found: Findings, *steps: Fallback) -> Findings:
    """Return what builtin found as its answer, and why it is not the backend's."""
    return replace(
        found, backend=STAND_IN, fallbacks=(*steps, *found.fallbacks), degraded=True
    )


def stepped(backend: str, reason: FallbackReason, *why: str) -> Fallback:
    """Return the step from a backend to builtin."""
    return Fallback(
        kind="backend",
        from_=backend,
        to=STAND_IN,
        reason=reason,
        message="; ".join(why),
    )


def _merged(hits: Sequence[Hit], more: Sequence[Hit], limit: int) -> tuple[Hit, ...]:
    """Join hits, so that at least the best of `more`, which builtin found, is shown."""
    found = [replace(hit, engine=STAND_IN) for hit in more]
    best = in_order([*hits, *found])[:limit]
    if not any(hit.engine for hit in best):
        least = min((hit.score for hit in best[:-1]), default=1.0)
        best[-1] = replace(found[0], score=min(found[0].score, least))
    return tuple(best)
