"""Messages as lines of text, each with the line of the transcript it stands for."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Final, NamedTuple

from notewell.sessions.reading import Message

_WIDEST: Final = 2_000
"""Characters of a line. A paste without line ends becomes several lines."""

_PART: Final = 8_000
"""Characters after which the next message begins another part."""

_NAMES: Final = {"user": "User", "assistant": "Assistant"}


class Flat(NamedTuple):
    """A text that can be cut into passages at its line ends.

    Attributes:
        lines: Without line ends. Messages are set apart by empty lines.
        origins: For each line the line of the JSONL it comes from; they never fall.
    """

    lines: tuple[str, ...]
    origins: tuple[int, ...]

    @property
    def text(self) -> str:
        """The lines, each with LF at its end."""
        return "".join(f"{line}\n" for line in self.lines)

    def original_lines(self, first: int, last: int) -> tuple[int, int]:
        """Return the lines of the JSONL behind lines `first` to `last` of the text.

        >>> Flat(("User: a", "", "User: b"), (4, 4, 9)).original_lines(1, 3)
        (4, 9)

        Args:
            first: 1-based, as is `last`; both are included.
            last: At least `first`.
        """
        return self.origins[first - 1], self.origins[last - 1]


def flattened(messages: Iterable[Message]) -> Flat:
    """Write messages one below the other, each begun with who said it.

    The lines of a message depend on it alone: what comes later changes none of them.
    """
    lines: list[str] = []
    origins: list[int] = []
    for message in messages:
        said = f"{_NAMES[message.role]}: {message.text}"
        own = [*(part for line in said.split("\n") for part in _narrow(line)), ""]
        lines.extend(own)
        origins.extend([message.line] * len(own))
    return Flat(tuple(lines[:-1]), tuple(origins[:-1]))


def parts_of(said: Flat) -> list[tuple[int, int]]:
    """Cut a long text where a message begins: first line of each part, and past its last.

    What comes later changes no part but the last one.

    Returns:
        Places in `said.lines`, counted from 0.
    """
    starts, size = [0], 0
    for at, line in enumerate(said.lines):
        if size > _PART and said.origins[at] != said.origins[at - 1]:
            starts.append(at)
            size = 0
        size += len(line) + 1
    return list(pairwise([*starts, len(said.lines)]))


def _narrow(line: str) -> list[str]:
    """Cut a line into pieces of bounded width, at a space where there is one."""
    parts: list[str] = []
    while len(line) > _WIDEST:
        space = line.rfind(" ", _WIDEST // 2, _WIDEST)
        at = space + 1 if space > 0 else _WIDEST
        parts.append(line[:at])
        line = line[at:]
    return [*parts, line]
