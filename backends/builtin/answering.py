"""Answering a query: read it, find candidates, weigh, order, hold against the files."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

from notewell.backends.base import Findings, Query, Site
from notewell.backends.builtin.legs import Legs
from notewell.backends.builtin.recheck import Recheck
from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import BACKEND, Store
from notewell.backends.builtin.vectors.outcome import KEYWORDS_ONLY, QueryVector
from notewell.backends.text.passages import ScoredPassage
from notewell.backends.text.query import ParsedQuery
from notewell.backends.text.query import parse_query as read_query
from notewell.backends.text.ranking import rank
from notewell.backends.text.scoring import ExactMatch, Scorer
from notewell.backends.text.snippets import cut_snippet
from notewell.types import Fallback, FallbackReason, Freshness, Hit, source_of
from notewell.workspace.layout import show_name

if TYPE_CHECKING:  # loaded by those who need them
    from notewell.backends.builtin.scanning import Looked
    from notewell.backends.builtin.transcripts.citing import Sayings

_FEWEST_CANDIDATES = 40
"""Passages that are weighed whatever the limit: the second stage wants a choice."""

_MOST_CANDIDATES = 2_000
"""Passages that are weighed at most to fill an answer."""

_NAMED = 5
"""Notes and folders that a sentence names."""

_WITHOUT_TRANSCRIPTS = (
    "Transcripts are found by the index alone, so they were left out."
)
_CUT = "The query is long; its first and weightiest words were searched for."


def from_index(
    site: Site,
    store: Store,
    query: Query,
    *,
    meaning: QueryVector = KEYWORDS_ONLY,
    outdated: str | None = None,
) -> Findings:
    """Answer from the live generation of an index.

    Args:
        meaning: The question's vector, if there is one.
        outdated: Why the index has to be built anew, if it has to.
    """
    asked = read_query(query.text)
    if not asked.terms:
        return Findings(
            hits=(),
            mode="keyword",
            fallbacks=meaning.fallbacks,
            local_to_remote=meaning.local_to_remote,
            reason="empty-query",
        )
    tables = store.live()
    assert tables is not None, "the caller has seen that the index is built"
    legs = Legs(site, store, tables, asked, query, meaning)
    literal = ExactMatch(asked.terms, legs.spread)
    recheck = Recheck(site.workspace, _sayings(site, store, tables))
    hits = _from_legs(site, query, legs, literal, recheck)
    fallbacks = (*meaning.fallbacks, *_gone(meaning, legs), *legs.fallbacks)
    return Findings(
        hits=hits,
        mode=legs.mode,
        provider=meaning.provider if legs.vectors else None,
        model=meaning.model if legs.vectors else None,
        fallbacks=fallbacks,
        local_to_remote=meaning.local_to_remote,
        degraded=legs.lacking > 0 or bool(fallbacks),
        reason=None if hits else "no-match" if legs.passages else "nothing-indexed",
        freshness=Freshness(
            indexed_at=store.indexed_at(),
            # Of the notes that are not cited nothing is known.
            stale=True if outdated or recheck.stale else None,
        ),
        warnings=(
            *_warnings(asked),
            *((outdated,) if outdated else ()),
            *((_lacking(legs),) if legs.lacking else ()),
            *unread_warnings(recheck.unread),
        ),
    )


def from_files(
    site: Site,
    query: Query,
    reason: FallbackReason,
    why: str,
    *,
    meaning: QueryVector = KEYWORDS_ONLY,
    stop: Event | None = None,
) -> Findings:
    """Answer by reading the notes themselves, since the index cannot be read.

    Args:
        reason: Why it cannot, in one word.
        why: The same in a sentence.
        meaning: What was done for the question's vector before that came out.
        stop: No further note is read once it is set.

    Raises:
        CalledOff: `stop` was set.
    """
    from notewell.backends.builtin.scanning import look_through  # rarely needed

    stepped_down = Fallback(
        kind="lexical-index", from_=BACKEND, to="scan", reason=reason, message=why
    )
    asked = read_query(query.text)
    if not asked.terms:
        return Findings(hits=(), mode="scan", reason="empty-query")
    chunking = site.agent.search.chunking
    looked = look_through(
        site.workspace,
        asked.terms,
        chunking,
        hides=lambda path: "memory" not in query.sources or query.hides(path),
        stop=stop,
    )
    scorer = Scorer(
        asked.terms,
        looked.spread,
        passages=looked.total,
        mean_length=looked.mean_length,
    )
    scored = [scorer.score(passage) for passage in looked.passages]
    literal = ExactMatch(asked.terms, looked.spread)
    recheck = Recheck(site.workspace)
    hits = _hits(site, query, scored, scorer, literal, recheck)
    return Findings(
        hits=hits,
        mode="scan",
        fallbacks=(*meaning.fallbacks, stepped_down),
        local_to_remote=meaning.local_to_remote,
        degraded=True,
        reason=None if hits else "no-match" if looked.total else "nothing-indexed",
        freshness=Freshness(pending=looked.notes),
        warnings=(*_warnings(asked), *_missed(query, looked)),
    )


def unread_warnings(unread: Mapping[str, str]) -> tuple[str, ...]:
    """Say what cannot be read now, by path and reason; nothing if that is nothing.

    >>> unread_warnings({"memory": "Permission denied"})
    ('Cannot be read now, and is left out until it can: memory (Permission denied).',)
    """
    if not unread:
        return ()
    named = [f"{show_name(path)} ({why})" for path, why in sorted(unread.items())]
    more = f" and {len(named) - _NAMED:,} more" if len(named) > _NAMED else ""
    said = ", ".join(named[:_NAMED])
    return (f"Cannot be read now, and is left out until it can: {said}{more}.",)


def _from_legs(
    site: Site, query: Query, legs: Legs, literal: ExactMatch, recheck: Recheck
) -> list[Hit]:
    """Return the hits, from as many candidates as it takes."""
    multiplier = site.agent.search.query.hybrid.candidate_multiplier
    pool = max(_FEWEST_CANDIDATES, query.limit * multiplier)
    while True:
        found = legs.candidates(literal, pool)
        hits = _hits(
            site, query, found, legs.scorer, literal, recheck, floor=legs.floor
        )
        if len(hits) >= query.limit or legs.exhausted or pool > _MOST_CANDIDATES:
            return hits
        # Passages that are gone, closed or of one line have taken others' places.
        pool *= 4


def _missed(query: Query, looked: "Looked") -> Iterator[str]:
    """Say what was not read on the way through the notes."""
    yield from unread_warnings(looked.unread)
    if looked.read < looked.notes:
        yield f"Only {looked.read} of {looked.notes} notes could be read in time."
    if "sessions" in query.sources:
        yield _WITHOUT_TRANSCRIPTS


def _sayings(site: Site, store: Store, tables: Generation) -> "Sayings | None":
    if not site.transcripts:
        return None
    from notewell.backends.builtin.transcripts.citing import Sayings
    from notewell.sessions import sessions_folder

    return Sayings(store, tables, sessions_folder(site.state_dir, site.agent.id))


def _hits(
    site: Site,
    query: Query,
    scored: Sequence[ScoredPassage],
    scorer: Scorer,
    literal: ExactMatch,
    recheck: Recheck,
    floor: float | None = None,
) -> list[Hit]:
    """Return the hits; passages that are gone make room for the next ones."""
    able = [one for one in scored if one.text > 0 or one.vector is not None]
    gone: set[int] = set()
    while True:
        best = rank(
            [one for one in able if one.passage.id not in gone],
            literal,
            limit=query.limit,
            min_score=query.min_score,
            settings=site.agent.search.query,
            floor=floor,
        )
        now = [(one, recheck.as_it_stands(one)) for one in best]
        missing = {one.passage.id for one, here in now if here is None}
        if not missing:
            most = query.snippet_chars
            return [_hit(here, scorer, recheck, most) for _, here in now if here]
        gone |= missing


def _hit(
    scored: ScoredPassage, scorer: Scorer, recheck: Recheck, most: int | None
) -> Hit:
    passage = scored.passage
    start, end, match = recheck.cited(scored)
    return Hit(
        path=passage.path,
        start_line=start,
        end_line=end,
        match_line=match,
        snippet=cut_snippet(
            passage.text,
            scored.match_line - passage.start_line,
            partial(_inside, scored.window) if scored.window else scorer.weight,
            most,
        ),
        score=scored.score,
        vector_score=None if scored.vector is None else max(0.0, scored.vector),
        text_score=scored.text or None,
        source=source_of(passage.path),
        heading=passage.heading,
    )


def _inside(window: str, part: str) -> float:
    """Weigh a part of a line, where its best window decides."""
    return float(part in window)


def _warnings(asked: ParsedQuery) -> tuple[str, ...]:
    return (_CUT,) if asked.cut else ()


def _gone(meaning: QueryVector, legs: Legs) -> tuple[Fallback, ...]:
    """Say that the vectors went between the question's and the look at the index."""
    if meaning.provider is None or legs.vectors is not None:
        return ()
    return (
        Fallback(
            kind="embedding",
            from_=meaning.provider,
            to="none",
            reason="not-ready",
            message=f"the vectors of {meaning.provider} have gone; run `notewell index`",
        ),
    )


def _lacking(legs: Legs) -> str:
    return (
        f"Passages without a vector, found by words alone: {legs.lacking} of"
        f" {legs.passages}; `notewell index` makes the rest."
    )
