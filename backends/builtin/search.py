"""Answering a query: read it, find candidates, weigh, order, hold against the files."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from notewell.backends.base import Findings, Query, Site
from notewell.backends.builtin.candidates import Candidates
from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.outcome import KEYWORDS_ONLY, QueryVector
from notewell.backends.builtin.verify import TranscriptCitations, Verifier
from notewell.backends.text.passages import ScoredPassage
from notewell.backends.text.query import ParsedQuery
from notewell.backends.text.query import parse_query as read_query
from notewell.backends.text.ranking import rank
from notewell.backends.text.scoring import ExactMatch, Scorer
from notewell.backends.text.snippets import hit_of
from notewell.types import EmptyReason, Fallback, Freshness, Hit
from notewell.workspace.layout import show_name

_FEWEST_CANDIDATES = 40
"""Passages that are weighed whatever the limit: the second stage wants a choice."""

_MOST_CANDIDATES = 2_000
"""Passages that are weighed at most to fill an answer."""

_NAMED = 5
"""Notes and folders that a sentence names."""

_CUT = "The query is long; its first and weightiest words were searched for."


class IndexAnswer(NamedTuple):
    """What an index gives to a query.

    Attributes:
        findings: The answer; it does not say yet what could not be read.
        unread: Notes of which passages were found and which cannot be read now: why, by
            path.
    """

    findings: Findings
    unread: Mapping[str, str]


def search_index(
    site: Site,
    store: Store,
    query: Query,
    *,
    meaning: QueryVector = KEYWORDS_ONLY,
    outdated: str | None = None,
) -> IndexAnswer:
    """Answer from the live generation of an index.

    Args:
        meaning: The question's vector, if there is one.
        outdated: Why the index has to be built anew, if it has to.
    """
    asked = read_query(query.text)
    if not asked.terms:
        empty = Findings(
            hits=(),
            mode="keyword",
            fallbacks=meaning.fallbacks,
            local_to_remote=meaning.local_to_remote,
            reason="empty-query",
        )
        return IndexAnswer(empty, {})
    tables = store.live()
    assert tables is not None, "the caller has seen that the index is built"
    candidates = Candidates(site, store, tables, asked, query, meaning)
    literal = ExactMatch(asked.terms, candidates.spread)
    verifier = Verifier(site.workspace, _citations(site, store, tables))
    hits = _from_candidates(site, query, candidates, literal, verifier)
    fallbacks = (*meaning.fallbacks, *_gone(meaning, candidates), *candidates.fallbacks)
    if not candidates.passages:  # of nothing there need be no vectors
        fallbacks = tuple(step for step in fallbacks if step.reason != "not-ready")
    findings = Findings(
        hits=hits,
        mode=candidates.mode,
        provider=meaning.provider if candidates.vectors else None,
        model=meaning.model if candidates.vectors else None,
        fallbacks=fallbacks,
        local_to_remote=meaning.local_to_remote,
        degraded=candidates.lacking > 0 or bool(fallbacks),
        reason=None if hits else empty_reason(candidates.passages),
        freshness=Freshness(
            indexed_at=store.indexed_at(),
            # Of the notes that are not cited nothing is known.
            stale=True if outdated or verifier.stale else None,
        ),
        warnings=(
            *query_warnings(asked),
            *_respelling_warnings(candidates.respelled),
            *((outdated,) if outdated else ()),
            *((_lacking(candidates),) if candidates.lacking else ()),
        ),
    )
    return IndexAnswer(findings, verifier.unread)


def _respelling_warnings(respelled: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for word, others in respelled.items():
        instead = " and ".join(f'"{other}"' for other in others)
        yield f'Nothing indexed holds "{word}"; searched for {instead} instead.'


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


def _from_candidates(
    site: Site,
    query: Query,
    candidates: Candidates,
    literal: ExactMatch,
    verifier: Verifier,
) -> list[Hit]:
    """Return the hits, from as many candidates as it takes."""
    multiplier = site.agent.search.query.hybrid.candidate_multiplier
    pool = max(_FEWEST_CANDIDATES, query.limit * multiplier)
    while True:
        found = candidates.take(literal, pool)
        hits = best_hits(
            site,
            query,
            found,
            candidates.scorer,
            literal,
            verifier,
            floor=candidates.floor,
        )
        if len(hits) >= query.limit or candidates.exhausted or pool > _MOST_CANDIDATES:
            return hits
        # Passages that are gone, closed or of one line have taken others' places.
        pool *= 4


def _citations(
    site: Site, store: Store, tables: Generation
) -> TranscriptCitations | None:
    if not site.transcripts:
        return None
    from notewell.sessions import sessions_folder

    return TranscriptCitations(
        store, tables, sessions_folder(site.state_dir, site.agent.id)
    )


def best_hits(
    site: Site,
    query: Query,
    scored: Sequence[ScoredPassage],
    scorer: Scorer,
    literal: ExactMatch,
    verifier: Verifier,
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
            question=query.text,
        )
        now = [(one, verifier.verify(one)) for one in best]
        missing = {one.passage.id for one, here in now if here is None}
        if not missing:
            most = query.snippet_chars
            return [_hit(here, scorer, verifier, most) for _, here in now if here]
        gone |= missing


def _hit(
    scored: ScoredPassage, scorer: Scorer, verifier: Verifier, most: int | None
) -> Hit:
    return hit_of(scored, verifier.cited(scored), scorer, most)


def empty_reason(passages: int) -> EmptyReason:
    """Return why there are no hits among so many passages."""
    return "no-match" if passages else "nothing-indexed"


def query_warnings(asked: ParsedQuery) -> tuple[str, ...]:
    """Say what of the query was left out."""
    return (_CUT,) if asked.cut else ()


def _gone(meaning: QueryVector, candidates: Candidates) -> tuple[Fallback, ...]:
    """Say that the vectors went between the question's and the look at the index."""
    if meaning.provider is None or candidates.vectors is not None:
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


def _lacking(candidates: Candidates) -> str:
    return (
        f"Passages without a vector, found by words alone: {candidates.lacking} of"
        f" {candidates.passages}; `notewell index` makes the rest."
    )
