"""Which folder is the workspace, and which are never taken by accident."""

import os
import stat
from pathlib import Path
from typing import Final

from notewell.errors import UsageError
from notewell.values import dataclass
from notewell.workspace.layout import MEMORY_FOLDER, has_workspace_layout

_MARKS: Final = (".obsidian", "logseq", ".git")
"""What lies at the top of a vault, or of a tree of notes that is kept in git."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceChoice:
    """The workspace that was chosen.

    Attributes:
        root: Absolute and resolved.
        notice: A sentence for standard error when nobody named the folder.
        within: The folder in it that is asked, relative to it; None: all of it.
    """

    root: Path
    notice: str | None = None
    within: str | None = None


def choose_workspace(
    *,
    flag: Path | None,
    configured: Path | None,
    configured_explicitly: bool,
    home: Path,
    cwd: Path,
    server: bool,
    key: str = "agents.defaults.workspace",
) -> WorkspaceChoice:
    """Choose the workspace: the flag, the configured one, the usual one, `cwd`.

    Args:
        flag: What `--workspace` says; it may name any folder.
        configured: The workspace of the settings, also when it is only the default.
        configured_explicitly: Somebody wrote `configured` down.
        home: The home folder.
        cwd: The current folder.
        server: The caller goes on for long and must not take `cwd` by accident.
        key: The setting that names `configured`, or that would.

    Raises:
        UsageError: the named folder is missing or refused, or there is none.
    """
    if flag is not None:
        named = _expand(flag, home=home, cwd=cwd)
        return WorkspaceChoice(root=_folder(named, "--workspace", key))
    usual = configured or home / ".openclaw" / "workspace"
    if configured is not None and configured_explicitly:
        root = _folder(_expand(configured, home=home, cwd=cwd), key, key)
        return WorkspaceChoice(root=_not_too_wide(root, home))
    if os.path.isdir(usual):
        return WorkspaceChoice(root=_not_too_wide(usual.resolve(), home))
    if server:
        said = f"there is no workspace to serve: {usual} does not exist"
        raise UsageError(said, remedy=_name_one(key))
    root = _not_too_wide(_folder(cwd, "the current folder", key), home)
    vault = vault_of(root, home=home)
    if vault is not None:
        within = root.relative_to(vault).as_posix()
        return WorkspaceChoice(
            root=vault,
            notice=f"No workspace is configured; reading the folder {within} of {vault}.",
            within=within,
        )
    return WorkspaceChoice(
        root=root,
        notice=f"{_why_not(usual)}; reading the current folder {root}.",
    )


def vault_of(folder: Path, *, home: Path) -> Path | None:
    """Return the vault or workspace that a folder belongs to; None: it is one itself.

    It is the nearest folder upward with `.obsidian`, `logseq`, `.git` or `MEMORY.md` in
    it; never the home folder, nor one above.
    """
    home = home.resolve()
    for above in (folder, *folder.parents):
        if above == home or above in home.parents or above == Path(above.anchor):
            return None
        if has_workspace_layout(str(above)):
            # Of such a workspace nothing but `memory/` is read.
            inside = folder.relative_to(above).parts[:1] == (MEMORY_FOLDER,)
            return above if inside else None
        if any(os.path.lexists(above / mark) for mark in _MARKS):
            return None if above == folder else above
    return None


def _why_not(usual: Path) -> str:
    """Say why the current folder is read; a profile's own folder is named."""
    if usual.name == "workspace":
        return "No workspace is configured"
    return f"No workspace is configured, and there is no {usual}"


def _expand(path: Path, *, home: Path, cwd: Path) -> Path:
    # A shell leaves the tilde alone in `--workspace=~/notes`.
    if path.parts[:1] == ("~",):
        path = home.joinpath(*path.parts[1:])
    return cwd / path


def _folder(path: Path, origin: str, key: str) -> Path:
    problem = _problem(path)
    if problem is None:
        return path.resolve()
    raise UsageError(
        f"{origin}: {str(path)!r} {problem}",
        remedy=f"create the folder, or {_name_one(key)}",
    )


def _name_one(key: str) -> str:
    return f"name the folder with --workspace, or set {key} in the configuration"


def _problem(path: Path) -> str | None:
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "does not exist"
    except (OSError, ValueError) as exc:
        return f"cannot be read ({getattr(exc, 'strerror', None) or exc})"
    return None if stat.S_ISDIR(mode) else "is not a folder"


def _not_too_wide(root: Path, home: Path) -> Path:
    if root in (Path(root.anchor), home.resolve()):
        raise UsageError(
            f"{str(root)!r} is too wide to be read as a workspace by accident",
            remedy=f"name the folder with --workspace {root} if it is meant",
        )
    return root
