"""`get` and `links` of a memory: what helps to find a note, and the notes it is linked with.

Names are asked of the index that is there, never of an engine, and without one of the notes
themselves, for a second at most.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from datetime import date
from functools import cache, partial
from typing import Final

from notewell.backends.base import HasCatalogue, NoteCatalogue
from notewell.backends.policy import MOST_DOCUMENTS
from notewell.backends.registry import STAND_IN, backend_class
from notewell.errors import BackendError, PathRefused
from notewell.memory.setup import Setup
from notewell.types import Document
from notewell.workspace import (
    NameAids,
    NamedNote,
    get_document,
    read_note,
    scan,
    split_lines,
)
from notewell.workspace.requests import shown_path
from notewell.zones import moment_in

_TITLE_SECONDS: Final = 1.0


def read_document(
    setup: Setup,
    path: str,
    *,
    start: int = 1,
    lines: int | None = None,
    max_chars: int | None = None,
    hides: Callable[[str], bool],
) -> Document:
    """Return lines of a note; see `Memory.get`."""
    with ExitStack() as stack:
        read = _reader(setup, stack, hides)
        return read(path, start=start, lines=lines, max_chars=max_chars)


def _reader(
    setup: Setup, stack: ExitStack, hides: Callable[[str], bool]
) -> Callable[..., Document]:
    """Return what reads notes; what it opens is shared, and closed with `stack`."""
    return partial(
        get_document,
        setup.workspace,
        hidden=hides,
        left_out=partial(setup.policy.left_out, setup.workspace),
        aids=name_aids(setup, stack),
    )


def read_documents(
    setup: Setup,
    paths: Sequence[str],
    *,
    max_chars: int | None = None,
    hides: Callable[[str], bool],
) -> tuple[Document, ...]:
    """Return several notes; see `Memory.get_many`.

    Raises:
        ValueError: there are too many, or none.
    """
    if not 1 <= len(paths) <= MOST_DOCUMENTS:
        raise ValueError(f"from 1 to {MOST_DOCUMENTS} paths are read, got {len(paths)}")
    room = max_chars
    found: list[Document] = []
    with ExitStack() as stack:
        read = _reader(setup, stack, hides)
        for path in dict.fromkeys(paths):
            most = None if room is None else max(room, 1)
            try:
                one = read(path, max_chars=most)
            except PathRefused as refused:
                one = _refused(path, refused)
            if room is not None:
                one = _within(one, room)
                room = max(room - len(one.text), 0)
            found.append(one)
    return tuple(found)


def _refused(path: str, why: PathRefused) -> Document:
    return Document(
        path=shown_path(path),
        text="",
        start_line=1,
        end_line=0,
        total_lines=0,
        found=False,
        reason=f"{why.kind}: {why.message}",
    )


def _within(found: Document, room: int) -> Document:
    """Return a document without its text where there is no room for it."""
    if room or not found.text:
        return found
    from dataclasses import replace

    return replace(
        found,
        text="",
        end_line=found.start_line - 1,
        truncated=True,
        next_from=found.start_line,
        links=(),
    )


def name_aids(setup: Setup, stack: ExitStack) -> NameAids:
    """Return what helps to find notes; what is opened for it is closed with `stack`."""
    return NameAids(
        indexed=cache(partial(_entered, setup, stack)),
        titles=cache(partial(_titles, setup)),
        today=partial(_today, setup),
    )


def enter_catalogue(setup: Setup, stack: ExitStack) -> NoteCatalogue:
    """Open what the index knows of names and links.

    Raises:
        BackendError: there is no index that can be read.
    """
    engine = backend_class(setup.settings.memory.backend)
    if not issubclass(engine, HasCatalogue):
        engine = backend_class(STAND_IN)
    assert issubclass(engine, HasCatalogue), "the one that stands in for others has it"
    return stack.enter_context(engine.catalogue(setup.site()))


def _entered(setup: Setup, stack: ExitStack) -> NoteCatalogue | None:
    with suppress(BackendError):
        return enter_catalogue(setup, stack)
    return None


def _today(setup: Setup) -> date:
    return moment_in(setup.settings.user_timezone).date()


def _titles(setup: Setup) -> list[NamedNote]:
    """Read titles and aliases from the notes, for as long as somebody may wait."""
    from notewell.front_matter import names_in_front_matter

    deadline = time.monotonic() + _TITLE_SECONDS
    found: list[NamedNote] = []
    for note in scan(setup.workspace).notes:
        if time.monotonic() > deadline:
            break
        with suppress(OSError):
            lines = split_lines(read_note(note.file).text)
            found += (
                NamedNote(note.path, name) for name in names_in_front_matter(lines)
            )
    return found
