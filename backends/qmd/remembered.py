"""What was found out about the program, kept until something about it changes."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from notewell.backends.base import Site
from notewell.backends.blocking import off_the_loop
from notewell.backends.qmd.contract import abilities_of
from notewell.backends.qmd.program import Program, find_program
from notewell.files import replace_file

_State = tuple[str, int, int]


class _Known(msgspec.Struct, frozen=True, kw_only=True):
    """A program as it was found, and what it was found from."""

    asked: tuple[str, ...]
    search_path: str
    files: tuple[_State, ...]
    command: tuple[str, ...]
    path: str
    version: str


async def known_program(
    site: Site, environ: Mapping[str, str], *, folder: Path
) -> Program:
    """Find the program; one that was found before is taken as it was, if it still is.

    To ask for a version costs as long as a search.

    Raises:
        BackendError: see `find_program`.
    """
    file = folder / "program.json"
    asked, search_path = site.memory.qmd.command, environ.get("PATH", "")
    known = await off_the_loop(_recalled, file, asked, search_path)
    if known is not None:
        return known
    seconds = site.memory.qmd.update.command_timeout_ms / 1000
    program = await find_program(asked, environ, folder=folder, within=seconds)
    await off_the_loop(_remember, file, asked, search_path, program)
    return program


def _recalled(file: Path, asked: Sequence[str], search_path: str) -> Program | None:
    """Return what was found before, unless something of it is another one now."""
    try:
        known = msgspec.json.decode(file.read_bytes(), type=_Known)
    except (OSError, msgspec.MsgspecError):
        return None
    if (known.asked, known.search_path) != (tuple(asked), search_path):
        return None
    if known.files != tuple(_state(name) for name, _, _ in known.files):
        return None
    return Program(
        command=known.command,
        path=known.path,
        version=known.version,
        abilities=abilities_of(known.version),
    )


def _remember(
    file: Path, asked: Sequence[str], search_path: str, program: Program
) -> None:
    files = {program.path, *program.command, os.path.realpath(program.path)}
    known = _Known(
        asked=tuple(asked),
        search_path=search_path,
        files=tuple(_state(name) for name in sorted(files) if os.path.isabs(name)),
        command=program.command,
        path=program.path,
        version=program.version,
    )
    with suppress(OSError):
        replace_file(file, msgspec.json.encode(known))


def _state(file: str) -> _State:
    try:
        found = os.stat(file)
    except OSError:
        return (file, -1, -1)
    return (file, found.st_size, found.st_mtime_ns)
