"""Answering a question without a word: what a filter lets pass, the newest first."""

import json
from collections.abc import Sequence
from typing import Final

from notewell.backends.base import Findings, Query, Site
from notewell.backends.builtin.filtering import ChosenPassages
from notewell.backends.builtin.lexical import PassageFilter, read_passages
from notewell.backends.builtin.search import (
    IndexAnswer,
    citations_of,
    empty_reason,
)
from notewell.backends.builtin.store import Snapshot, Store
from notewell.backends.builtin.verify import Verifier
from notewell.backends.text.listing import (
    group_copies,
    listed_hit,
    newest_first,
    score_newest,
)
from notewell.backends.text.passages import COLUMNS, Passage, ScoredPassage
from notewell.backends.text.redundancy import MOST_COPIES, fold_spaces
from notewell.types import Freshness, Hit

_MORE: Final = 4


def list_newest(
    site: Site, store: Store, query: Query, outdated: str | None
) -> IndexAnswer:
    """Answer with the newest passages that the filter of a question lets pass.

    Args:
        outdated: Why the index has to be built anew, if it has to.
    """
    tables = store.live()
    assert tables is not None, "the caller has seen that the index is built"
    index = Snapshot(store, tables)
    visible = PassageFilter(index, query)
    assert visible.chosen is not None, "the caller has seen that there is a filter"
    verifier = Verifier(site.workspace, citations_of(site, index))
    hits = _hits(index, query, visible, visible.chosen, verifier)
    passages: int = store.get("passages") or 0
    findings = Findings(
        hits=hits,
        mode="keyword",
        reason=None if hits else empty_reason(passages),
        freshness=Freshness(
            indexed_at=store.indexed_at(),
            stale=True if outdated or verifier.stale else None,
        ),
        warnings=(
            *((outdated,) if outdated else ()),
            *(() if hits or not passages else visible.warnings()),
        ),
    )
    return IndexAnswer(findings, verifier.unread)


def _hits(
    index: Snapshot,
    query: Query,
    visible: PassageFilter,
    chosen: ChosenPassages,
    verifier: Verifier,
) -> list[Hit]:
    """Return the hits, from as many passages as it takes."""
    wanted = query.limit * _MORE
    while True:
        keys = chosen.newest(wanted)
        found = newest_first(one for one in _passages(index, keys) if visible(one.path))
        hits: list[Hit] = []
        for group in group_copies(score_newest(found, chosen.text)):
            here = _as_they_are(group, chosen, verifier)
            if here:
                cited = [verifier.cited(one) for one in here]
                hits.append(listed_hit(here, cited, query.snippet_chars))
            if len(hits) == query.limit:
                break
        if len(hits) == query.limit or len(keys) < wanted:
            return hits
        wanted *= _MORE


def _as_they_are(
    group: Sequence[ScoredPassage], chosen: ChosenPassages, verifier: Verifier
) -> list[ScoredPassage]:
    """Return those of some copies that still stand in their files, and still pass."""
    found: list[ScoredPassage] = []
    for one in group:
        here = verifier.verify(one)
        if here is None or not chosen.text(here.passage.text):
            continue
        text = fold_spaces(here.passage.text)
        if not found or text == fold_spaces(found[0].passage.text):
            found.append(here)
        if len(found) > MOST_COPIES:
            break
    return found


def _passages(index: Snapshot, keys: list[int]) -> list[Passage]:
    tables = index.tables
    return read_passages(
        index.store,
        f"select {COLUMNS} from json_each(?) as n"
        f" cross join {tables.chunks} as c on c.id = n.value"
        f" join {tables.files} as f on f.id = c.file_id",
        json.dumps(keys),
    )
