"""Which files a pattern of the configuration means: the syntax of fast-glob and minimatch.

`*`, `**`, `?`, `[...]`, `{a,b}`, `{1..3}`, `@(a|b)` and its kin. No library for Python reads
them all: fnmatch knows neither braces nor folders, gitignore's patterns mean other files.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Final

_DYNAMIC: Final = re.compile(r"[*?\\|]|^!|\[[^\[]*\]|[!+@]\([^(]*\)")
"""Without any of these a pattern is the name of a file, and its signs are letters."""

_CLASSES: Final = {
    "[:alnum:]": "a-zA-Z0-9",
    "[:alpha:]": "a-zA-Z",
    "[:digit:]": "0-9",
    "[:lower:]": "a-z",
    "[:upper:]": "A-Z",
    "[:word:]": "A-Za-z0-9_",
    "[:xdigit:]": "A-Fa-f0-9",
}

_MOST: Final = 2_000
"""Patterns that braces may stand for; more of them mean no file."""

_QUANTIFIERS: Final = {"@": "", "?": "?", "*": "*", "+": "+"}
_RANGE: Final = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?")


def compile_globs(
    globs: Sequence[str], *, negations: bool = False
) -> Callable[[str], bool]:
    """Return a predicate over relative paths: does one of the patterns match?

    Patterns that make no sense mean no file at all.

    Args:
        globs: The patterns.
        negations: One that begins with `!` names files that are not meant.

    >>> means = compile_globs(["{MEMORY.md,memory/**/*.md}", "!**/old*"], negations=True)
    >>> means("memory/2026/x.md"), means("USER.md"), means("memory/old.md")
    (True, False, False)
    """
    try:
        expanded = list(_expanded(globs))
        unwanted = list(filter(_is_negative, expanded)) if negations else []
        wanted = [glob for glob in expanded if glob not in unwanted]
        inside = [re.compile(_regex(glob)) for glob in wanted]
        outside = [re.compile(_regex(glob[1:])) for glob in unwanted]
    except (re.error, ValueError, RecursionError):
        return lambda path: False

    def means(path: str) -> bool:
        return any(one.fullmatch(path) for one in inside) and not any(
            one.fullmatch(path) for one in outside
        )

    return means


def _is_negative(glob: str) -> bool:
    return glob.startswith("!") and not glob.startswith("!(")


def _expanded(globs: Sequence[str]) -> Iterator[str]:
    """Yield the patterns without braces.

    Raises:
        ValueError: too many.
    """
    for count, glob in enumerate(chain.from_iterable(map(_unbraced, globs))):
        if count >= _MOST:
            raise ValueError(f"more than {_MOST} patterns")
        yield re.sub(r"(?!^)/{2,}", "/", glob).removeprefix("./")


def _unbraced(glob: str) -> Iterator[str]:
    """Yield a pattern with its braces replaced by each alternative."""
    at = 0
    while (at := _next(glob, "{", at)) >= 0:
        end = _closing(glob, at, "{}")
        choices = _choices(glob[at + 1 : end]) if end > 0 else []
        if choices:
            before, after = glob[:at], glob[end + 1 :]
            for choice in choices:
                yield from _unbraced(f"{before}{choice}{after}")
            return
        at += 1
    yield glob


def _choices(inner: str) -> list[str]:
    """Return the alternatives inside braces; none if they are literal."""
    choices = _split(inner, ",", "{}")
    if len(choices) > 1:
        return choices
    found = _RANGE.fullmatch(inner)
    if found is None:
        return []
    first, last, step = found.groups()
    if first.isalpha() != last.isalpha():
        return []
    low, high = map(ord, (first, last)) if first.isalpha() else map(int, (first, last))
    by = max(1, abs(int(step or 1)))
    numbers = range(low, high + 1, by) if low <= high else range(low, high - 1, -by)
    if len(numbers) > _MOST:
        raise ValueError(f"more than {_MOST} patterns")
    if first.isalpha():
        return [chr(number) for number in numbers]
    padded = any(re.match(r"-?0\d", one) for one in (first, last))
    width = max(len(first), len(last)) if padded else 0
    return [f"{number:0{width}}" if width else str(number) for number in numbers]


def _regex(glob: str) -> str:
    """Return a pattern without braces as a regular expression over whole paths."""
    if "(" in glob and not _DYNAMIC.search(glob):
        return "(?!)"  # fast-glob looks for a file of that name, and then drops it
    *before, last = _split(glob, "/", "()")
    written = ""
    for place, segment in enumerate(before):
        rest = "/".join((*before[place + 1 :], last))
        if segment == "**":
            written += "(?:[^/]+/)*"
        else:
            written += _segment(segment, f"/{rest}") + "/"
    if last != "**":
        return written + _segment(last, "")
    # What is asked for below a folder may be called as the folder is.
    return f"{written[:-1]}(?:/[^/]+)*" if before else "[^/]+(?:/[^/]+)*"


def _segment(text: str, rest: str) -> str:
    """Return a part of a path as a regular expression; `rest` is what follows it."""
    if text == "*":
        return "[^/]+"
    written = ""
    while text:
        taken, one = _sign(text, rest)
        written, text = written + one, text[taken:]
    return written


def _sign(text: str, rest: str) -> tuple[int, str]:
    """Return the length of the first element of a glob, and its expression."""
    sign = text[0]
    if sign == "\\" and len(text) > 1:
        return 2, re.escape(text[1])
    if text[1:2] == "(" and sign in "@?*+!" and (end := _closing(text, 1, "()")) > 0:
        group = _group(text[2:end])
        if sign == "!":
            return end + 1, _unlike(group, text[2:end], text[end + 1 :] + rest)
        return end + 1, f"{group}{_QUANTIFIERS[sign]}"
    if sign == "(" and (end := _closing(text, 0, "()")) > 0:
        return end + 1, _group(text[1:end])
    if sign == "[" and (end := _bracket(text)) > 0:
        return end + 1, _class(text[1:end])
    if sign == "*":
        return len(text) - len(text.lstrip("*")), "[^/]*"
    if sign == "?":
        return 1, "[^/]"
    return 1, sign if sign == "|" else re.escape(sign)


def _group(inner: str) -> str:
    return f"(?:{'|'.join(_segment(one, '') for one in _split(inner, '|', '()'))})"


def _unlike(group: str, inner: str, after: str) -> str:
    """Return `!(…)` as an expression: a negative look-ahead over what follows."""
    if not after:
        return f"(?!{group}$)[^/]*"
    if "*" in inner and re.fullmatch(r"\.[^\\/.]+", after):
        return f"(?!{group}{_segment(after, '')})[^/]*"
    return f"(?!{group})[^/]*"


def _class(inner: str) -> str:
    inner = "^" + inner[1:] if inner[0] in "!^" else inner
    for name, signs in _CLASSES.items():
        inner = inner.replace(name, signs)
    guard = "(?!/)" if inner[0] == "^" else ""
    return f"{guard}[{inner.replace('[', chr(92) + '[')}]"


def _bracket(text: str) -> int:
    """Return where the class that opens a text is closed; -1 if it is not one."""
    first = at = 2 if text[1:2] in ("!", "^") else 1
    while (named := re.match(r"\[:[a-z]+:\]", text[at:])) is not None:
        at += named.end()
    return text.find("]", at if at > first else at + 1)


def _next(text: str, sign: str, start: int) -> int:
    """Return the place of the next sign that is not escaped; -1 if there is none."""
    at = start
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == sign:
            return at
        at += 1
    return -1


def _closing(text: str, start: int, pair: str) -> int:
    """Return where what opens at `start` is closed; -1 if it is not."""
    depth, at = 0, start
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == pair[0]:
            depth += 1
        elif text[at] == pair[1]:
            depth -= 1
            if not depth:
                return at
        at += 1
    return -1


def _split(text: str, at: str, pair: str) -> list[str]:
    """Split a text at a sign that is neither escaped nor between a pair of others."""
    parts, depth, escaped = [""], 0, False
    for sign in text:
        if not escaped:
            depth += (sign == pair[0]) - (sign == pair[1] and depth > 0)
            if sign == at and not depth:
                parts.append("")
                continue
        escaped = sign == "\\" and not escaped
        parts[-1] += sign
    return parts
