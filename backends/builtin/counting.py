"""What an index holds, counted when it is asked for."""

from pathlib import Path

from notewell.backends.builtin.files import size_of
from notewell.backends.builtin.identity import Identity, key_of
from notewell.backends.builtin.readers import Unreadable
from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.sets import (
    all_sets,
    count_embedded,
    count_missing,
)
from notewell.backends.builtin.writer import Indexed
from notewell.backends.text.passages import with_silent_transcripts
from notewell.config import VectorSettings
from notewell.types import (
    VECTOR_SEARCH,
    IndexReport,
    IndexStatus,
    Skipped,
    VectorStatus,
)


def counted(
    store: Store,
    path: Path,
    pending: int,
    warnings: tuple[str, ...],
    settings: VectorSettings,
) -> IndexStatus:
    """Count what the live generation holds."""
    live = store.live()
    assert live is not None
    identity = Identity.decoded(store.get(key_of(live)))
    vectors, searched = _vectors(store, live, settings)
    return IndexStatus(
        location=str(path),
        bytes=size_of(path),
        files=store.one(f"select count(*) from {live.files} where problem is null"),
        chunks=store.one(f"select count(*) from {live.chunks}"),
        pending=pending,
        indexed_at=store.indexed_at(),
        last_error=store.get("last_error"),
        identity={"chunker": identity.chunker, "tokenizer": identity.tokenizer},
        vectors=vectors,
        skipped=_problems(store, live),
        warnings=warnings,
        details={
            **searched,
            **_transcripts(store, live),
        },
    )


def uncounted(
    path: Path, notes: int, error: Unreadable, warnings: tuple[str, ...]
) -> IndexStatus:
    """Return the status of an index that cannot be read."""
    return IndexStatus(
        location=str(path),
        bytes=size_of(path),
        files=0,
        chunks=0,
        pending=notes,
        last_error=None if error.reason == "not-ready" else error.why,
        warnings=warnings,
    )


def nothing_held(indexed: Indexed, warnings: tuple[str, ...]) -> IndexReport:
    """Return the report of a run that has not completed a first index."""
    return IndexReport(
        files=0,
        chunks=0,
        pending=indexed.left or len(indexed.scanned),
        changed=indexed.done,
        skipped=indexed.scanned.skipped,
        warnings=warnings,
    )


def _transcripts(store: Store, live: Generation) -> dict[str, str]:
    """Say how many there are, and in which of them there is nothing to search."""
    files = store.one(f"select count(*) from {live.transcripts}")
    if not files:
        return {}
    passages = store.one(f"select count(*) from {live.origins}")
    silent = store.rows(
        f"select f.path from {live.transcripts} as t"
        f" join {live.files} as f on f.id = t.file_id"
        " where f.problem is null and f.size > 0 and not exists"
        f" (select 1 from {live.chunks} as c where c.file_id = f.id) order by f.path"
    )
    counted = f"{files:,} with {passages:,} passages"
    return {
        "transcripts": with_silent_transcripts(counted, [path for (path,) in silent])
    }


def _vectors(
    store: Store, live: Generation, settings: VectorSettings
) -> tuple[tuple[VectorStatus, ...], dict[str, str]]:
    """Count the sets, and say what they are searched by, where there are any."""
    sets = all_sets(store)
    if not sets:
        return (), {}
    from notewell.backends.builtin.vectors import calibration
    from notewell.backends.builtin.vectors.nearest import hindrance, needs_codes
    from notewell.backends.builtin.vectors.sqlite_vec import (
        IN_PROCESS,
        NAME,
        load_extension,
    )

    extension = load_extension(store, settings)
    said = f"{NAME} {extension.version}, {extension.path}"
    if extension.version is None:
        said = f"{IN_PROCESS}: {extension.why}"
    found: list[VectorStatus] = []
    for identity, kept in sets:
        many = needs_codes(store, kept)
        hindered = hindrance(store, kept, extension, many=many)
        if hindered:
            said = f"{IN_PROCESS}: {hindered.message}"
        found.append(
            VectorStatus(
                provider=identity.provider,
                model=identity.model,
                dimension=identity.dimension,
                passages=count_embedded(store, live, kept),
                lacking=count_missing(store, live, kept),
                search=IN_PROCESS if hindered or not extension.version else NAME,
                vectors=store.one(f"select count(*) from {kept.vectors}"),
                apart=calibration.read_calibration(
                    store.get(calibration.calibration_key(kept))
                ).in_words(),
            )
        )
    return tuple(found), {VECTOR_SEARCH: said}


def _problems(store: Store, live: Generation) -> tuple[Skipped, ...]:
    rows = store.rows(
        f"select path, problem from {live.files} where problem is not null"
        " order by path"
    )
    return tuple(Skipped(path=p, reason="unreadable", detail=why) for p, why in rows)
