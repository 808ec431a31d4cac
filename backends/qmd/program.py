"""Which program QMD is here, and what its version can do.

It is found once, in the environment in which it will run, and remembered until a file of
it changes. What it can do follows from its version; nothing is tried first to fail.
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from notewell.backends.base import Site
from notewell.backends.loops import off_the_loop
from notewell.errors import BackendFailed, BackendTimeout, BackendUnavailable
from notewell.files import replace_file
from notewell.process import OutputTooLong, ProcessTimeout, run_program

BACKEND: Final = "qmd"
RECOMMENDED: Final = "2.8.3"
INSTALL: Final = (
    f"install it with `npm install -g @tobilu/qmd@{RECOMMENDED}` (Node 22 or newer), "
    "or set memory.qmd.command"
)
_OLDEST: Final = (1, 1)
_NUMBERS: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_ENTRIES: Final = ("dist/cli/qmd.js", "dist/qmd.js")
"""The script behind the launcher: since 2.0, and before."""

_LEAST_NODE: Final = 22
_VERSION: Final = re.compile(r"^\s*qmd\s+v?(\d+\.\d+\.\d+\S*)", re.MULTILINE)
_NODE_VERSION: Final = re.compile(r"v(\d+)\.\d+\.\d+")
_PRIVATE: Final = re.compile(
    r"CI$|NODE_OPTIONS$|PWD$|OLDPWD$|INDEX_PATH$|QMD_(CONFIG_DIR|SOURCE_MODE)$"
    r"|.*(API_KEY|_TOKEN|_SECRET|PASSWORD)$",
    re.IGNORECASE,
)
_ALONE: Final = {
    "HF_HUB_OFFLINE": "1",
    "NODE_LLAMA_CPP_SKIP_DOWNLOAD": "true",
    "npm_config_offline": "true",
}
"""What keeps QMD's libraries from the network, as far as they go by it."""

_State = tuple[str, int, int]


class Abilities(NamedTuple):
    """What one version offers.

    Attributes:
        typed: `query --no-rerank` with lines such as `lex: word`, several in one call,
            without any model.
        literal_paths: Names of files come back as they are; older ones are altered, and
            two files may share one.
        named_index: Knows `--index`, and indexes of projects that it switches off.
        configured_models: Reads `models:` from its configuration.
        daemon: Its `mcp` has the tool `query` with typed searches.
        semantic: Vectors with no other model than that of the embedding.
        substrings: Finds any part of a run of Chinese, Japanese or Korean; older ones find
            its beginning.
    """

    typed: bool
    literal_paths: bool
    named_index: bool
    configured_models: bool
    daemon: bool
    semantic: bool
    substrings: bool


def abilities_of(version: str) -> Abilities:
    """Return what a version can do; unknown newer ones are taken for the newest known.

    Raises:
        BackendFailed: it is too old to be driven.
    """
    numbers = _NUMBERS.match(version)
    number = tuple(int(part) for part in numbers.groups()) if numbers else ()
    if number < _OLDEST:
        raise BackendFailed(
            BACKEND,
            f"version {version} is too old to be driven",
            reason="version",
            remedy=f"npm install -g @tobilu/qmd@{RECOMMENDED}",
        )
    recent = number >= (2, 5)
    return Abilities(
        typed=number >= (2, 1),
        literal_paths=number >= (2, 8),
        named_index=recent,
        configured_models=recent,
        daemon=recent,
        semantic=recent,
        substrings=recent,
    )


class Program(NamedTuple):
    """QMD as it is installed here.

    Attributes:
        command: The absolute program and the arguments that always come first.
        path: What was found for `memory.qmd.command`.
        version: What it says of itself.
        abilities: What this version can do.
    """

    command: tuple[str, ...]
    path: str
    version: str
    abilities: Abilities


class _StoredProgram(msgspec.Struct, frozen=True, kw_only=True):
    """A program that was found, and the files and settings that it depends on."""

    asked: tuple[str, ...]
    search_path: str
    files: tuple[_State, ...]
    command: tuple[str, ...]
    path: str
    version: str


async def known_program(
    site: Site, environ: Mapping[str, str], *, folder: Path
) -> Program:
    """Find the program, or take the one found before if its files are unchanged.

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
    """Return the stored program, unless one of its files has changed."""
    try:
        known = msgspec.json.decode(file.read_bytes(), type=_StoredProgram)
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
    known = _StoredProgram(
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


async def find_program(
    command: Sequence[str], environ: Mapping[str, str], *, folder: Path, within: float
) -> Program:
    """Find the program and ask it for its version.

    Args:
        command: `memory.qmd.command`.
        environ: The environment of the children.
        folder: Where it is run.
        within: Seconds that one question to it may take.

    Raises:
        BackendUnavailable: it is not there, or cannot run here.
        BackendFailed: its version is too old, or it does not say one.
        BackendTimeout: it says nothing in time.
    """
    if not command:
        why = "memory.qmd.command names no program"
        raise BackendUnavailable(BACKEND, why, remedy="correct memory.qmd.command")
    found = _which(command[0], environ)
    entry = _behind_launcher(found)
    if entry is None or len(command) > 1:
        full = (found, *command[1:])
    else:
        node = await _node_for(entry, found, environ, folder=folder, within=within)
        full = (node, str(entry))
    version = await _version_of(full, environ, folder=folder, within=within)
    return Program(
        command=full, path=found, version=version, abilities=abilities_of(version)
    )


def child_environment(
    environ: Mapping[str, str], *, offline: bool = False
) -> dict[str, str]:
    """Return the environment of children: no key, nothing that changes their start.

    `CI` switches its models off; a project's index or the user's own must not be met.
    Offline its libraries are told to fetch nothing, neither a model nor themselves.
    """
    kept = {name: value for name, value in environ.items() if not _PRIVATE.match(name)}
    alone = _ALONE if offline else {}
    return {**kept, **alone, "NO_COLOR": "1", "QMD_SKIP_UPDATE_CHECK": "1"}


def _which(name: str, environ: Mapping[str, str]) -> str:
    path = environ.get("PATH", os.defpath)
    found = shutil.which(os.path.expanduser(name), path=path)
    if found is not None:
        return os.path.abspath(found)
    where = (
        "" if os.sep in name else f" in {len(path.split(os.pathsep))} folders of PATH"
    )
    raise BackendUnavailable(
        BACKEND, f"there is no program {name!r}{where}", remedy=INSTALL
    )


def _behind_launcher(found: str) -> Path | None:
    """Return the script that npm's launcher would start, None if it is no launcher.

    The launcher is a process of its own in between, which costs a tenth of a second
    and leaves QMD running when it is killed alone.
    """
    real = Path(os.path.realpath(found))
    package = next(
        (p for p in real.parents if p.parts[-2:] == ("@tobilu", "qmd")), None
    )
    if package is None or _installed_by_bun(package):
        return None
    entries = [package / entry for entry in _ENTRIES]
    return next((entry for entry in entries if entry.is_file()), None)


def _installed_by_bun(package: Path) -> bool:
    """Say whether its native parts belong to Bun, by the rule of its own launcher."""
    root = package.parents[2]
    if (root / "package-lock.json").exists():
        return False
    return any((root / name).exists() for name in ("bun.lock", "bun.lockb"))


async def _node_for(
    entry: Path,
    found: str,
    environ: Mapping[str, str],
    *,
    folder: Path,
    within: float,
) -> str:
    """Return a Node that QMD can run on: the one on PATH, or one beside QMD.

    Under an older one QMD dies of a signal without a word.
    """
    seen: dict[str, str] = {}
    for node in _nodes(entry, found, environ):
        said = await _ask((node, "--version"), environ, folder=folder, within=within)
        number = _NODE_VERSION.match(said)
        if number and int(number[1]) >= _LEAST_NODE:
            return node
        seen[node] = said.strip()[:20]
    there = ", ".join(f"{node} is {version}" for node, version in seen.items())
    raise BackendUnavailable(
        BACKEND,
        f"it needs Node {_LEAST_NODE} or newer; {there or 'there is no node on PATH'}",
        remedy=f"install Node {_LEAST_NODE} and put it first on PATH, or set "
        "memory.qmd.command to [node, qmd.js]",
    )


def _nodes(entry: Path, found: str, environ: Mapping[str, str]) -> Iterator[str]:
    on_path = shutil.which("node", path=environ.get("PATH", os.defpath))
    modules = next(p for p in entry.parents if p.name == "node_modules")
    beside = (
        Path(found).parent / "node",
        modules / "node" / "bin" / "node",
        modules.parent / "bin" / "node",
    )
    for node in dict.fromkeys((on_path or "", *map(str, beside))):
        if os.access(node, os.X_OK):
            yield os.path.abspath(node)


async def _version_of(
    command: Sequence[str],
    environ: Mapping[str, str],
    *,
    folder: Path,
    within: float,
) -> str:
    said = await _ask((*command, "--version"), environ, folder=folder, within=within)
    found = _VERSION.search(said)
    if found is None:
        raise BackendFailed(
            BACKEND,
            f"{command[0]} does not say its version",
            reason="version",
            remedy=f"see `{' '.join(command)} --version`; {INSTALL}",
        )
    return found[1]


async def _ask(
    command: Sequence[str],
    environ: Mapping[str, str],
    *,
    folder: Path,
    within: float,
) -> str:
    """Return what a program says of itself; nothing if it fails.

    Raises:
        BackendUnavailable: it cannot be started, or a signal ended it.
        BackendTimeout: it says nothing in time.
    """
    try:
        output = await run_program(
            command, environ=environ, folder=folder, within=within
        )
    except OSError as exc:
        raise BackendUnavailable(
            BACKEND,
            f"{command[0]} cannot be started: {exc.strerror}",
            remedy=INSTALL,
        ) from exc
    except (ProcessTimeout, OutputTooLong) as exc:
        raise BackendTimeout(
            BACKEND, seconds=within, remedy=f"try `{' '.join(command)}` in a shell"
        ) from exc
    if output.code < 0:
        raise BackendUnavailable(
            BACKEND,
            f"it dies at its start (signal {-output.code}), as it does on a Node older "
            f"than {_LEAST_NODE}",
            remedy=f"install Node {_LEAST_NODE} and put it first on PATH",
        )
    return "" if output.code else output.out.decode("utf-8", "replace")
