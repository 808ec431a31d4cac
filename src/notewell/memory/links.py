"""The links of a note, out and back, with the lines in which they stand.

The index tells which notes link to a name; notes that have changed since, and all of them
where there is no index, are read as they are, for as long as somebody may wait. The lines
that are shown are always read from the files.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from typing import Final

from notewell.backends.base import NoteCatalogue
from notewell.errors import BackendError, BackendFailed
from notewell.front_matter import names_in_front_matter
from notewell.links import Link, read_links
from notewell.memory.reading import enter_catalogue, name_aids
from notewell.memory.setup import Setup
from notewell.note_links import NoteLink, NoteLinks
from notewell.workspace import NamedNote, Note, read_note, scan, split_lines
from notewell.workspace.document import find_open_note, read_located
from notewell.workspace.names import (
    GivenNames,
    file_key,
    linked_notes,
    name_key,
)
from notewell.workspace.paths import NoteLocation
from notewell.workspace.requests import shown_path

_MOST_LINKS: Final = 200
"""Links that are told in each direction."""

_SECONDS: Final = 2.0
"""How long notes are read that no index knows."""

_WIDEST: Final = 200


def note_links(setup: Setup, path: str, *, hides: Callable[[str], bool]) -> NoteLinks:
    """Return the links of a note; see `Memory.links`."""
    left_out = partial(setup.policy.left_out, setup.workspace)

    def shows(other: str) -> bool:
        return not hides(other) and left_out(other) is None

    with ExitStack() as stack:
        located = find_open_note(
            setup.workspace,
            path,
            hidden=hides,
            left_out=left_out,
            aids=name_aids(setup, stack),
        )
        note = read_located(located)
        if note is None:
            return _missing(located)
        web = _Web(setup, stack, shows)
        lines = split_lines(note.text)
        links = list(web.links_in(located.path, lines))
        backlinks = list(web.links_to(located.path, lines))
        warnings = [*web.warnings, *_left_out(len(links), "link")]
        warnings += _left_out(len(backlinks), "backlink")
    return NoteLinks(
        path=located.path,
        found=True,
        outgoing=tuple(links[:_MOST_LINKS]),
        backlinks=tuple(backlinks[:_MOST_LINKS]),
        reason=located.reason,
        warnings=tuple(warnings),
    )


def _missing(located: NoteLocation) -> NoteLinks:
    return NoteLinks(
        path=shown_path(located.path),
        found=False,
        reason=located.reason or "not-found",
        candidates=located.candidates,
        nearest=located.nearest,
    )


def _left_out(count: int, what: str) -> Iterator[str]:
    if count > _MOST_LINKS:
        yield f"{count - _MOST_LINKS:,} more {what}s are not shown."


class _Web:
    """The names and links of the notes that may be seen here.

    Attributes:
        warnings: What a person should know about how they came about.
    """

    def __init__(
        self, setup: Setup, stack: ExitStack, shows: Callable[[str], bool]
    ) -> None:
        self.warnings: list[str] = []
        self._deadline = time.monotonic() + _SECONDS
        scanned = scan(setup.workspace).notes
        self._notes = {note.path: note for note in scanned if shows(note.path)}
        self._known = self._catalogue(setup, stack)
        self._lines: dict[str, list[str]] = {}
        self._links: dict[str, list[Link]] = {}
        self._titles: dict[str, tuple[str, ...]] = {}
        self._read_unknown()
        names = [NamedNote(path) for path in self._notes]
        names += (
            NamedNote(path, name) for path, all in self._titles.items() for name in all
        )
        self._given = GivenNames(names)

    def _catalogue(self, setup: Setup, stack: ExitStack) -> NoteCatalogue | None:
        try:
            return enter_catalogue(setup, stack)
        except BackendFailed as error:
            if error.reason != "not-ready":
                self.warnings.append(f"Notes were read without an index: {error}.")
        except BackendError as error:
            self.warnings.append(f"Notes were read without an index: {error}.")
        return None

    def _read_unknown(self) -> None:
        """Read the notes that the index does not hold as they are."""
        held: Mapping[str, tuple[int, int, int]] = {}
        if self._known:
            held = self._known.signatures()
        todo = [
            note for note in self._notes.values() if held.get(note.path) != note[2:]
        ]
        for at, note in enumerate(todo):
            if time.monotonic() > self._deadline:
                left = f"{len(todo) - at:,} of {len(self._notes):,} notes"
                why = "are not in the index as they are, and were not read in time"
                self.warnings.append(f"{left} {why}; run `notewell index`.")
                return
            self._read(note)

    def _read(self, note: Note) -> None:
        lines: list[str] = []
        with suppress(OSError):
            lines = split_lines(read_note(note.file).text)
        self._lines[note.path] = lines
        self._links[note.path] = read_links(lines)
        self._titles[note.path] = names_in_front_matter(lines)

    def called(self, key: str) -> Sequence[NamedNote]:
        """Return the notes with such a name: from the disk, then from the index."""
        found = list(self._given.called(key))
        if self._known:
            found += (
                note
                for note in self._known.called(key)
                if note.name
                and note.path in self._notes
                and note.path not in self._titles
            )
        return found

    def every(self) -> Iterable[NamedNote]:
        """Return the names that were read."""
        return self._given.every()

    def links_in(self, path: str, lines: Sequence[str]) -> Iterator[NoteLink]:
        """Yield the links in a note."""
        for link in read_links(lines):
            yield self._told(path, lines, link)

    def links_to(self, path: str, lines: Sequence[str]) -> Iterator[NoteLink]:
        """Yield the links to a note, from others."""
        named = (name_key(name) for name in names_in_front_matter(lines))
        keys = {file_key(path), *(key.rpartition("/")[2] for key in named)}
        sources = {
            source
            for source, links in self._links.items()
            if any(file_key(link.target) in keys for link in links)
        }
        if self._known:
            sources |= self._known.linking(keys) - self._links.keys()
        for source in sorted(sources & self._notes.keys() - {path}):
            if source not in self._links:
                self._read(self._notes[source])
            for link in self._links[source]:
                if file_key(link.target) in keys:
                    told = self._told(source, self._lines[source], link)
                    if told.to == path:
                        yield told

    def _told(self, path: str, lines: Sequence[str], link: Link) -> NoteLink:
        found = linked_notes(self, path, link.target, wiki=link.wiki)
        text = lines[link.line].strip()
        shown = text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
        target = f"{link.target}#{link.fragment}" if link.fragment else link.target
        return NoteLink(
            path=path,
            line=link.line + 1,
            text=shown,
            target=target,
            to=found[0] if len(found) == 1 else None,
            candidates=tuple(found) if len(found) > 1 else (),
        )
