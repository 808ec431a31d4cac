"""What was found out about the program, kept until something about it changes."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from notewell.backends.base import Site
from notewell.backends.qmd.contract import abilities_of
from notewell.backends.qmd.program import Program, find_program
from notewell.writing.private import replace_file

_State = tuple[str, int, int]


class _Known(msgspec.Struct, frozen=True, kw_only=True):
    """A program as it was found, and what it was found from."""

    asked: tuple[str, ...]
    search_path: str
    files: tuple[_State, ...]
    command: tuple[str, ...]
    path: str
    version: str


def known_program(site: Site, environ: Mapping[str, str], *, folder: Path) -> Program:
    """Find the program; one that was found before is taken as it was, if it still is.

    To ask for a version costs as long as a search.

    Raises:
        BackendError: see `find_program`.
    """
    file = folder / "program.json"
    asked, search_path = site.memory.qmd.command, environ.get("PATH", "")
    with suppress(OSError, msgspec.MsgspecError):
        known = msgspec.json.decode(file.read_bytes(), type=_Known)
        same = (known.asked, known.search_path) == (asked, search_path)
        if same and known.files == tuple(map(_state, (f[0] for f in known.files))):
            return Program(
                command=known.command,
                path=known.path,
                version=known.version,
                abilities=abilities_of(known.version),
            )
    seconds = site.memory.qmd.update.command_timeout_ms / 1000
    program = find_program(asked, environ, folder=folder, within=seconds)
    files = {program.path, *program.command, os.path.realpath(program.path)}
    known = _Known(
        asked=asked,
        search_path=search_path,
        files=tuple(_state(name) for name in sorted(files) if os.path.isabs(name)),
        command=program.command,
        path=program.path,
        version=program.version,
    )
    with suppress(OSError):
        replace_file(file, msgspec.json.encode(known))
    return program


def _state(file: str) -> _State:
    try:
        found = os.stat(file)
    except OSError:
        return (file, -1, -1)
    return (file, found.st_size, found.st_mtime_ns)
