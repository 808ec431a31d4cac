"""Notes made by a seeded generator, for measurements of speed: same seed, same notes.

The words are invented and follow Zipf's law, as real ones do; every note is a
daily log with headings, bullets, and now and then an identifier of its own.
"""

import random
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import accumulate
from pathlib import Path

SEED = 20_260_301
_WORDS = 30_000
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvwz" for vowel in "aeio"]


class Vocabulary:
    """Invented words, the first ones common."""

    def __init__(self, seed: int = SEED) -> None:
        source = random.Random(seed)
        words: dict[str, None] = {}
        while len(words) < _WORDS:
            words["".join(source.choices(_SYLLABLES, k=source.randint(1, 5)))] = None
        self.words = list(words)
        self.cumulative = list(
            accumulate(1 / (rank + 2.7) for rank in range(len(self.words)))
        )

    def draw(self, source: random.Random, count: int) -> list[str]:
        """Return so many words, common ones more often."""
        return source.choices(self.words, cum_weights=self.cumulative, k=count)


def note(number: int, size: int, vocabulary: Vocabulary) -> str:
    """Return the text of one note of about `size` bytes."""
    source = random.Random(SEED + number)
    lines = [f"# Note {number}", "", "## Morning", ""]
    written = 0
    while written < size:
        words = vocabulary.draw(source, source.randint(6, 18))
        if source.random() < 0.08:
            words.insert(source.randrange(len(words)), identifier(number, source))
        line = f"- {' '.join(words).capitalize()}."
        if source.random() < 0.04:
            lines += ["", f"## {' '.join(vocabulary.draw(source, 2)).title()}", ""]
        lines.append(line)
        written += len(line) + 1
    return "\n".join(lines) + "\n"


def identifier(number: int, source: random.Random) -> str:
    """Return an identifier that hardly stands anywhere else."""
    return source.choice(
        [
            f"{source.getrandbits(28):07x}",
            f"TICKET-{number}{source.randrange(10)}",
            f"v{source.randrange(9)}.{source.randrange(30)}.{number}",
        ]
    )


def paths(count: int) -> Iterator[str]:
    """Yield the paths of so many notes, in folders of a thousand."""
    day = date(2000, 1, 1)
    for number in range(count):
        dated = (day + timedelta(days=number % 9000)).isoformat()
        yield f"memory/{number // 1000:03d}/{dated}-{number}.md"


def write_workspace(root: Path, *, files: int, size: int) -> None:
    """Write a workspace, unless the same one stands there already."""
    stamp = root / ".complete"
    wanted = f"{files} notes of {size} bytes, seed {SEED}"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    vocabulary = Vocabulary()
    for number, path in enumerate(paths(files)):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(note(number, size, vocabulary), encoding="utf-8")
    (root / "MEMORY.md").write_text(
        "# Memory\n\nMade by a generator.\n", encoding="utf-8"
    )
    stamp.write_text(wanted, encoding="utf-8")
