"""What a reader of a report has to know, in sentences: how the run went, and what
vectors are worth on the notes that were measured. No sentence tells where a file lies.

A contender that answers by vectors is held against the words alone of the same engine:
over the questions whose words were left out, and over all others. A difference counts when
its 95 % interval, paired by question, excludes 0.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from notewell.bench.known_items import LEFT_OUT
from notewell.bench.lane import Lane
from notewell.bench.metrics import DEEPEST, bootstrap_interval
from notewell.bench.results import Contender, Interval, Metric, ScoredQuery

_FOUND: Final[Metric] = "success@6"

_LITTLE: Final = 0.02
"""A gain that is surely below this is none worth a model."""

_FEWEST: Final = 20
"""Questions with fewer of which no advice is given."""

_WAY: Final = re.compile(r"(?<![\w.:/\\%~-])~?/(?:[^\s/:;,'\"]+/)*(?=[^\s/:;,'\"])")
"""Folders of an absolute path inside a sentence; a URL has something before each `/`."""


def remarks_on_run(
    lanes: Sequence[Lane], *, limit: int, finished: bool
) -> Iterator[str]:
    """Yield what a reader has to know of how the run went."""
    if not finished:
        yield "The run was stopped early: the figures are of what was done until then."
    if limit < DEEPEST:
        yield f"success@{DEEPEST} is of the {limit} results that were asked for."
    for lane in lanes:
        label, made = lane.entrant.label, lane.index
        if made is None:
            continue
        if not made.fresh:
            yield f"{label} found an index that was there already: its time is not known."
        for warning in made.report.warnings:
            yield f"{label}: {without_folders(warning)}"


def without_folders(sentence: str) -> str:
    """Return a sentence with absolute paths by their last part.

    >>> without_folders("/home/ann/models/e.gguf: there is no such file")
    'e.gguf: there is no such file'
    >>> without_folders("no connection to http://localhost:11434/api/embed")
    'no connection to http://localhost:11434/api/embed'
    """
    return _WAY.sub("", sentence)


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
    cheapest = {one.backend: at for at, one in _by_cost(contenders)}
    left_out = [query for query in asked if query.category == LEFT_OUT]
    others = [query for query in asked if query.category != LEFT_OUT]
    for at, one in enumerate(contenders):
        words = by_words.get(one.backend)
        if one.provider is None:
            continue
        if one.apart:
            scripts = ", ".join(f"{name} {how}" for name, how in one.apart.items())
            yield f"The model of {one.label} tells these notes apart: {scripts}."
        if words is not None and left_out:
            rival = contenders[words].label
            yield _of_left_out(one, rival, left_out, at, words)
        if words is not None and len(others) >= _FEWEST:
            pays_elsewhere = bool(left_out) and _gain(left_out, at, words).low > 0
            gain = _gain(others, at, words)
            yield _of_others(one, contenders[words], gain, pays_elsewhere)
        if (base := cheapest[one.backend]) != at and len(asked) >= _FEWEST:
            yield _of_models(one, contenders[base], _gain(asked, at, base))


def _by_cost(contenders: Sequence[Contender]) -> list[tuple[int, Contender]]:
    """Return who has vectors, the one whose index took longest first."""
    having = [
        (at, one) for at, one in enumerate(contenders) if one.provider is not None
    ]
    return sorted(having, key=lambda each: -(each[1].cost.index_ms or 0.0))


def _of_left_out(
    one: Contender, rival: str, asked: Sequence[ScoredQuery], at: int, words: int
) -> str:
    verdict = "it pays" if _gain(asked, at, words).low > 0 else "that may be chance"
    return (
        f"{one.label} (by {one.provider}) finds {sum(_found(asked, at)):.0f} of {len(asked)}"
        f" places whose words were left out, {rival} {sum(_found(asked, words)):.0f}:"
        f" {verdict}."
    )


def _of_others(
    one: Contender, rival: Contender, gain: Interval, pays_elsewhere: bool
) -> str:
    """Say what vectors add where no words were left out."""
    pair = f"{one.label} against {rival.label}"
    name = f"{pair}, all other questions" if pays_elsewhere else pair
    if pays_elsewhere and gain.low <= 0 <= gain.high <= _LITTLE:
        verdict = "no difference; what it is for is other words than the notes'"
    else:
        verdict = _verdict(gain, "provider `none`")
    return f"{name}: {_figures(gain)}: {verdict}."


def _of_models(one: Contender, cheapest: Contender, gain: Interval) -> str:
    """Say what a model adds to the one whose vectors were made fastest."""
    verdict = _verdict(gain, f"provider `{cheapest.provider}`")
    return f"{one.label} against {cheapest.label}: {_figures(gain)}: {verdict}."


def _figures(gain: Interval) -> str:
    return f"{_FOUND} {gain.mean:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]"


def _verdict(gain: Interval, instead: str) -> str:
    if gain.low > 0:
        return "it pays"
    if gain.high < 0:
        return f"it costs answers; {instead} finds more here"
    if gain.high > _LITTLE:
        return "that may be chance; more questions would tell"
    return f"it does not pay here; {instead} does as well and is faster"


def _gain(asked: Sequence[ScoredQuery], at: int, words: int) -> Interval:
    pairs = zip(_found(asked, at), _found(asked, words), strict=True)
    return bootstrap_interval([mine - theirs for mine, theirs in pairs])


def _found(asked: Sequence[ScoredQuery], at: int) -> list[float]:
    return [query.answers[at].scores[_FOUND] for query in asked]


def last_part(value: str) -> str:
    """Return the last part of an absolute path; anything else as it is.

    >>> last_part("~/models/my own/e.gguf"), last_part("hf:org/models/e.gguf")
    ('e.gguf', 'hf:org/models/e.gguf')
    """
    if not value.startswith(("/", "~")):
        return value
    return value.rstrip("/").rpartition("/")[2] or value


def named_alone(value: object) -> object:
    """Return the value of a setting with the paths in it by their last part."""
    if isinstance(value, str):
        return last_part(value)
    if isinstance(value, list | tuple):
        return [named_alone(each) for each in cast("list[object]", value)]
    if isinstance(value, Mapping):
        members = cast("Mapping[str, object]", value)
        return {key: named_alone(each) for key, each in members.items()}
    return value
