"""Questions that ask for nothing but days: `March 3rd`, `what did I do yesterday`.

No passage holds such words for what they mean, so the notes of the days come first, as if
somebody had asked for what was written then; what the words find follows. A question that
asks for a thing as well (`what did we decide last week about the gateway`) is none of these.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from notewell.backends.base import Backend, Findings, Query, share_lines
from notewell.backends.text.query import parse_query
from notewell.dates import DateRange, day_in_name
from notewell.filters import Filter
from notewell.types import Hit

if TYPE_CHECKING:
    from notewell.dates.reader import NamedDate

_LONGEST: Final = timedelta(days=40)
"""Whoever asks for more days at once wants to find something in them."""

_LISTED: Final = 100
"""Passages of a time among which those of daily notes are looked for."""

_YEARS: Final = 5
"""Years back in which a day without a year is looked for."""

_LEAST: Final = 0.5
_LIFT: Final = 0.2
"""Of the score of a note of the day: at least, and of what the best one lacks."""

_SAYS_NOTHING: Final = frozenset(
    [
        "happen",
        "happened",
        "happening",
        "done",
        "note",
        "notes",
        "log",
        "logs",
        "diary",
        "journal",
        "entry",
        "entries",
        "day",
        "write",
        "wrote",
        "written",
        "recap",
        "summary",
        "passiert",
        "gemacht",
        "getan",
        "war",
        "notizen",
        "tagebuch",
        "fait",
        "passé",
        "pasó",
        "hice",
        "hicimos",
        "notas",
        "diario",
    ]
)
"""Words of which a question about a day consists, beside stop words."""


def asks_for_days_alone(text: str, named: "Sequence[NamedDate]") -> bool:
    """Say whether a question names days, and nothing else that could be found."""
    from notewell.dates.reader import normalized

    rest = normalized(text)
    for one in reversed(named):
        rest = f"{rest[: one.start]} {rest[one.end :]}"
    return all(
        term.stop_word or term.exact[0] in _SAYS_NOTHING
        for term in parse_query(rest).terms
    )


async def with_days_first(
    engine: Backend, findings: Findings, query: Query, today: date
) -> Findings:
    """Return what an engine found with what daily notes of the days hold before it.

    Args:
        engine: The engine.
        findings: What it found by the question.
        query: The question.
        today: The day from which a day without a year is looked for, backwards.

    Raises:
        BackendError: the engine fails at the second question.
    """
    of_days: list[Hit] = []
    for days in query.dates:
        of_days += await _of_days(engine, query, days, today)
    if not of_days:
        return findings
    known = {(hit.path, hit.start_line): hit for hit in findings.hits}
    best = max([_LEAST, *(hit.score for hit in findings.hits)])
    score = best + (1 - best) * _LIFT
    if query.min_score is not None and score < query.min_score:
        return findings
    first = {
        (hit.path, hit.start_line): replace(
            known.get((hit.path, hit.start_line), hit), score=score
        )
        for hit in of_days
    }
    others = [
        hit
        for key, hit in known.items()
        if key not in first and not any(share_lines(hit, other) for other in of_days)
    ]
    hits = tuple([*first.values(), *others][: query.limit])
    return replace(findings, hits=hits, reason=None)


async def _of_days(
    engine: Backend, query: Query, days: DateRange, today: date
) -> list[Hit]:
    """Return the passages of daily notes of some days, the newest first."""
    if days.last - days.first > _LONGEST:
        return []
    for first, last in _in_years(days, today) if days.yearly else [days[:2]]:
        chosen = _narrowed(query.filter or Filter(), first, last)
        if chosen is None:
            continue
        asked = replace(query, text="", filter=chosen, limit=max(_LISTED, query.limit))
        listed = await engine.search(replace(asked, dates=(), min_score=None))
        found = [hit for hit in listed.hits if _is_of(hit, first, last)]
        if found:
            return found
    return []


def _in_years(days: DateRange, today: date) -> Iterable[tuple[date, date]]:
    """Yield the last such days that have begun, and those of the years before."""
    for year in range(today.year, today.year - _YEARS, -1):
        first, last = _moved(days.first, year), _moved(days.last, year)
        if last < first:
            last = _moved(days.last, year + 1)
        if first <= today:
            yield first, last


def _moved(day: date, year: int) -> date:
    """Return a day in another year; the 29th of February may be the 28th there."""
    try:
        return day.replace(year=year)
    except ValueError:
        return day.replace(year=year, day=28)


def _narrowed(chosen: Filter, first: date, last: date) -> Filter | None:
    """Return a filter that wants these days, too; None if none of them is left."""
    since = max(first, chosen.since or first)
    until = min(last, chosen.until or last)
    return replace(chosen, since=since, until=until) if since <= until else None


def _is_of(hit: Hit, first: date, last: date) -> bool:
    """Say whether a passage says itself that it is of a day; its file may be newer."""
    if hit.source == "sessions":
        return True
    written = day_in_name(hit.path) or day_in_name(hit.heading)
    return written is not None and first <= written <= last
