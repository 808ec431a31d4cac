"""`.notewellignore`: what a person does not want read, in gitignore's syntax.

As with git, the file counts for its own folder and all below it, a deeper file
beats a higher one, and nothing can be taken back from within an excluded folder.
"""

import os
import re
import unicodedata
from typing import TYPE_CHECKING, Final, NamedTuple

from notewell.types import Skipped
from notewell.workspace.notes import decode_note, read_regular

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILE: Final = ".notewellignore"

_LONGEST: Final = 1_000
_MOST_STARS: Final = 5
"""Characters of a pattern, and stars between two slashes: the library turns them into
a regular expression, which tries every way to share a name out among many stars."""


class _Level(NamedTuple):
    prefix: str
    spec: "GitIgnoreSpec"


class Rules(NamedTuple):
    """The ignore files that count in one folder, the outermost first."""

    levels: tuple[_Level, ...] = ()

    def exclude(self, path: str) -> bool:
        """Whether `path` is left out; a folder's path ends in `/`.

        Paths carry the prefix that their folder's rules were read with. That no
        folder above `path` is excluded is for the caller to know.
        """
        for prefix, spec in reversed(self.levels):
            verdict = spec.check_file(_fold(path[len(prefix) :])).include
            if verdict is not None:
                return verdict
        return False

    def with_file_of(self, folder: str, prefix: str, skipped: list[Skipped]) -> "Rules":
        """Add the ignore file of `folder`; what cannot be read goes to `skipped`."""
        try:
            # Followed if it is a link: its text is only matched, never shown.
            raw = read_regular(os.path.join(folder, IGNORE_FILE), follow_link=True)
        except OSError as exc:
            detail = f"not applied: {exc.strerror}"
            skipped.append(
                Skipped(path=prefix + IGNORE_FILE, reason="unreadable", detail=detail)
            )
            return self
        spec = _compile(decode_note(raw).splitlines(), prefix, skipped)
        return Rules((*self.levels, _Level(prefix, spec)))


def _fold(text: str) -> str:
    # A name typed by a person and a name from a disk may differ in Unicode form only.
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _is_costly(line: str) -> bool:
    """Whether matching a pattern might take as long as its author likes."""
    return len(line) > _LONGEST or any(
        segment.count("*") > _MOST_STARS for segment in line.split("/")
    )


def _compile(lines: list[str], prefix: str, skipped: list[Skipped]) -> "GitIgnoreSpec":
    # Imported here: few folders have the file, and every command would pay for it.
    from pathspec import GitIgnoreSpec

    good: list[str] = []
    for number, line in enumerate(map(_fold, lines), start=1):
        try:
            if _is_costly(line):
                raise ValueError
            GitIgnoreSpec.from_lines([line])
        except (ValueError, re.error):
            detail = f"line {number} is not a pattern, it is not applied"
            skipped.append(
                Skipped(path=prefix + IGNORE_FILE, reason="unreadable", detail=detail)
            )
        else:
            good.append(line)
    return GitIgnoreSpec.from_lines(good)
