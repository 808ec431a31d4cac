"""Sentences for people and for models: what is said about an answer, and quantities.

Each is written here once, whichever surface says it.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from notewell.note_links import NoteLink, NoteLinks
from notewell.types import (
    Document,
    EmptyReason,
    Fallback,
    IndexReport,
    SearchAnswer,
)

_NOTHING_FOUND: Final[Mapping[EmptyReason, tuple[str, str, str]]] = {
    "no-match": (
        "No passage matches.",
        "Try fewer or other words; `notewell status` shows what is indexed.",
        "No passage matches. Try fewer or other words.",
    ),
    "empty-query": (
        "The query is empty.",
        'Ask with some words: notewell search "gateway port"',
        "The query is empty. Ask with some words.",
    ),
    "nothing-indexed": (
        "There are no notes to search.",
        "Write some in MEMORY.md or memory/, or name another folder: --workspace DIR",
        "There are no notes to search yet.",
    ),
    "source-disabled": (
        "That source is switched off.",
        "memorySearch.sources says what is searched; see `notewell config`.",
        "That source is not searched; memorySearch.sources says what is.",
    ),
    "denied-by-scope": (
        "The scope rules keep memory out of this conversation.",
        "The scope in the configuration says where it is allowed; see `notewell config`.",
        "The scope rules keep memory out of this conversation.",
    ),
    "memory-disabled": (
        "Memory is switched off in the configuration.",
        "`notewell status` names the switch.",
        "Memory is switched off in the configuration.",
    ),
    "unavailable": (
        "No engine could answer.",
        "`notewell doctor` looks for the cause.",
        "No engine could answer; `notewell doctor` looks for the cause.",
    ),
}
"""Why an answer is empty: said to a person, with an advice; said to a model."""

_UNITS: Final = ("KB", "MB", "GB", "TB")
_STEPS: Final = (
    (timedelta(days=1), "day"),
    (timedelta(hours=1), "hour"),
    (timedelta(minutes=1), "minute"),
)


_NOTHING_LISTED: Final = (
    "Nothing passes the filter.",
    "Leave a part of it out; `notewell recent` shows what was written last.",
    "Nothing passes the filter. Leave a part of it out.",
)
"""The same where nothing was asked but a filter."""


_NOTHING_LEFT: Final = (
    "No passage that passes the filter matches.",
    "Leave a part of the filter out, or try other words.",
    "No passage that passes the filter matches. Leave a part of it out, or try other words.",
)
"""The same where a filter was given beside a question."""


def empty_answer(answer: SearchAnswer) -> tuple[str, str]:
    """Tell a person why nothing was found, and what to do about it."""
    said, advice, _ = _nothing_found(answer)
    return said, advice


def empty_answer_for_model(answer: SearchAnswer) -> str:
    """Tell a model why nothing was found."""
    return _nothing_found(answer)[2]


def _nothing_found(answer: SearchAnswer) -> tuple[str, str, str]:
    reason = answer.reason or "no-match"
    filtered = answer.understood is not None and bool(answer.understood.filters)
    if reason == "no-match" and not answer.query.strip():
        return _NOTHING_LISTED
    if reason == "no-match" and filtered:
        return _NOTHING_LEFT
    return _NOTHING_FOUND[reason]


def answered_by(answer: SearchAnswer) -> str:
    """Say who answered and how: the engine, the mode, and by whose vectors."""
    provider = f" ({answer.provider})" if answer.provider else ""
    return f"{answer.backend}, {answer.mode}{provider}"


def fallback_sentence(step: Fallback) -> str:
    """Say what served instead of what, and why.

    >>> fallback_sentence(Fallback(kind="embedding", from_="ollama", to="none",
    ...     reason="network", message="ollama: no connection; start it"))
    'words alone instead of ollama: no connection; start it'
    """
    instead = "words alone" if step.to == "none" else step.to
    why = step.message.removeprefix(f"{step.from_}: ")  # it begins as errors do
    return f"{instead} instead of {step.from_}: {why}"


def answer_remarks(answer: SearchAnswer) -> Iterator[str]:
    """Return what a person should know about an answer, the weightiest first."""
    for step in answer.fallbacks:
        yield f"note: {fallback_sentence(step)}"
    if answer.local_to_remote:
        yield "warning: text left this machine because a local choice had failed"
    if answer.degraded:
        yield "note: this answer is weaker than the configuration asks for"
    for warning in answer.warnings:
        yield f"warning: {warning}"
    if read := reading_sentence(answer):
        yield f"note: {read}"
    yield from _behind(answer)


def reading_sentence(answer: SearchAnswer) -> str:
    """Say how the days of a question were read; empty where it names none."""
    dates = answer.understood.dates if answer.understood else ()
    read: dict[str, list[str]] = {}
    for one in dates:
        days = one.since if one.since == one.until else f"{one.since} to {one.until}"
        if one.since.startswith("--"):
            days = f"{days.replace('--', '')} of any year"
        read.setdefault(one.text, []).append(days)
    said = [f'"{text}" is read as {" or ".join(days)}' for text, days in read.items()]
    return ", ".join(said)


def filter_sentence(answer: SearchAnswer) -> str:
    """Say what the filter was read as; empty without one."""
    filters = answer.understood.filters if answer.understood else ()
    return f"only {', '.join(filters)}" if filters else ""


def _behind(answer: SearchAnswer) -> Iterator[str]:
    freshness = answer.freshness
    if freshness.stale is None:
        from notewell.backends.registry import policy_class  # not for `--help`

        # Where an engine never looks before an answer, a command looks afterwards.
        if policy_class(answer.backend).reports_staleness:
            yield "note: it was not checked whether notes have changed since they were indexed"
    elif freshness.pending:
        verb = "has" if freshness.pending == 1 else "have"
        count = number_of(freshness.pending, "note")
        yield f"note: {count} {verb} changed since the index was made"
    elif freshness.stale:
        yield "note: some notes have changed since they were indexed"


def why_missing(found: Document | NoteLinks) -> str:
    """Say that a note was not found, and why.

    >>> why_missing(NoteLinks(path="a.md", found=False, reason="not-found"))
    'a.md: not found'
    """
    kind, colon, why = (found.reason or "not-found").partition(": ")
    if kind == "path-refused" or why.startswith(found.path):
        return why
    if kind == "not-found":
        return f"{found.path}: not found{colon}{why}"
    return f"{found.path}: not found: {found.reason}"


def link_target(link: NoteLink) -> str:
    """Say where a link leads.

    >>> link_target(NoteLink(path="a.md", line=1, text="", target="b", to=None))
    'b (no such note)'
    """
    if link.to is not None:
        return link.to
    if link.candidates:
        return f"{link.target} (may be {' or '.join(link.candidates)})"
    return f"{link.target} (no such note)"


def plural(count: int, one: str, more: str = "") -> str:
    """Return the noun as the count wants it.

    >>> plural(1, "query", "queries"), plural(0, "file")
    ('query', 'files')
    """
    return one if count == 1 else more or f"{one}s"


def number_of(count: int, one: str, more: str = "") -> str:
    """Return a number of things.

    >>> number_of(1, "query", "queries"), number_of(1200, "file")
    ('1 query', '1,200 files')
    """
    return f"{count:,} {plural(count, one, more)}"


def size_text(count: int) -> str:
    """Return a number of bytes.

    >>> size_text(1), size_text(999), size_text(1_500), size_text(2_340_000)
    ('1 byte', '999 bytes', '1.5 KB', '2.3 MB')
    """
    if count < 1000:
        return f"{count} byte" if count == 1 else f"{count} bytes"
    amount, unit = count / 1000, _UNITS[0]
    for larger in _UNITS[1:]:
        if amount < 1000:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.1f} {unit}"


def duration_text(milliseconds: float) -> str:
    """Return a length of time.

    >>> duration_text(3.4), duration_text(187_400)
    ('3 ms', '187 s')
    """
    if milliseconds < 10_000:
        return f"{milliseconds:,.0f} ms"
    return f"{milliseconds / 1000:,.0f} s"


def time_text(when: datetime, now: datetime | None = None) -> str:
    """Return a moment in UTC, and how long ago that is.

    >>> noon = datetime(2026, 1, 10, 12, tzinfo=UTC)
    >>> time_text(noon, now=noon + timedelta(hours=3))
    '2026-01-10 12:00:00 UTC, 3 hours ago'
    """
    aware = when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC)
    passed = (now or datetime.now(UTC)) - aware
    return f"{aware:%Y-%m-%d %H:%M:%S} UTC, {_ago(passed)}"


def _ago(passed: timedelta) -> str:
    for step, name in _STEPS:
        count = passed // step
        if count >= 1:
            return f"{count} {name} ago" if count == 1 else f"{count} {name}s ago"
    return "just now"


def changes_text(report: IndexReport) -> str:
    """Say what a run has done; what is gone was removed, and not changed.

    >>> from notewell.types import IndexReport
    >>> changes_text(IndexReport(files=7, chunks=9, changed=3, removed=2))
    '1 changed, 2 removed'
    """
    counts = ((report.changed - report.removed, "changed"), (report.removed, "removed"))
    return ", ".join(f"{count:,} {word}" for count, word in counts if count)
