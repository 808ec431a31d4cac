"""Passages that say again what others say: copies, and what programs made of notes.

A file that two machines changed is kept twice, a template begins a hundred notes, and
the host's programs write down what they found in the memory. Of the first, one is shown,
with the places of the others; the last rank below what they were made from.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from msgspec import structs

from notewell.backends.text.passages import Passage, ScoredPassage
from notewell.types import Hit

MOST_COPIES: Final = 20
"""Places of copies that a hit names."""

_AS_GOOD: Final = 0.05
"""By how much less one of several copies may score and still be the one that is shown."""

_OF_HOST: Final = 0.5
"""What a passage keeps of its score that a program of the host has written."""

_HALF: Final = 0.5
_NEARLY: Final = 0.8
_BELOW: Final = 0.999
_ABOVE: Final = 0.001

_HOST_WRITES: Final = re.compile(
    r"(?:^|/)memory/dreaming/|(?:^|/)dreams\.md\Z", re.IGNORECASE
)
_COPY: Final = (
    r"conflict|\bkonflikt|\bin konflikt\b|\bconflit\b|\bconflitto\b|競合|冲突|衝突|충돌"
    r"|\bcopy\b|\bkopie\b|\bcopie\b|\bcopia\b|コピー|副本|[ (]\d{1,2}\)?\Z"
)
"""What Dropbox, Syncthing, Nextcloud, iCloud, Obsidian and desktops call a second file."""


def is_written_by_host(path: str) -> bool:
    """Say whether a program of the host writes a note, from other notes.

    >>> is_written_by_host("memory/dreaming/light/2026-03-01.md"), is_written_by_host("a.md")
    (True, False)
    """
    return _HOST_WRITES.search(path) is not None


def is_named_as_copy(path: str) -> bool:
    """Say whether a file's name tells that it is a second one.

    >>> is_named_as_copy("plan (Ann's conflicted copy 2026-01-10).md")
    True
    >>> is_named_as_copy("plan.sync-conflict-20260110-101500-ABC.md"), is_named_as_copy("plan 2026.md")
    (True, False)
    """
    name = path.rpartition("/")[2].rpartition(".")[0]
    return re.search(_COPY, name, re.IGNORECASE) is not None


def lower_host_writings(scored: Sequence[ScoredPassage]) -> Sequence[ScoredPassage]:
    """Put what programs of the host have written below what it may be made from.

    That is every other passage that says nearly as much of the query as the best of them, and
    the best of those that say half as much. Nothing is left out.
    """
    places = [is_written_by_host(one.passage.path) for one in scored]
    if not any(places):
        return scored
    own = [one for one, host in zip(scored, places, strict=True) if not host]
    written = [
        structs.replace(one, score=one.score * _OF_HOST)
        for one, host in zip(scored, places, strict=True)
        if host
    ]
    text = max(one.text for one in written)
    vector = max(one.vector or 0.0 for one in written)

    def says(one: ScoredPassage, share: float) -> bool:
        return (
            one.text >= share * text if text else (one.vector or 0.0) >= share * vector
        )

    least = max(one.score for one in written) + _ABOVE
    half = max((one for one in own if says(one, _HALF)), key=_score, default=None)
    raised = [
        structs.replace(one, score=least + _ABOVE * one.score)
        if one.score < least and (one is half or says(one, _NEARLY))
        else one
        for one in own
    ]
    return [*raised, *written]


def _score(one: ScoredPassage) -> float:
    return one.score


def lower_host_hits(hits: Iterable[Hit]) -> list[Hit]:
    """Put hits in notes that programs of the host have written below all others.

    For an order of which the scores say little.
    """
    own: list[Hit] = []
    written: list[Hit] = []
    for hit in hits:
        (written if is_written_by_host(hit.path) else own).append(hit)
    least = min((hit.score for hit in own), default=1.0) * _BELOW
    return [*own, *(replace(hit, score=min(hit.score, least)) for hit in written)]


def first_choice(path: str) -> tuple[bool, bool, int, str]:
    """Return the order in which one of several equal notes is chosen, the best first."""
    return (is_written_by_host(path), is_named_as_copy(path), len(path), path)


def fold_spaces(text: str) -> str:
    """Return a text by which copies know each other.

    >>> fold_spaces(" Gateway\\n port ")
    'Gateway port'
    """
    return " ".join(text.split())


def join_copies(ranked: Sequence[ScoredPassage]) -> list[ScoredPassage]:
    """Let one of several passages with the same text stand for all of them.

    It has the place and the score of the best of them. White space alone may differ, and
    the headings above: what stands below them is the same.

    Args:
        ranked: Best first.
    """
    lengths = Counter(one.passage.length for one in ranked)
    groups: dict[str, list[ScoredPassage]] = defaultdict(list)
    for one in ranked:
        alone = lengths[one.passage.length] == 1
        groups[str(id(one)) if alone else fold_spaces(one.passage.text)].append(one)
    return [
        group[0] if len(group) == 1 else _joined(group) for group in groups.values()
    ]


def join_equal_hits(found: Iterable[tuple[str, Hit]]) -> list[Hit]:
    """Let one of several hits stand for those with the same text; each comes with its text.

    Reports of the host come last: the scores of such an order say little.
    """
    shown: dict[str, Hit] = {}
    for text, hit in found:
        key = fold_spaces(text)
        shown[key] = _joined_hits(shown[key], hit) if key in shown else hit
    return lower_host_hits(shown.values())


def _joined_hits(one: Hit, other: Hit) -> Hit:
    best, rest = (one, other) if one.score >= other.score else (other, one)
    if rest.score >= best.score * (1 - _AS_GOOD):
        best, rest = sorted((one, other), key=lambda hit: first_choice(hit.path))
    places = {*one.also_in, *other.also_in, rest.citation} - {best.citation}
    also_in = tuple(sorted(places)[:MOST_COPIES])
    return replace(best, score=max(one.score, other.score), also_in=also_in)


def _joined(group: Sequence[ScoredPassage]) -> ScoredPassage:
    best = group[0].score
    able = [one for one in group if one.score >= best * (1 - _AS_GOOD)]
    shown = min(
        able,
        key=lambda one: (not one.named, *first_choice(one.passage.path), one.order),
    )
    others = {_place(one.passage): one.passage for one in group}
    del others[_place(shown.passage)]
    copies = tuple(others[place] for place in sorted(others))
    return structs.replace(shown, score=best, copies=copies)


def _place(passage: Passage) -> tuple[str, int, int]:
    return (passage.path, passage.start_line, passage.end_line)
