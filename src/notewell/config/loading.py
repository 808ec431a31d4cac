"""Finding the configuration file and reading it into plain values."""

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NoReturn, cast

from notewell.config.form import kind, seen
from notewell.config.syntax import parsed
from notewell.errors import ConfigError

FILE_NAME: Final = "openclaw.json"
LARGEST: Final = 4 * 1024 * 1024

_BOM: Final = b"\xef\xbb\xbf"
_NAME: Final = re.compile(r"[^\W_][\w.-]{0,63}")
NAME_FORM: Final = (
    "letters, digits, '-', '_' and '.', a letter or digit first, at most 64 in all"
)


def state_folder(environ: Mapping[str, str], home: Path) -> Path:
    """Return `<state>`: OPENCLAW_STATE_DIR, else `~/.openclaw`."""
    named = environ.get("OPENCLAW_STATE_DIR", "").strip()
    return _shell_path(named, home) if named else home / ".openclaw"


def profile_name(environ: Mapping[str, str]) -> str | None:
    """Return OPENCLAW_PROFILE; `default` means none.

    Raises:
        ConfigError: the name cannot be a part of a path.
    """
    profile = environ.get("OPENCLAW_PROFILE", "").strip()
    if not profile or profile.lower() == "default":
        return None
    if not is_name(profile):
        problem = f"is {seen(profile)}, which cannot be a part of a path"
        raise ConfigError("OPENCLAW_PROFILE", problem, accepted=NAME_FORM)
    return profile


def is_name(text: str) -> bool:
    """Whether a text may be a part of a file name."""
    return bool(_NAME.fullmatch(text)) and len(text.encode()) <= 200


def find_file(
    config_file: Path | None, environ: Mapping[str, str], home: Path, state: Path
) -> tuple[Path | None, str | None]:
    """Return the file to read, if there is one, and a warning, if there is need.

    Raises:
        ConfigError: the file that the caller named does not exist.
    """
    named = environ.get("OPENCLAW_CONFIG_PATH", "").strip()
    if config_file is not None:
        path = _shell_path(str(config_file), home)
        if not _exists(path):
            _refuse(path, "there is no such file")
        return path, None
    path = _shell_path(named, home) if named else state / FILE_NAME
    if _exists(path):
        return path, None
    missing = f"OPENCLAW_CONFIG_PATH names {path}, which does not exist"
    return None, missing if named else None


def read_file(path: Path) -> dict[str, object]:
    """Return the object in a configuration file; an empty file is an empty object.

    Raises:
        ConfigError: the file cannot be read, or is not JSON5 with an object in it.
    """
    content = _content(path).removeprefix(_BOM)
    if not content.strip():
        return {}
    found = parsed(content, path)
    if not isinstance(found, dict):
        _refuse(path, f"holds {kind(found)} where an object should be")
    return cast("dict[str, object]", found)


def _shell_path(named: str, home: Path) -> Path:
    """Resolve a path from a flag or a variable: `~`, or relative to the folder we
    are in, as everywhere on a command line."""
    if named == "~" or named.startswith("~/"):
        named = str(home) + named[1:]
    try:
        return Path(os.path.abspath(named))
    except OSError:
        problem = "is relative, and the current folder was deleted"
        raise ConfigError(seen(named), problem, accepted="an absolute path") from None


def _exists(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True  # reading it says what is wrong
    return True


def _content(path: Path) -> bytes:
    try:
        kind = path.stat().st_mode
        # Opening a pipe or a terminal would wait for somebody to write.
        if not stat.S_ISREG(kind) and str(path) != os.devnull:
            _refuse(path, "is a folder" if stat.S_ISDIR(kind) else "is not a file")
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as exc:
        _refuse(path, f"cannot be read ({exc.strerror or 'input/output error'})")
    except ValueError:
        _refuse(path, "is not a possible file name")
    if len(content) > LARGEST:
        _refuse(path, f"is larger than {LARGEST // 1024**2} MB")
    return content


def _refuse(path: Path, problem: str) -> NoReturn:
    raise ConfigError(str(path), problem, accepted="a UTF-8 file with a JSON5 object")
