"""Which terms of a question an index is asked for: the rare ones first, while it is cheap.

What is found so is weighed by all terms of the question, common ones too.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from notewell.backends.text.query import QueryTerm

_CHEAP: Final = 2_000
"""Entries up to which a second way to the same thing is worth reading."""


class MatchPlan(NamedTuple):
    """One way to ask an index for a query term.

    Attributes:
        terms: What follows each other in a passage.
        cost: Entries of term lists that it reads.
        second: The query term may be found without it: a stem, a phrase, a part.
        beginning: Terms that begin so are meant, too.
    """

    terms: tuple[str, ...]
    cost: int
    second: bool
    beginning: bool = False


def choose_plans(
    query_terms: Sequence[QueryTerm],
    frequencies: Mapping[str, int],
    *,
    most: int | None,
) -> list[MatchPlan]:
    """Return what an index is asked for: any of the terms, the rarest first.

    Args:
        most: How many entries of lists are read, the rarest term's excepted.
    """
    content = [
        query_term
        for query_term in query_terms
        if not query_term.stop_word and _is_here(query_term, frequencies)
    ]
    plans = {
        plan
        for query_term in content or query_terms
        for plan in _plans(query_term, frequencies)
        if plan.cost
    }
    chosen: dict[tuple[tuple[str, ...], bool], MatchPlan] = {}
    spent = 0
    for plan in sorted(plans, key=_in_turn):
        if chosen and (plan.second and plan.cost > _CHEAP):
            continue
        if chosen and most is not None and spent + plan.cost > most:
            break
        chosen.setdefault((plan.terms, plan.beginning), plan)
        spent += plan.cost
    return list(chosen.values())


def _in_turn(plan: MatchPlan) -> tuple[int, tuple[str, ...], bool, bool]:
    return plan.cost, plan.terms, plan.beginning, plan.second


def _is_here(query_term: QueryTerm, frequencies: Mapping[str, int]) -> bool:
    return query_term.prefix or any(
        plan.cost for plan in _plans(query_term, frequencies)
    )


def _plans(query_term: QueryTerm, frequencies: Mapping[str, int]) -> list[MatchPlan]:
    plans = [
        MatchPlan((term,), frequencies.get(term, 0), query_term.part)
        for term in query_term.exact
    ]
    if query_term.prefix:
        first = query_term.exact[:1]
        plans[0] = MatchPlan(first, 1, query_term.part, beginning=True)
    found = query_term.part or any(plan.cost for plan in plans)
    plans += [
        MatchPlan((term,), frequencies.get(term, 0), found) for term in query_term.loose
    ]
    if query_term.phrase and all(frequencies.get(part) for part in query_term.phrase):
        cost = sum(frequencies[part] for part in query_term.phrase)
        plans.append(MatchPlan(query_term.phrase, cost, found))
    return plans
