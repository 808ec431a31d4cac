"""The links of one note, out of it and to it: what `links` answers.

A link is told with its line and with what it was found to mean: one note, several that are
called so, or none. `notewell.links` finds them in a text, `notewell.memory.links` finds what
they mean. These values stand apart from those of `notewell.types`, because an answer of a
search has none of them.
"""

from notewell.types import citation_of
from notewell.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteLink:
    """A link that stands in a note.

    Attributes:
        path: The note in which it stands.
        line: The line in which it begins.
        text: This line, at most 200 characters of it.
        target: What it leads to, as it is written, with a heading if there is one.
        to: The note that it means; None if there is none, or if it is not clear.
        candidates: The notes that it may mean, if there are several.
    """

    path: str
    line: int
    text: str
    target: str
    to: str | None
    candidates: tuple[str, ...] = ()

    @property
    def citation(self) -> str:
        """`path#L<n>`."""
        return citation_of(self.path, self.line, self.line)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteLinks:
    """The links of one note, the answer of `links`.

    Attributes:
        path: The note, relative to the workspace.
        found: False when there is no such note.
        outgoing: The links in it, by line; those that lead nowhere, too.
        backlinks: Those to it from other notes, by path and line.
        reason: Why `found` is False, or a note on how the path was read.
        candidates: As in a `Document`.
        nearest: As in a `Document`.
        warnings: Anything a person should know, such as what was not read.
    """

    path: str
    found: bool
    outgoing: tuple[NoteLink, ...] = ()
    backlinks: tuple[NoteLink, ...] = ()
    reason: str | None = None
    candidates: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
