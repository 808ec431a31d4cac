"""What `status` says of QMD and its index: counts for the schema, and lines for a person."""

from datetime import UTC, datetime

from notewell.backends.base import Site
from notewell.backends.qmd.copies import Copies
from notewell.backends.qmd.home import Home, Record
from notewell.backends.qmd.outlook import Outlook, not_read
from notewell.backends.qmd.program import Program
from notewell.backends.qmd.vectors import Vectors
from notewell.types import Fallback, IndexStatus


def status_of(
    now: Outlook,
    home: Home,
    program: Program,
    *,
    fallbacks: tuple[Fallback, ...],
    details: dict[str, str],
) -> IndexStatus:
    """Count what the index holds and what it lacks.

    Args:
        now: The notes and what the index knows of them.
        home: Where the index is.
        program: Which QMD it is.
        fallbacks: The steps down that a search takes.
        details: What else a person may want to know.
    """
    record, well = now.record, now.problem is None
    return IndexStatus(
        location=str(home.folder),
        bytes=_size(home, record),
        files=len(home.notes()) if record.generation and well else 0,
        chunks=record.documents if well else 0,
        pending=now.pending,
        indexed_at=moment(record.indexed_at),
        last_error=record.last_error,
        identity={"qmd": record.version or program.version},
        skipped=(*now.due.skipped, *not_read(record)),
        fallbacks=fallbacks,
        warnings=now.warnings,
        details=details,
    )


def details_of(
    record: Record, site: Site, program: Program, copies: Copies, vectors: Vectors
) -> dict[str, str]:
    """Say what a person may want to know of the program and its index."""
    details = {
        "program": f"{program.path}, version {program.version}",
        "runs as": " ".join(program.command),
        "mode": site.memory.qmd.search_mode,
    }
    counted = ", ".join(
        f"{name} {record.counts.get(name, 0):,}"
        for name in (each.name for each in record.collections)
    )
    if counted:
        details["collections"] = counted
    if copies.wanted:
        details["transcripts"] = copies.said()
    if vectors.wanted:
        left, when = record.pending_vectors, moment(record.embedded_at)
        details["vectors"] = (
            f"{'?' if left is None else left} documents to embed, last run "
            f"{'never' if when is None else f'{when:%Y-%m-%d %H:%M}'}"
        )
    return details


def moment(seconds: float | None) -> datetime | None:
    """Return a time of the record, if there is one."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _size(home: Home, record: Record) -> int:
    total = 0
    folder = home.database(record.generation).parent
    if record.generation and folder.is_dir():
        for file in folder.glob("index.sqlite*"):
            total += file.stat().st_size
    return total
