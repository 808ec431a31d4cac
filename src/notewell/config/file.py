"""The configuration file: finding it, and reading its JSON5 into plain values."""

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NoReturn, cast

from notewell.config.values import describe_kind, describe_value
from notewell.errors import ConfigError

FILE_NAME: Final = "openclaw.json"
OWN_NAME: Final = "notewell.json5"
"""Our own file in the state folder, for what OpenClaw would refuse to start with."""

LARGEST: Final = 4 * 1024 * 1024
_BOM: Final = b"\xef\xbb\xbf"
_NAME: Final = r"\w[\w.-]{0,63}"

NAME_FORM: Final = (
    "letters, digits, '-', '_' and '.', not '-' or '.' first, at most 64 in all"
)

DEEPEST: Final = 200
"""Levels of nesting in JSON5, far more than a person writes; JSON may have 1024."""

# Texts, not compiled patterns: most starts need none of them.
_ESCAPE: Final = (
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # two halves
    r"|\\u([dD][89a-fA-F][0-9a-fA-F]{2})"  # one half alone
    r"|\\."
)

_GAP: Final = r"(?:\s|//.*|/\*[\s\S]*?\*/)*"
_OFFSET: Final = r" (?:starting )?near (\d+)"
_NOTATION: Final = r"U\+([0-9a-fA-F]{4,6})|b'([^']+)'"

_IN_WORDS: Final = (
    (_OFFSET, ""),
    (r"^Maximum nesting.*", f"nested deeper than {DEEPEST} levels"),
    # The parser says at which letter it gave up on `null`, `true` or `NaN`.
    (
        r"^(?:Unclosed b'literal'|Expected U\+\w+, found .*)",
        "expected a value, found a word; a text needs quotes",
    ),
    (
        r"^Unclosed b'(?:NumericLiteral|number)'",
        "the number that starts here is not complete, or too large",
    ),
    (r"^Unclosed (.+)", r"the \1 that starts here is not closed"),
    (r"^Extra data", "expected the end of the file, found"),
    (r"^Stray", "unexpected"),
    (r"^Expected", "expected"),
)

_NAMED: Final = {
    "array": "list",
    "JSON5Value": "a value",
    "IdentifierStart": "a key",
    "IdentifierName": "key",
    "UnicodeEscapeSequence": "'u' and four hexadecimal digits",
    "hexadecimal character": "a hexadecimal digit",
    "comma": "','",
    "colon": "':'",
    "slash": "'/'",
    "asterisk": "'*'",
}


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
        problem = f"is {describe_value(profile)}, which cannot be a part of a path"
        raise ConfigError("OPENCLAW_PROFILE", problem, accepted=NAME_FORM)
    return profile


def is_name(text: str) -> bool:
    """Whether a text may be a part of a file name."""
    return bool(re.fullmatch(_NAME, text)) and len(text.encode()) <= 200


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


def find_own_file(state: Path) -> Path | None:
    """Return our own file, if there is one."""
    path = state / OWN_NAME
    return path if _exists(path) else None


def read_file(path: Path) -> dict[str, object]:
    """Return the object in a configuration file; an empty file is an empty object.

    Raises:
        ConfigError: the file cannot be read, or is not JSON5 with an object in it.
    """
    content = _content(path).removeprefix(_BOM)
    if not content.strip():
        return {}
    found = parse_json5(content, path)
    if not isinstance(found, dict):
        _refuse(path, f"holds {describe_kind(found)} where an object should be")
    return cast("dict[str, object]", found)


def parse_json5(content: bytes, path: Path) -> object:
    """Return the value in a JSON5 file; nothing but comments is an empty object.

    Raises:
        ConfigError: it is not JSON5; the key is `path:line:column`.
    """
    import orjson  # only needed when there is a file

    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return _parsed_json5(_decoded(content, path), path)


def _shell_path(named: str, home: Path) -> Path:
    """Resolve a path from a flag or a variable: `~`, or relative to the folder we
    are in, as everywhere on a command line."""
    if named == "~" or named.startswith("~/"):
        named = str(home) + named[1:]
    try:
        return Path(os.path.abspath(named))
    except OSError:
        problem = "is relative, and the current folder was deleted"
        raise ConfigError(
            describe_value(named), problem, accepted="an absolute path"
        ) from None


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
        mode = path.stat().st_mode
        # Opening a pipe or a terminal would wait for somebody to write.
        if not stat.S_ISREG(mode) and str(path) != os.devnull:
            _refuse(path, "is a folder" if stat.S_ISDIR(mode) else "is not a file")
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


def _decoded(content: bytes, path: Path) -> str:
    try:
        text = content.decode()
    except UnicodeDecodeError as exc:
        line = content.count(b"\n", 0, exc.start) + 1
        problem = f"is not UTF-8 (line {line})"
        raise ConfigError(str(path), problem, accepted="UTF-8") from exc
    return re.sub(_ESCAPE, _halves_kept, text)


def _halves_kept(escape: re.Match[str]) -> str:
    """Write half a surrogate pair as itself: JavaScript cuts texts between halves
    and reads the rest again, while the parser refuses the escape."""
    return chr(int(escape[1], 16)) if escape[1] else escape[0]


def _parsed_json5(text: str, path: Path) -> object:
    import pyjson5  # plain JSON does without

    try:
        return pyjson5.decode(text, maxdepth=DEEPEST)
    except pyjson5.Json5Exception as exc:
        said = str(exc.args[0])
        if said.startswith("No JSON data"):
            return {}
        key = f"{path}{_place(text, said)}"
        raise ConfigError(key, _in_words(said), accepted="JSON5") from None
    except ValueError as exc:  # from `\U`, which has eight digits for this parser
        problem = "holds an escape that stands for no character"
        raise ConfigError(str(path), problem, accepted="JSON5") from exc


def _place(text: str, said: str) -> str:
    """Return `:line:column` of what the parser speaks of, as an editor counts."""
    near = re.search(_OFFSET, said)
    if near is None:
        return ""
    start = _start(text, said, int(near[1]))
    # The halves that _decoded wrote as themselves are escapes in the file.
    before = text[:start].encode(errors="backslashreplace").decode()
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return f":{line}:{column}"


def _start(text: str, said: str, near: int) -> int:
    """Return where it starts; the parser names its last character, from 1."""
    if said.startswith("Extra data"):  # the last one of the value before
        gap = re.match(_GAP, text[near:])
        return near + (gap.end() if gap else 0)
    if "slash" in said or "comment" in said:  # one further, at times
        near = text.rfind("/", 0, near) + 1
    return max(0, near - 1)


def _in_words(said: str) -> str:
    """Turn the parser's notation into words.

    >>> _in_words("Expected b'comma' or U+007d near 16, found U+0061")
    "expected ',' or '}', found 'a'"
    """
    for pattern, words in _IN_WORDS:
        said = re.sub(pattern, words, said)
    return re.sub(_NOTATION, _spelled, said)


def _spelled(notation: re.Match[str]) -> str:
    code, name = notation.groups()
    return repr(chr(int(code, 16))) if code else _NAMED.get(name, name)
