"""What vectors are worth on the notes that were measured, in sentences.

A contender that answers by vectors is held against the words alone of the same engine:
over the questions whose words were left out, and over all others. A difference counts when
its 95 % interval, paired by question, excludes 0.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from notewell.bench.known_items import LEFT_OUT
from notewell.bench.metrics import bootstrap_interval
from notewell.bench.results import Contender, Interval, Metric, ScoredQuery

_FOUND: Final[Metric] = "success@6"

_LITTLE: Final = 0.02
"""A gain that is surely below this is none worth a model."""

_FEWEST: Final = 20
"""Questions with fewer of which no advice is given."""


def worth_of_vectors(
    contenders: Sequence[Contender], asked: Sequence[ScoredQuery]
) -> Iterator[str]:
    """Yield for each contender with vectors how well its model tells the notes apart,
    and whether it pays."""
    by_words = {
        one.backend: at
        for at, one in enumerate(contenders)
        if one.mode == "keyword" and one.provider is None
    }
    left_out = [query for query in asked if query.category == LEFT_OUT]
    others = [query for query in asked if query.category != LEFT_OUT]
    for at, one in enumerate(contenders):
        words = by_words.get(one.backend)
        if one.provider is None:
            continue
        if one.apart:
            scripts = ", ".join(f"{name} {how}" for name, how in one.apart.items())
            yield f"The model of {one.label} tells these notes apart: {scripts}."
        if words is None:
            continue
        rival = contenders[words].label
        if left_out:
            yield _of_left_out(one, rival, left_out, at, words)
        if len(others) >= _FEWEST:
            pays_elsewhere = bool(left_out) and _gain(left_out, at, words).low > 0
            yield _of_others(one, rival, _gain(others, at, words), pays_elsewhere)


def _of_left_out(
    one: Contender, rival: str, asked: Sequence[ScoredQuery], at: int, words: int
) -> str:
    verdict = "it pays" if _gain(asked, at, words).low > 0 else "that may be chance"
    return (
        f"{one.label} (by {one.provider}) finds {sum(_found(asked, at)):.0f} of {len(asked)}"
        f" places whose words were left out, {rival} {sum(_found(asked, words)):.0f}:"
        f" {verdict}."
    )


def _of_others(one: Contender, rival: str, gain: Interval, pays_elsewhere: bool) -> str:
    """Say what vectors add where no words were left out."""
    figures = f"{_FOUND} {gain.mean:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]"
    name = f"{one.label} against {rival}, all other questions: {figures}"
    if not pays_elsewhere:
        name = f"{one.label} against {rival}: {figures}"
    if gain.low > 0:
        return f"{name}: it pays."
    if gain.high < 0:
        return f"{name}: it costs answers; provider `none` finds more here."
    if gain.high > _LITTLE:
        return f"{name}: that may be chance; more questions would tell."
    if pays_elsewhere:
        return f"{name}: no difference; what it is for is other words than the notes'."
    return f"{name}: it does not pay here; provider `none` does as well and is faster."


def _gain(asked: Sequence[ScoredQuery], at: int, words: int) -> Interval:
    pairs = zip(_found(asked, at), _found(asked, words), strict=True)
    return bootstrap_interval([mine - theirs for mine, theirs in pairs])


def _found(asked: Sequence[ScoredQuery], at: int) -> list[float]:
    return [query.answers[at].scores[_FOUND] for query in asked]
