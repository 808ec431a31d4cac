"""How well a model tells these notes apart, measured on the notes themselves.

When the vectors of a set are written, short cuts of the notes' own text are asked as
queries. How far the passages that a cut was taken from stand out from all others
says what a cosine of this model is worth here, in each script: an English model sees
little difference between Chinese notes, and one model's cosines lie around .2,
another's around .8. A search only reads the numbers that were kept.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import Final

import apsw

from notewell.backends.builtin.vectors.sets import VectorSet
from notewell.values import dataclass

_READ: Final = 400
"""Characters of a text from which its script is told."""

USUAL: Final = 3.0
WORTH: Final = 8
"""What a model is taken for before anything is measured, and how many passages that
weighs against: from so many on, the measured number counts more."""

_NOTHING: Final = 1.0
_FULL: Final = 2.2
"""Standing out that is worth nothing, and from which on vectors are heard fully."""

_ABOVE: Final = 2.0
"""Deviations by which a passage without a word of the query has to stand out."""

_CERTAIN: Final = 0.5
"""A cosine that is enough, unless most are as large by the nature of the model."""

_HARDLY: Final = 0.3
"""Below this share a model is said to tell the notes hardly apart."""

_GROWN: Final = 0.1
"""Share by which the passages have to change for a set to be measured anew."""

_UNSPACED: Final = {"cjk", "thai", "lao", "khmer", "myanmar"}
_LITERAL: Final = 2.2
"""By common characters alone, a cut in a script without spaces stands out so much
farther than one of words: 28 deviations against 11 to 15."""

_WIDE: Final = {"cjk": 2, "hangul": 2}
"""Characters that say as much as so many letters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptMeasurement:
    """What was measured in one script.

    Attributes:
        apart: By how many deviations the cuts' own passages stand out, on average.
        mean: The mean cosine of a cut with the windows of other passages.
        deviation: The standard deviation of these cosines, around each cut's own mean.
        passages: Other passages of the script that the cuts were compared with.
    """

    apart: float
    mean: float
    deviation: float
    passages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What the vectors of a set are worth.

    Attributes:
        scripts: What was measured, by the name of the script.
        unrelated: The mean cosine of queries that have nothing to do with the notes.
        nearest: How near the nearest passage comes to such a query, in a quarter of
            them: nearer ones may resemble a query.
        strange: The same for the one that comes nearest.
        passages: How many had vectors then.
    """

    scripts: Mapping[str, ScriptMeasurement]
    unrelated: float = 0.0
    nearest: float = 0.0
    strange: float = 0.0
    passages: int = 0

    def apart(self, script: str) -> float:
        """Return how far a model tells texts of a script apart, in deviations.

        Where little was measured, the usual number shrinks it.
        """
        found = self.scripts.get(script)
        weight = found.passages / (found.passages + WORTH) if found else 0.0
        apart = weight * found.apart + (1 - weight) * USUAL if found else USUAL
        return apart / (_LITERAL if script in _UNSPACED else 1)

    def gate(self, script: str) -> float:
        """Return in [0, 1] how far the vectors are heard in a query of a script."""
        share = (self.apart(script) - _NOTHING) / (_FULL - _NOTHING)
        return min(1.0, max(0.0, share))

    def floor(
        self, script: str, background: float, *, words: bool = True
    ) -> float | None:
        """Return the cosine from which a passage resembles a query; None: unknown.

        For a query in words it is what a quarter of the unrelated ones do not reach.
        What is not spelled like words, or is in a script that those are not in, has to
        lie two deviations above what lies halfway between the mean cosine of this
        query and that of all, and what is spelled strangely above all unrelated ones.

        Args:
            script: Of the query.
            background: The mean cosine of the query with all vectors.
            words: It is spelled like words.
        """
        found = self.scripts.get(script) or self._usual()
        if found is None:
            return None
        if script == "latin" and words:
            return self.nearest
        least = (background + found.mean) / 2 + _ABOVE * found.deviation
        if script == "latin":
            least = max(least, self.strange)
        # Notes that are all about one thing are no reason to find none of them.
        return least if self.unrelated >= _CERTAIN else min(least, _CERTAIN)

    def _usual(self) -> ScriptMeasurement | None:
        """Return what was measured in the script of most passages."""
        return max(self.scripts.values(), key=lambda one: one.passages, default=None)

    def in_words(self) -> dict[str, str]:
        """Say of each script that was measured how well the model tells it apart.

        >>> one = ScriptMeasurement(apart=3.1, mean=0.2, deviation=0.1, passages=10_000)
        >>> Calibration(scripts={"latin": one, "cjk": one}).in_words()
        {'cjk': 'partly (1.4)', 'latin': 'well (3.1)'}
        """
        return {
            script: f"{_word(self.gate(script))} ({self.apart(script):.1f})"
            for script in sorted(self.scripts)
            if self.scripts[script].passages
        }

    def fits(self, passages: int) -> bool:
        """Say whether it still holds for so many passages."""
        return abs(passages - self.passages) <= _GROWN * self.passages

    def encoded(self) -> str:
        """Return the form in which a store keeps it."""
        return json.dumps(asdict(self), sort_keys=True)


def _word(gate: float) -> str:
    if gate < _HARDLY:
        return "hardly"
    return "well" if gate == 1 else "partly"


UNKNOWN: Final = Calibration(scripts={})
"""Of a set that was not measured."""


def calibration_key(kept: VectorSet) -> str:
    """Return the key under which a set's calibration is kept."""
    return f"calibration_{kept.id}"


def read_calibration(text: object) -> Calibration:
    """Read what `encoded` wrote; nothing is known of a set without it.

    Raises:
        apsw.CorruptError: it is damaged.
    """
    if text is None:
        return UNKNOWN
    try:
        read = json.loads(str(text))
        scripts = {
            name: ScriptMeasurement(**one) for name, one in read.pop("scripts").items()
        }
        return Calibration(scripts=scripts, **read)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise apsw.CorruptError("what was measured of vectors is damaged") from error


def script_of(text: str) -> str:
    """Return the script that most of a text is written in.

    Chinese and Japanese are one; a text without letters counts as Latin.

    >>> script_of("who owns it?"), script_of("鍵はどこですか in the hall"), script_of("123")
    ('latin', 'cjk', 'latin')
    """
    counts = Counter(map(_script, text[:_READ]))
    del counts[""]
    if not counts:
        return "latin"
    return min(counts, key=lambda name: (-counts[name] * _WIDE.get(name, 1), name))


@lru_cache(maxsize=4_096)
def _script(letter: str) -> str:
    if letter.isascii():
        return "latin" if letter.isalpha() else ""
    if not letter.isalpha():
        return ""
    name = unicodedata.name(letter, "").partition(" ")[0].lower()
    return "cjk" if name in ("hiragana", "katakana", "halfwidth") else name
