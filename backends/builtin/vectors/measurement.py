"""Measuring what a set's vectors are worth, when they have been written.

Cuts of the notes' own text are asked as queries; the cosines with the passages that
they were taken from, and with all others, are what `calibration` keeps. What is
looked at is bounded, however many notes there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.calibration import (
    USUAL,
    WORTH,
    Calibration,
    ScriptMeasurement,
    calibration_key,
    read_calibration,
    script_of,
)
from notewell.backends.builtin.vectors.sets import WINDOW_BITS, VectorSet
from notewell.backends.text.analysis import is_unspaced

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from notewell.adapters.embeddings.base import Matrix

    Row: TypeAlias = NDArray[np.float32]

UNRELATED: Final = (
    "Medieval monks copied books by hand.",
    "Glaciers carve valleys over thousands of years.",
    "the violinist tuned her strings before the concert",
    "whales sing across whole oceans",
    "the referee stopped the match in extra time",
    "how do potters fire clay?",
    "deserts bloom after rare rain",
    "what does a blacksmith hammer?",
    "Saturn",
    "sheep",
    "plovth grenask",
    "zzkq vwx",
)
"""Queries that hardly any notes answer, some of them nonsense: what they resemble is
what nothing resembles, also where notes are too few to tell from themselves."""

_RELATED: Final = 0.1
"""Share of their cosines, the largest, that is left out: some notes are about sheep."""

_CUTS: Final = 64
"""Cuts that are asked in each script."""

_WORDS: Final = 10
_CHARACTERS: Final = 22
"""What a cut is long: words, or characters where words are not parted by spaces."""

_FEWEST: Final = 8
"""Cuts with fewer of which nothing is asked in a script: they would say too little."""

_LEAST_DEVIATION: Final = 0.01
"""Of cosines: a few notes may all be as far from each other."""

_SAMPLE: Final = 1_000
"""Passages that a set is judged by, the first by their digests."""

_SCRIPTS: Final = 4
"""Scripts that are measured, those of most passages."""


class _Passage(NamedTuple):
    """A passage of the sample, with the places of its vectors in the matrix."""

    file: int
    first_line: int
    last_line: int
    text: str
    digest: bytes
    script: str
    vectors: range

    def overlaps(self, other: _Passage) -> bool:
        """Say whether a line stands in both."""
        return (
            self.file == other.file
            and self.first_line <= other.last_line
            and other.first_line <= self.last_line
        )


@dataclass(frozen=True, slots=True)
class Sample:
    """Passages of a set with their vectors, and what is asked about them.

    Attributes:
        passages: The passages.
        matrix: Their vectors, float32, shape (windows of all passages, dimension).
        count: How many passages have vectors in all.
        cuts: Pieces of their text, each with the place of its passage.
    """

    passages: Sequence[_Passage]
    matrix: Matrix
    count: int
    cuts: Sequence[tuple[int, str]]


def sample_of(
    store: Store, tables: Generation, kept: VectorSet, passages: int
) -> Sample | None:
    """Return what a set is to be measured by; None if nothing is to be measured.

    Args:
        passages: How many have vectors now.
    """
    from notewell.backends.builtin.vectors.quantisation import (
        dequantise,
        quantised_matrix,
    )

    if passages < 2 or read_calibration(store.get(calibration_key(kept))).fits(
        passages
    ):
        return None
    rows = store.rows(
        "select c.file_id, c.start_line, c.end_line, c.text, c.digest, t.id"
        f" from {tables.chunks} as c join {kept.texts} as t on t.digest = c.digest"
        " order by c.digest, c.id limit ?",
        _SAMPLE,
    )
    blobs: list[bytes] = []
    chosen: list[_Passage] = []
    for file, first, last, text, digest, key in rows:
        at = len(blobs)
        blobs += [
            vector
            for (vector,) in store.rows(
                f"select vector from {kept.vectors} where id between ? and ?",
                key << WINDOW_BITS,
                ((key + 1) << WINDOW_BITS) - 1,
            )
        ]
        places = range(at, len(blobs))
        script = script_of(text)
        chosen.append(_Passage(file, first, last, text, digest, script, places))
    matrix = dequantise(quantised_matrix(blobs, kept.dimension))
    return Sample(chosen, matrix, passages, _cuts(chosen))


def _cuts(passages: Sequence[_Passage]) -> list[tuple[int, str]]:
    """Return pieces of the passages, up to _CUTS in each of the commonest scripts."""
    common = Counter(one.script for one in passages).most_common(_SCRIPTS)
    found: dict[str, list[tuple[int, str]]] = {name: [] for name, _ in common}
    for place, passage in enumerate(passages):
        of_script = found.get(passage.script, [])
        cut = _cut(passage) if len(of_script) < _CUTS else ""
        if cut:
            of_script.append((place, cut))
    return [cut for some in found.values() if len(some) >= _FEWEST for cut in some]


def _cut(passage: _Passage) -> str:
    """Return a piece of a passage, which its digest chooses; empty if it is too short."""
    chance = int.from_bytes(passage.digest[:8])
    words = passage.text.split()
    if sum(map(len, filter(is_unspaced, words))) * 2 > len(passage.text):
        text = "".join(words)
        places = len(text) - _CHARACTERS + 1
        at = chance % places if places > 0 else 0
        return text[at : at + _CHARACTERS] if places > 0 else ""
    places = len(words) - _WORDS + 1
    at = chance % places if places > 0 else 0
    return " ".join(words[at : at + _WORDS]) if places > 0 else ""


def measure(sample: Sample, queries: Sequence[Row]) -> Calibration:
    """Return what the cuts' vectors say of a set.

    In a script with too few cuts the passages' own vectors stand for queries: they
    tell what a cosine is here, but not how far the model tells texts apart.

    Args:
        sample: The passages and the cuts.
        queries: The vectors of the cuts, and of what is UNRELATED; one of NaN is
            left out.
    """
    cuts = queries[: len(sample.cuts)]
    asked = [(place, row) for (place, _), row in zip(sample.cuts, cuts, strict=True)]
    unrelated = _unrelated(sample, queries[len(cuts) :])
    found = _of_scripts(sample, asked, unrelated)
    itself = [
        (place, sample.matrix[one.vectors[0]])
        for place, one in enumerate(sample.passages)
        if one.vectors and one.script not in found
    ]
    known = {
        name: replace(one, apart=USUAL, passages=0)
        for name, one in _of_scripts(sample, itself[:_CUTS], unrelated).items()
    }
    return Calibration(
        scripts=known | found,
        unrelated=round(unrelated.mean, 6),
        nearest=round(unrelated.nearest, 6),
        strange=round(unrelated.strange, 6),
        passages=sample.count,
    )


def _unrelated(sample: Sample, queries: Sequence[Row]) -> _Spread:
    """Return the cosines of queries that these notes do not answer."""
    import numpy as np

    rows = [sample.matrix @ row for row in queries]
    rows = [row for row in rows if row.size and np.isfinite(row).all()]
    if not rows:
        return _Spread()
    nearest = sorted(float(row.max()) for row in rows)
    cosines = np.sort(np.concatenate(rows))
    cosines = cosines[: len(cosines) - int(_RELATED * len(cosines))]
    mean, deviation = float(cosines.mean()), float(cosines.std())
    # Two deviations, where there are too few passages for one to be near by chance.
    near = max(nearest[len(nearest) // 4], mean + 2 * deviation)
    return _Spread(mean, deviation, near, nearest[-1])


def _of_scripts(
    sample: Sample, asked: Sequence[tuple[int, Row]], unrelated: _Spread
) -> dict[str, ScriptMeasurement]:
    """Measure each script by queries, each with the place of its own passage.

    Where little is compared, `unrelated` stands for it.
    """
    import numpy as np

    owner = np.repeat(
        np.arange(len(sample.passages)), [len(one.vectors) for one in sample.passages]
    )
    scripts = np.array([one.script for one in sample.passages])
    found: dict[str, list[_Seen]] = {}
    for place, query in asked:
        own = sample.passages[place]
        is_own = np.array([own.overlaps(one) for one in sample.passages])
        others = ~is_own & (scripts == own.script)
        cosines = sample.matrix @ query
        far = cosines[others[owner]]
        if far.size and np.isfinite(cosines).all():
            seen = _Seen(
                nearest=float(cosines[is_own[owner]].max()),
                mean=float(far.mean()),
                deviation=float(far.std()),
                others=int(others.sum()),
            )
            found.setdefault(own.script, []).append(seen)
    return {name: _together(seen, unrelated) for name, seen in found.items()}


class _Seen(NamedTuple):
    """The cosines of one query: of its own passages, and of others."""

    nearest: float
    mean: float
    deviation: float
    others: int


class _Spread(NamedTuple):
    """The mean of some cosines, and their standard deviation."""

    mean: float = 0.0
    deviation: float = 0.0
    nearest: float = 0.0
    strange: float = 0.0


def _together(seen: Sequence[_Seen], unrelated: _Spread) -> ScriptMeasurement:
    mean = fmean(one.mean for one in seen)
    deviation = max(_LEAST_DEVIATION, fmean(one.deviation for one in seen))
    apart = (fmean(one.nearest for one in seen) - mean) / deviation
    others = min(one.others for one in seen)
    weight = others / (others + WORTH)
    return ScriptMeasurement(
        apart=round(apart, 4),
        mean=round(weight * mean + (1 - weight) * unrelated.mean, 6),
        deviation=round(
            weight * deviation + (1 - weight) * max(deviation, unrelated.deviation), 6
        ),
        passages=others,
    )
