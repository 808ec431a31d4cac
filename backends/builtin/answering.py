"""Answering a query: read it, find candidates, weigh, order, hold against the files."""

from collections.abc import Sequence

from notewell.backends.base import Findings, Query, Site
from notewell.backends.builtin.lexical import candidates, spread_of
from notewell.backends.builtin.literal import Literal
from notewell.backends.builtin.passages import Scored
from notewell.backends.builtin.query import Asked
from notewell.backends.builtin.query import read as read_query
from notewell.backends.builtin.ranking import ranked
from notewell.backends.builtin.recheck import Recheck
from notewell.backends.builtin.scanning import look_through
from notewell.backends.builtin.scoring import Scorer
from notewell.backends.builtin.snippets import snippet
from notewell.backends.builtin.store import BACKEND, Store
from notewell.types import Fallback, FallbackReason, Freshness, Hit

_FEWEST_CANDIDATES = 40
"""Passages that are weighed whatever the limit: the second stage wants a choice."""

_MOST_CANDIDATES = 2_000
"""Passages that are weighed at most to fill an answer."""

_OUTDATED = (
    "The index was built with other settings; `notewell index` builds it anew, and "
    "until then the old one answers."
)
_CUT = "The query is long; its first and weightiest words were searched for."


def from_index(
    site: Site, store: Store, query: Query, *, outdated: bool = False
) -> Findings:
    """Answer from the live generation of an index.

    Args:
        outdated: It was built with other settings or by another version.
    """
    asked = read_query(query.text)
    if not asked.wants:
        return Findings(hits=(), mode="keyword", reason="empty-query")
    tables = store.live()
    assert tables is not None, "the caller has seen that the index is built"
    spread = spread_of(store, tables, asked.wants)
    passages = store.get("passages") or 0
    scorer = Scorer(
        asked.wants,
        spread,
        passages=passages,
        mean_length=store.get("mean_length") or 1,
    )
    literal, recheck = Literal(asked.wants, spread), Recheck(site.workspace)
    scored: dict[int, Scored] = {}
    pool = _pool(site, query)
    while True:
        found = candidates(store, tables, asked.wants, spread, literal, limit=pool)
        for one in found:
            if one.id not in scored and not query.hides(one.path):
                scored[one.id] = scorer.score(one)
        hits = _hits(site, query, list(scored.values()), scorer, literal, recheck)
        if len(hits) >= query.limit or len(found) < pool or pool > _MOST_CANDIDATES:
            break
        # Passages that are gone, closed or of one line have taken others' places.
        pool *= 4
    return Findings(
        hits=hits,
        mode="keyword",
        reason=None if hits else "no-match" if passages else "nothing-indexed",
        freshness=Freshness(
            indexed_at=store.indexed_at(), stale=outdated or recheck.stale
        ),
        warnings=(*_warnings(asked), *((_OUTDATED,) if outdated else ())),
    )


def from_files(site: Site, query: Query, reason: FallbackReason, why: str) -> Findings:
    """Answer by reading the notes themselves, since the index cannot be read."""
    stepped_down = Fallback(
        kind="lexical-index", from_=BACKEND, to="scan", reason=reason, message=why
    )
    asked = read_query(query.text)
    if not asked.wants:
        return Findings(hits=(), mode="scan", reason="empty-query")
    chunking = site.agent.search.chunking
    looked = look_through(site.workspace, asked.wants, chunking, hides=query.hides)
    scorer = Scorer(
        asked.wants,
        looked.spread,
        passages=looked.total,
        mean_length=looked.mean_length,
    )
    scored = [scorer.score(passage) for passage in looked.passages]
    literal = Literal(asked.wants, looked.spread)
    recheck = Recheck(site.workspace)
    hits = _hits(site, query, scored, scorer, literal, recheck)
    warnings = _warnings(asked)
    if looked.read < looked.notes:
        missed = f"Only {looked.read} of {looked.notes} notes could be read in time."
        warnings = (*warnings, missed)
    return Findings(
        hits=hits,
        mode="scan",
        fallbacks=(stepped_down,),
        degraded=True,
        reason=None if hits else "no-match" if looked.total else "nothing-indexed",
        freshness=Freshness(pending=looked.notes),
        warnings=warnings,
    )


def _pool(site: Site, query: Query) -> int:
    multiplier = site.agent.search.query.hybrid.candidate_multiplier
    return max(_FEWEST_CANDIDATES, query.limit * multiplier)


def _hits(
    site: Site,
    query: Query,
    scored: Sequence[Scored],
    scorer: Scorer,
    literal: Literal,
    recheck: Recheck,
) -> list[Hit]:
    """Return the hits; passages that are gone make room for the next ones."""
    able = [one for one in scored if one.score > 0]
    gone: set[int] = set()
    while True:
        best = ranked(
            [one for one in able if one.passage.id not in gone],
            literal,
            limit=query.limit,
            min_score=query.min_score,
            settings=site.agent.search.query,
        )
        now = [(one, recheck.as_it_stands(one)) for one in best]
        missing = {one.passage.id for one, here in now if here is None}
        if not missing:
            return [_hit(here, scorer) for _, here in now if here is not None]
        gone |= missing


def _hit(scored: Scored, scorer: Scorer) -> Hit:
    passage = scored.passage
    return Hit(
        path=passage.path,
        start_line=passage.start_line,
        end_line=passage.end_line,
        match_line=scored.match_line,
        snippet=snippet(
            passage.text, scored.match_line - passage.start_line, scorer.weight
        ),
        score=scored.score,
        text_score=scored.score,
        heading=passage.heading,
    )


def _warnings(asked: Asked) -> tuple[str, ...]:
    return (_CUT,) if asked.cut else ()
