"""What an agent's transcripts have that the index lacks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.config.schema import SessionSyncSettings
from notewell.sessions.files import Transcript
from notewell.sessions.passages import has_news
from notewell.sessions.reading import Position


class Heard(NamedTuple):
    """A transcript as the index holds it.

    Attributes:
        path: As citations show it.
        size: In bytes, when it was read.
        mtime_ns: Its last change then.
        id: The id of its file row.
        problem: Why it could not be read, or None.
        read: Up to where it was read.
    """

    path: str
    size: int
    mtime_ns: int
    id: int
    problem: str | None
    read: Position


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What there is to do about transcripts.

    Attributes:
        changed: Transcripts to read, with what the index holds of them.
        removed: What the index holds of transcripts that are gone.
        again: Transcripts that could not be read, to be tried once more.
        kept: How many are in the index and cannot be looked for now.
    """

    changed: Sequence[tuple[Transcript, Heard | None]] = ()
    removed: Sequence[Heard] = ()
    again: Sequence[tuple[Transcript, Heard | None]] = ()
    kept: int = 0

    def __len__(self) -> int:
        return self.certain() + len(self.again)

    def certain(self) -> int:
        """Count what is known to differ."""
        return len(self.changed) + len(self.removed)


def heard_transcripts(store: Store, tables: Generation) -> dict[str, Heard]:
    """Return every transcript of a generation by its path."""
    rows = store.rows(
        "select f.path, f.size, f.mtime_ns, f.id, f.problem, t.offset, t.line, t.mark"
        f" from {tables.transcripts} as t join {tables.files} as f on f.id = t.file_id"
    )
    return {
        path: Heard(path, size, mtime_ns, key, problem, Position(*read))
        for path, size, mtime_ns, key, problem, *read in rows
    }


def spoken_difference(
    found: Sequence[Transcript],
    heard: dict[str, Heard],
    settings: SessionSyncSettings,
    *,
    closed: bool,
) -> Spoken:
    """Compare transcripts with what a generation holds of them.

    New ones are always wanted; those that have grown when they pass a threshold.

    Args:
        found: The transcripts.
        heard: What the index holds of them.
        settings: The thresholds.
        closed: Their folder cannot be read now, so none of them is gone.
    """
    if closed:
        return Spoken(kept=len(heard))
    changed: list[tuple[Transcript, Heard | None]] = []
    again: list[tuple[Transcript, Heard | None]] = []
    for transcript in found:
        before = heard.get(transcript.path)
        if before is None:
            changed.append((transcript, None))
        elif (before.size, before.mtime_ns) == (transcript.size, transcript.mtime_ns):
            if before.problem is not None:
                again.append((transcript, before))
        elif before.problem is not None or has_news(
            transcript, before.size, before.read, settings
        ):
            changed.append((transcript, before))
    here = {transcript.path for transcript in found}
    removed = [before for path, before in heard.items() if path not in here]
    return Spoken(changed=changed, removed=removed, again=again)
