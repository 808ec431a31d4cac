"""How many passages hold a term, cheaply also for very common ones.

FTS5 keeps no such number: it counts a term's list whenever it is asked, which
takes as long as the list. So the terms that stand in a large share of the passages
are counted when the index has grown, and only short lists are counted in a search.
"""

from collections.abc import Iterable

from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store

COMMON_SHARE = 0.02
"""Share of the passages from which on a term counts as common."""

_COUNT_ANYWAY = 2_000
"""Lists up to this length are counted when they are needed."""

_GROWTH = 1.25
"""The common terms are counted again when the index has grown or shrunk so much."""


def count(store: Store, generation: Generation, *, force: bool) -> None:
    """Record the number of passages and their mean length, and the common terms.

    The common terms are left as they are while the index keeps about its size.
    """
    total, mean = store.rows(
        f"select count(*), coalesce(avg(length), 0) from {generation.chunks}"
    )[0]
    counted = store.get("common_counted_at") or 0
    steady = not force and counted / _GROWTH <= total <= counted * _GROWTH
    store.put("passages", total)
    store.put("mean_length", max(1, round(mean)))
    if not steady:
        _count_common(store, generation, total)


def _count_common(store: Store, generation: Generation, total: int) -> None:
    least = max(_COUNT_ANYWAY, int(total * COMMON_SHARE))
    store.connection.execute(f"delete from {generation.common}")
    if total > least:
        store.connection.execute(
            f"insert into {generation.common}"
            f" select term, doc from {generation.vocabulary} where doc > ?",
            (least,),
        )
    store.put("common_counted_at", total)


def passages_with(
    store: Store, generation: Generation, terms: Iterable[str]
) -> dict[str, int]:
    """Return for each term in how many passages it stands; absent terms give 0."""
    common = f"select passages from {generation.common} where term = ?"
    counted = f"select doc from {generation.vocabulary} where term = ?"
    return {
        term: store.one(common, term) or store.one(counted, term) or 0 for term in terms
    }
