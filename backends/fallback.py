"""The configured backend with builtin behind it: stepping down, saying so, coming back.

Where a backend doubts that it has found everything, builtin gives a second opinion.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from notewell.backends.base import (
    PLAIN_RUN,
    Backend,
    Findings,
    HasBounds,
    KeepsFresh,
    Listener,
    Query,
    Run,
    Site,
    in_order,
    is_same,
    reason_of,
)
from notewell.backends.freshness import Rhythm, Schedule
from notewell.backends.loops import drive, off_the_loop
from notewell.backends.registry import STAND_IN, backend_class, open_backend
from notewell.errors import BackendError, BackendUnknown
from notewell.types import Fallback, FallbackReason, Hit, IndexReport, IndexStatus

if TYPE_CHECKING:
    import asyncio

COOL_DOWN: Final = 60.0
"""Seconds for which a backend that failed is not asked again."""

_CATCH_UP_SECONDS: Final = 30.0

_SOON: Final = 0.2
"""Seconds that one run may take that keeps builtin ready in the background, and after
which it begins: whoever asks meanwhile is answered from an index that is behind."""

_DOUBTS: Final[Mapping[FallbackReason, str]] = {
    "cjk": "may miss what is written so, because of its script",
    "syntax": "may miss what is written so, because of its signs",
    "missing": "lacks some of the notes; `notewell status` names them",
}


async def open_with_fallback(site: Site) -> Backend:
    """Open the configured backend, with builtin behind it where that is allowed.

    Raises:
        BackendUnknown: no backend has the configured name.
        BackendError: it cannot start, and nothing may stand in for it.
    """
    wanted = site.memory.backend
    if wanted == STAND_IN or site.memory.fallback == "none":
        return await open_backend(wanted, site)
    return await FallbackBackend.open(site)


class FallbackBackend:
    """A backend that builtin stands in for while it fails. See `Backend`.

    After a failure it is left alone for a while and then tried again, so that it
    comes back without a restart. Every answer says who gave it, and why.
    """

    def __init__(self, site: Site, cool_down: float) -> None:
        self._site = site
        self._wanted = site.memory.backend
        self._opening: asyncio.Task[Backend] | None = None
        self._cool_down = cool_down
        self._primary: Backend | None = None
        self._failure: BackendError | None = None
        self._rests_until = 0.0
        self._told = False
        self._behind: Schedule | None = None

    @classmethod
    async def open(
        cls, site: Site, *, cool_down: float = COOL_DOWN
    ) -> "FallbackBackend":
        """Open builtin and, if it can start, the backend itself.

        Raises:
            BackendUnknown: no backend has the configured name.
            BackendError: not even builtin can start.
        """
        pair = cls(site, cool_down)
        if await pair._ready() is None or site.stays:
            stand_in = await pair._stand_in()
            if site.stays:
                pair._behind = _following(stand_in)
        return pair

    async def built(self) -> bool:
        """Whether the backend, or while it fails builtin, has an index."""
        return await (await self._ready() or await self._stand_in()).built()

    async def search(self, query: Query) -> Findings:
        """Answer by the backend; by builtin while it fails or has no index yet."""
        primary = await self._ready()
        if primary is None:
            return await self._instead(query, self._step())
        try:
            if not await primary.built():
                step = fallback_step(
                    self._wanted, "not-ready", "its index was not built yet"
                )
                return await self._instead(query, step)
            findings = await primary.search(query)
        except BackendError as error:
            self._note(error)
            return await self._instead(query, self._step())
        if findings.doubt is None:
            return findings
        return await self._second_opinion(query, findings, findings.doubt)

    async def refresh(self, run: Run = PLAIN_RUN) -> IndexReport:
        """Bring both indexes up to date; the one that stands in is kept ready.

        Raises:
            BackendError: neither could be.
        """
        primary, report = await self._ready(), None
        if primary is not None:
            try:
                report = await primary.refresh(run)
            except BackendError as error:
                self._note(error)
        try:
            behind = await (await self._stand_in()).refresh(
                replace(run, listener=_heard(run, first=report is None))
            )
        except BackendError as error:
            if report is None:
                raise
            warning = f"{STAND_IN} could not be kept ready: {error.message}"
            return replace(report, warnings=(*report.warnings, warning))
        if report is not None:
            return report
        return replace(behind, warnings=(*behind.warnings, *self._why()))

    def refresh_soon(self, *, changed: bool = True) -> None:
        """Say that the index should be brought up to date; builtin's while it rests."""
        if isinstance(self._primary, KeepsFresh):
            self._primary.refresh_soon(changed=changed)
        if self._behind and time.monotonic() < self._rests_until:
            self._behind.refresh_soon()

    async def status(self) -> IndexStatus:
        """Count what the index holds of whoever answers now."""
        primary = await self._ready()
        if primary is not None:
            return await primary.status()
        status = await (await self._stand_in()).status()
        return replace(status, backend=STAND_IN, fallbacks=(self._step(told=True),))

    async def close(self) -> None:
        """Close both."""
        primary, self._primary = self._primary, None
        self._rests_until = float("inf")
        try:
            if primary is not None:
                await primary.close()
        finally:
            if self._behind is not None:
                await off_the_loop(self._behind.close)
            if self._opening is not None:
                with suppress(BackendError):
                    await (await self._opening).close()

    async def _stand_in(self) -> Backend:
        """Return builtin, opened if need be.

        Raises:
            BackendError: not even builtin can start.
        """
        import asyncio  # slow to import, and builtin alone needs none

        if self._opening is None:
            # What stands in for an hour must not begin to pay for vectors of everything.
            # Nor does it keep a rhythm of its own beside that of the backend.
            embedding = self._site.fallback_embedding
            plain = replace(self._site, embedding=embedding, stays=False)
            self._opening = asyncio.ensure_future(open_backend(STAND_IN, plain))
        return await asyncio.shield(self._opening)

    async def _ready(self) -> Backend | None:
        """Return the backend, opened if need be; None while it rests."""
        if time.monotonic() < self._rests_until:
            return None
        if self._primary is None:
            try:
                self._primary = await open_backend(self._wanted, self._site)
            except BackendUnknown:
                raise
            except BackendError as error:
                self._note(error)
        return self._primary

    def _note(self, error: BackendError) -> None:
        self._failure, self._told = error, False
        self._rests_until = time.monotonic() + self._cool_down

    async def _instead(self, query: Query, step: Fallback) -> Findings:
        stand_in = await self._stand_in()
        found = await stand_in.search(await self._bounded(query))
        if self._behind:
            self._behind.refresh_soon()
        return by_stand_in(found, step)

    async def _second_opinion(
        self, query: Query, findings: Findings, doubt: FallbackReason
    ) -> Findings:
        """Let builtin's words add what the backend cannot find; it has no say else."""
        try:
            stand_in = await self._stand_in()
            if not await stand_in.built():
                return findings
            words = replace(await self._bounded(query), keywords_only=True)
            other = await stand_in.search(words)
        except BackendError:
            return findings
        return second_opinion(
            findings, other, backend=self._wanted, doubt=doubt, limit=query.limit
        )

    async def _bounded(self, query: Query) -> Query:
        """Keep builtin to what the backend was told to read and to show."""
        engine = backend_class(self._wanted)
        if not issubclass(engine, HasBounds):
            return query
        return (await off_the_loop(engine.bounds, self._site)).within(query)

    def _step(self, *, told: bool = False) -> Fallback:
        """Say why builtin answers: the failure once, then that it is waited for."""
        failure = self._failure
        assert failure is not None, "a backend rests because it failed"
        reason = reason_of(failure)
        if self._told and not told:
            reason = "cooldown"
        self._told = True
        return fallback_step(self._wanted, reason, *self._why())

    def _why(self) -> tuple[str, ...]:
        failure = self._failure
        return () if failure is None else (failure.with_remedy,)


def _heard(run: Run, *, first: bool) -> Listener:
    """Return who hears of builtin's run; after another's it is told of waiting alone."""
    return run.listener if first else _OfWaiting(run.listener)


class _OfWaiting(Listener):
    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def waiting(self) -> None:
        self._listener.waiting()


def _following(stand_in: Backend) -> Schedule:
    """Let builtin's index follow the notes, at the start and whenever it answers."""
    schedule = Schedule(
        Rhythm(debounce=_SOON, interval=0),
        update=lambda _: drive(
            stand_in.refresh(Run(within=_CATCH_UP_SECONDS, vectors="instant"))
        ),
    )
    schedule.start()
    return schedule


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
        if not any(is_same(hit, shown) for shown in findings.hits)
    ]
    if not more:
        return findings
    why = f"{backend} {_DOUBTS.get(doubt, 'may not find all of it')}"
    step = fallback_step(backend, doubt, why)
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


def fallback_step(backend: str, reason: FallbackReason, *why: str) -> Fallback:
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
