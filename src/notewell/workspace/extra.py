"""Extra paths: what a configured path stands for on this disk."""

import os
import stat
from collections.abc import Callable
from typing import Final, NamedTuple

from notewell.types import NarrowedPath, Skipped
from notewell.workspace.layout import (
    Workspace,
    is_markdown,
    is_valid_name,
    real_path,
    relative_to,
    show_name,
)


class Extra(NamedTuple):
    """A configured extra path, resolved.

    Attributes:
        configured: As configured.
        top: The absolute path. Its parents are resolved, itself it is no link.
        path: `top` as citations show it, relative to the workspace.
        is_file: It is one note, not a folder.
        problem: Why nothing of it is read, or None; `missing` when it may still come.
        pattern: Which files of a folder are read, as a glob; None: all.
    """

    configured: str
    top: str
    path: str
    is_file: bool = False
    problem: Skipped | None = None
    pattern: str | None = None

    def selection(self) -> Callable[[str], bool] | None:
        """Return which files of it are read, by their absolute paths; None: all."""
        if self.pattern is None or self.is_file:
            return None
        from notewell.globs import compile_globs  # few paths have a pattern

        start, means = os.path.join(self.top, ""), compile_globs([self.pattern])
        return lambda file: means(file.removeprefix(start))


_DETAILS: Final = {
    "missing": "there is no such file or folder",
    "symlink": "a symbolic link, it is not followed; name the real path",
    "refused": "not a path that can be searched",
    "not-markdown": "not a Markdown file",
    "not-a-file": "neither a file nor a folder",
}


def resolve_extra_paths(workspace: Workspace) -> list[Extra]:
    """Look at every extra path, in the order of the configuration."""
    root = real_path(workspace.root)
    return [_resolved(root, configured) for configured in workspace.extra_paths]


def _resolved(root: str, configured: str | NarrowedPath) -> Extra:
    if isinstance(configured, str):
        return _resolve(root, configured)
    return _resolve(root, configured.path)._replace(pattern=configured.pattern)


def _resolve(root: str, configured: str) -> Extra:
    named = os.path.normpath(os.path.join(root, configured))
    if not _is_searchable(configured, named):
        problem = _problem(configured, "refused")
        return Extra(configured, named, configured, problem=problem)
    parent = real_path(os.path.dirname(named))
    top = os.path.join(parent, os.path.basename(named))
    extra = Extra(configured, top, relative_to(root, top))
    # A link below the workspace may have been put there by whoever writes notes.
    if top != named and _is_below(named, root):
        return extra._replace(problem=_problem(configured, "symlink"))
    return _look_at(extra)


def _is_searchable(configured: str, named: str) -> bool:
    if not configured.strip() or "\0" in configured or not is_valid_name(configured):
        return False
    # The whole disk is never meant.
    return named != os.path.dirname(named)


def _look_at(extra: Extra) -> Extra:
    try:
        mode = os.lstat(extra.top).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return extra._replace(problem=_problem(extra.configured, "missing"))
    except PermissionError:
        detail = "no permission to read"
        return extra._replace(problem=_problem(extra.configured, "unreadable", detail))
    except OSError as exc:
        detail = exc.strerror or "cannot be read"
        return extra._replace(problem=_problem(extra.configured, "unreadable", detail))
    is_file = stat.S_ISREG(mode)
    reason = _reason_against(mode, extra.top)
    problem = _problem(extra.configured, reason) if reason else None
    return extra._replace(is_file=is_file, problem=problem)


def _reason_against(mode: int, top: str) -> str | None:
    if stat.S_ISLNK(mode):
        return "symlink"
    if stat.S_ISDIR(mode):
        return None
    if not stat.S_ISREG(mode):
        return "not-a-file"
    return None if is_markdown(os.path.basename(top)) else "not-markdown"


def _problem(configured: str, reason: str, detail: str | None = None) -> Skipped:
    return Skipped(
        path=show_name(configured),
        reason="ignored" if reason in {"refused", "not-markdown"} else reason,
        detail=detail or _DETAILS[reason],
    )


def _is_below(path: str, root: str) -> bool:
    return path.startswith(os.path.join(root, ""))
