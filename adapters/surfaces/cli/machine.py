"""What notewell needs of this machine: Python, SQLite, a disk, a terminal."""

import locale
import os
import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from notewell.adapters.surfaces.cli.check import Check
from notewell.adapters.surfaces.sentences import size_text

MCP_REMEDY: Final = "pip install 'notewell[mcp]'"

_OLDEST_PYTHON: Final = (3, 11)
_OTHERS_WRITE: Final = 0o022
_LITTLE_SPACE: Final = 200_000_000  # an index takes about the size of the notes, twice


def python() -> Check:
    """Look at the version of Python."""
    detail = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info >= _OLDEST_PYTHON:
        return Check(name="python", status="ok", detail=detail)
    remedy = "install Python 3.11 or newer"
    return Check(name="python", status="problem", detail=detail, remedy=remedy)


def sqlite() -> Check:
    """Look for apsw, which brings its own SQLite."""
    try:
        import apsw
    except ImportError as error:
        return Check(
            name="sqlite",
            status="problem",
            detail=f"apsw cannot be loaded: {error}",
            remedy="pip install --force-reinstall apsw",
        )
    versions = f"SQLite {apsw.sqlite_lib_version()}, apsw {apsw.apsw_version()}"
    return Check(name="sqlite", status="ok", detail=versions)


def full_text() -> Check:
    """Try FTS5, the index of words."""
    import apsw

    connection: Any = apsw.Connection(":memory:")  # its own types have gaps
    try:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
    except apsw.Error as error:
        return Check(
            name="full text",
            status="warning",
            detail=f"FTS5 is missing ({error}): searches read the files, slowly",
            remedy="pip install --force-reinstall apsw",
        )
    finally:
        connection.close()
    return Check(name="full text", status="ok", detail="FTS5 works")


def for_agents() -> Check:
    """Look for the package that `notewell mcp` needs; it is not loaded."""
    try:
        found = version("mcp")
    except PackageNotFoundError:
        detail = f"the package mcp is not installed; for agents, {MCP_REMEDY}"
        return Check(name="mcp", status="ok", detail=detail)
    return Check(name="mcp", status="ok", detail=f"mcp {found} for `notewell mcp`")


def folder(name: str, path: Path) -> Check:
    """Look whether a folder for derived data can be written, and by whom else."""
    there = _nearest(path)
    if not there.is_dir():
        remedy = "set OPENCLAW_STATE_DIR to a folder, or move that file away"
        detail = f"{there} is no folder"
        return Check(name=name, status="problem", detail=detail, remedy=remedy)
    if not os.access(there, os.W_OK | os.X_OK):
        return Check(
            name=name,
            status="problem",
            detail=f"{there} cannot be written",
            remedy=f"chmod u+rwx {there}, or set OPENCLAW_STATE_DIR to another folder",
        )
    if there != path:
        return Check(name=name, status="ok", detail=f"{path} is made on first use")
    mode = path.stat().st_mode & 0o777
    if mode & _OTHERS_WRITE:
        return Check(
            name=name,
            status="warning",
            detail=f"{path} can be written by others (mode {mode:o})",
            remedy=f"chmod 700 {path}",
        )
    return Check(name=name, status="ok", detail=f"{path}, mode {mode:o}")


def disk(path: Path) -> Check:
    """Look for free space where the index goes."""
    there = _nearest(path)
    free = shutil.disk_usage(there).free
    detail = f"{size_text(free)} free at {there}"
    if free >= _LITTLE_SPACE:
        return Check(name="disk", status="ok", detail=detail)
    remedy = "make room: an index takes about twice the size of the notes"
    return Check(name="disk", status="warning", detail=detail, remedy=remedy)


def encoding() -> Check:
    """Look whether the locale can say every character."""
    codec = locale.getencoding()
    if codec.lower().replace("-", "") == "utf8":
        return Check(name="terminal", status="ok", detail=codec)
    return Check(
        name="terminal",
        status="warning",
        detail=f"the locale says {codec}; notewell writes UTF-8 all the same",
        remedy="export LC_ALL=C.UTF-8",
    )


def _nearest(path: Path) -> Path:
    """The path itself, or the closest parent that exists."""
    for place in (path, *path.parents):
        if place.exists():
            return place
    return Path("/")
