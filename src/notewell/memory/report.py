"""The status of one agent's memory, put together from the disk and the engine."""

from notewell.config import unused_settings
from notewell.memory.opening import Opening
from notewell.types import IndexStatus, Source, StatusReport
from notewell.workspace import WorkspaceScan

_SOURCES: tuple[Source, ...] = ("memory", "sessions")
_NO_INDEX = IndexStatus(location="", bytes=0, files=0, chunks=0, pending=0)


def status_report(
    opening: Opening,
    scanned: WorkspaceScan,
    index: IndexStatus | None,
    *,
    backend: str,
    problems: tuple[str, ...],
) -> StatusReport:
    """Join what was found on disk with what the engine says of its index."""
    settings, agent = opening.settings, opening.agent
    index = index or _NO_INDEX
    return StatusReport(
        agent=agent.id,
        workspace=str(opening.workspace.root),
        enabled=opening.enabled,
        backend=index.backend or backend,
        requested_backend=settings.memory.backend,
        requested_provider=opening.requested_provider,
        sources=tuple(name for name in _SOURCES if name in agent.search.sources),
        disk_files=len(scanned.notes),
        disk_bytes=scanned.bytes,
        index=index,
        extra_paths=scanned.extra_paths,
        skipped=(*scanned.skipped, *index.skipped),
        fallbacks=index.fallbacks,
        warnings=(
            *settings.warnings,
            *opening.policy.remarks,
            *unused_settings(settings, agent),
            *problems,
            *index.warnings,
        ),
    )
