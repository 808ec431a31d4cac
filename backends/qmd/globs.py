"""Which files a pattern of QMD's means.

QMD hands patterns to fast-glob: several with commas between them, a leading `!` for
files that are not meant. What stands in for QMD has to leave out what it leaves out, also
when no QMD is there to be asked. A pattern that makes no sense means no file.
"""

from collections.abc import Callable
from typing import Final

from notewell.globs import compile_globs

_NEVER_READ: Final = frozenset(
    {"node_modules", ".git", ".cache", "vendor", "dist", "build"}
)
"""Names that QMD passes over whatever the pattern."""


def compile_glob(pattern: str) -> Callable[[str], bool]:
    """Return a predicate over paths in a collection: does the pattern match?

    >>> means = compile_glob("{MEMORY.md,memory/**/*.md}")
    >>> means("memory/2026/x.md"), means("USER.md"), means("memory/build/x.md")
    (True, False, False)
    """
    means = compile_globs(split_patterns(pattern), negations=True)
    return lambda path: not is_never_read(path) and means(path)


def is_never_read(path: str) -> bool:
    """Say whether QMD passes a path over whatever the pattern is."""
    return any(part.startswith(".") or part in _NEVER_READ for part in path.split("/"))


def split_patterns(pattern: str) -> list[str]:
    """Return the patterns that are joined by commas outside braces and brackets.

    >>> split_patterns("a.md, {b,c}/*.md")
    ['a.md', '{b,c}/*.md']
    """
    parts, depth = [""], {"{": 0, "[": 0}
    for sign in pattern:
        if sign in depth:
            depth[sign] += 1
        elif sign in "}]" and depth[opened := "{" if sign == "}" else "["]:
            depth[opened] -= 1
        elif sign == "," and not any(depth.values()):
            parts.append("")
            continue
        parts[-1] += sign
    return [part for part in map(str.strip, parts) if part]


def portable_pattern(pattern: str) -> str:
    """Return a pattern in a form that every version of QMD reads.

    Before 2.8 a comma outside braces is one in the name of a file; and none finds
    anything below a folder whose name begins with `./`.

    >>> portable_pattern("a.md,./b/*.md"), portable_pattern("**/*.md")
    ('{a.md,b/*.md}', '**/*.md')
    """
    parts = [part.removeprefix("./") for part in split_patterns(pattern)]
    if len(parts) == 1:
        return parts[0]
    return pattern if "[" in pattern else f"{{{','.join(parts)}}}"
