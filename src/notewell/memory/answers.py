"""Putting an answer together: the engine's findings in one schema, with honest flags."""

import time
from dataclasses import dataclass

from notewell.backends.base import Findings
from notewell.log import log
from notewell.memory.opening import Opening
from notewell.types import Document, EmptyReason, IndexReport, SearchAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """What is known of an answer before the engine is asked.

    Attributes:
        opening: Settings and workspace.
        query: What was asked.
        backend: The engine that is asked.
        started: `time.perf_counter()` when the question came.
    """

    opening: Opening
    query: str
    backend: str
    started: float

    def empty(self, reason: EmptyReason, *warnings: str) -> SearchAnswer:
        """Return an answer without results, that says why."""
        findings = Findings(hits=(), mode="keyword", reason=reason)
        return self.found(findings, *warnings)

    def found(self, findings: Findings, *warnings: str) -> SearchAnswer:
        """Return an answer with an engine's findings."""
        settings, agent = self.opening.settings, self.opening.agent
        fallbacks, half = findings.fallbacks, self.opening.policy.remarks
        answer = SearchAnswer(
            query=self.query,
            workspace=str(self.opening.workspace.root),
            agent=agent.id,
            results=tuple(findings.hits),
            backend=findings.backend or self.backend,
            requested_backend=settings.memory.backend,
            mode=findings.mode,
            provider=findings.provider,
            model=findings.model,
            requested_provider=self.opening.requested_provider,
            fallbacks=fallbacks,
            local_to_remote=findings.local_to_remote,
            degraded=findings.degraded or bool(fallbacks),
            reason=findings.reason,
            freshness=findings.freshness,
            warnings=(*settings.warnings, *half, *warnings, *findings.warnings),
            took_ms=(time.perf_counter() - self.started) * 1000,
        )
        _log(answer)
        return answer


def switched_off(path: str, start: int) -> Document:
    """Return what `get` gives when this agent has no memory."""
    return Document(
        path=path,
        text="",
        start_line=start,
        end_line=start - 1,
        total_lines=0,
        found=False,
        reason="memory-disabled",
    )


def _log(answer: SearchAnswer) -> None:
    for step in answer.fallbacks:
        log(
            "memory",
            "warning",
            "%s instead of %s: %s",
            step.to,
            step.from_,
            step.reason,
        )
    log(
        "memory",
        "debug",
        "%s answered, %s: %d results, %.1f ms",
        answer.backend,
        answer.mode,
        len(answer.results),
        answer.took_ms,
    )


def log_run(report: IndexReport) -> None:
    """Log what a run over the notes left behind."""
    log(
        "memory",
        "info",
        "%d files with %d passages are indexed; %d had changed, %d are pending",
        report.files,
        report.chunks,
        report.changed,
        report.pending,
    )
