"""Walking through the notes at the speed of the disk, and what is left out.

20,000 files are usual, so there are no Path objects here, one `stat` per note, and
no recursion. What is odd is left out and reported; nothing stops the rest.

`.notewellignore` says in gitignore's syntax what a person does not want read. As with
git, the file counts for its own folder and all below it, a deeper file beats a higher
one, and nothing can be taken back from within an excluded folder.
"""

import os
import re
import stat
import time
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from notewell.files import read_regular
from notewell.types import ExtraPath, Skipped
from notewell.workspace.decoding import decode
from notewell.workspace.extra import Extra, resolve_extra_paths
from notewell.workspace.layout import (
    FOLDER_NAMES,
    HEAVY_MARKERS,
    HEAVY_NAMES,
    LONG_TERM_NAMES,
    MARKDOWN_SUFFIXES,
    MAX_NOTE_BYTES,
    USER_NOTE,
    Note,
    Workspace,
    WorkspaceScan,
    has_workspace_layout,
    is_markdown,
    is_valid_name,
    nanoseconds,
    real_path,
    relative_to,
    show_name,
)
from notewell.workspace.placeholders import (
    NOT_DOWNLOADED,
    PLATFORM_TELLS,
    WHY,
    is_hollow,
    is_placeholder,
    placeheld_name,
    placeholder_of,
)

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_ALL_MAY_READ: Final = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH

_NOT_NOW: Final = frozenset({"unreadable", "missing", "too-large", NOT_DOWNLOADED})
"""Reasons for which nobody has taken a note away."""

_LINK: Final = "a symbolic link, it is not followed"
IGNORE_FILE: Final = ".notewellignore"
_LONGEST: Final = 1_000

_MOST_STARS: Final = 5
"""Characters of a pattern, and stars between two slashes: the library turns them into
a regular expression, which tries every way to share a name out among many stars."""


class _Level(NamedTuple):
    prefix: str
    spec: "GitIgnoreSpec"


class IgnoreRules(NamedTuple):
    """The ignore files that count in one folder, the outermost first."""

    levels: tuple[_Level, ...] = ()

    def exclude(self, path: str) -> bool:
        """Whether `path` is left out; a folder's path ends in `/`.

        Paths carry the prefix that their folder's rules were read with. That no
        folder above `path` is excluded is for the caller to know.
        """
        for prefix, spec in reversed(self.levels):
            verdict = spec.check_file(_fold(path[len(prefix) :])).include
            if verdict is not None:
                return verdict
        return False

    def with_file_of(
        self, folder: str, prefix: str, skipped: list[Skipped]
    ) -> "IgnoreRules":
        """Add the ignore file of `folder`; what cannot be read goes to `skipped`."""
        try:
            # Followed if it is a link: its text is only matched, never shown.
            raw = read_regular(os.path.join(folder, IGNORE_FILE), follow_link=True)
            text = decode(raw).text
        except OSError as exc:
            detail = f"not applied: {exc.strerror}"
            skipped.append(
                Skipped(path=prefix + IGNORE_FILE, reason="unreadable", detail=detail)
            )
            return self
        spec = _compile(text.splitlines(), prefix, skipped)
        return IgnoreRules((*self.levels, _Level(prefix, spec)))


_NO_RULES: Final = IgnoreRules()


def scan(workspace: Workspace, *, until: float | None = None) -> WorkspaceScan:
    """Find every note of a workspace and of its extra paths.

    Never raises for what is on the disk: what cannot be read is in `skipped`.

    Args:
        workspace: Where to look.
        until: Enter no further folder after this moment of `time.monotonic()`.
    """
    root = real_path(workspace.root)
    walk = _Walk(root, keeps_identities=bool(workspace.extra_paths), until=until)
    walk.tree(root, "", only_memory=has_workspace_layout(root))
    extra_paths = [walk.extra(extra) for extra in resolve_extra_paths(workspace)]
    walk.leave_out_hollow()
    walk.notes.sort(key=itemgetter(0))
    skipped = {(each.path, each.reason): each for each in walk.skipped}
    return WorkspaceScan(
        notes=tuple(walk.notes),
        skipped=tuple(skipped[key] for key in sorted(skipped)),
        extra_paths=tuple(extra_paths),
        bytes=sum(note.size for note in walk.notes),
        folders=tuple(walk.folders),
        ignored=tuple(sorted({show_name(path) for path in walk.ignored})),
        unread={relative_to(root, path): why for path, why in walk.unread.items()},
    )


class _Walk:
    """Notes and skipped files, collected over several trees."""

    def __init__(
        self, root: str, *, keeps_identities: bool, until: float | None
    ) -> None:
        self._root = root
        self._until = until
        self._user = os.geteuid() if hasattr(os, "geteuid") else None
        self.notes: list[Note] = []
        self.skipped: list[Skipped] = []
        self.folders: list[str] = []
        self.unread: dict[str, str] = {}
        self.ignored: list[str] = []
        # Beside `notes` if trees may overlap: device and inode, the only names that
        # two paths to one file are sure to share on a disk that ignores case.
        self._keeps_identities = keeps_identities
        self._identities: list[tuple[int, int]] = []
        self._stack: list[tuple[str, str, IgnoreRules]] = []
        # Notes without a block on the disk, with its device; and devices that count them.
        self._hollow: dict[str, int] = {}
        self._solid: set[int] = set()

    def tree(self, top: str, prefix: str, *, only_memory: bool = False) -> None:
        """Read a folder and all below it; `prefix` comes before each path."""
        entries = self._list(top, prefix, at_top=True)
        self.folders.append(top)
        rules = self._rules(entries, top, prefix, _NO_RULES)
        if only_memory:
            entries = self._memory_of(entries)
        self._folder(entries, prefix, rules)
        while self._stack and not self._is_late():
            folder, prefix, rules = self._stack.pop()
            entries = self._list(folder, prefix)
            if os.path.islink(folder):  # since it was listed
                self._skip(prefix, "symlink", _LINK)
            elif HEAVY_MARKERS.isdisjoint(entry.name for entry in entries):
                self.folders.append(folder)
                rules = self._rules(entries, folder, prefix, rules)
                self._folder(entries, prefix, rules)

    def _is_late(self) -> bool:
        return self._until is not None and time.monotonic() > self._until

    def extra(self, extra: Extra) -> ExtraPath:
        """Read an extra path, but for the files that are there already."""
        before = (len(self.notes), len(self.skipped))
        if extra.problem is not None:
            self.skipped.append(extra.problem)
            if extra.problem.reason in _NOT_NOW:
                self.unread[extra.path] = extra.problem.detail
        elif extra.is_file:
            self._single(extra)
        else:
            # Relative to itself, the workspace is `.`, but its notes have no prefix.
            self.tree(extra.top, "" if extra.path == "." else extra.path + "/")
            self._narrow(extra, *before)
        found = len(self.notes) - before[0]
        if extra.path.endswith(".."):
            self._shorten(*before)
        self._drop_known(before[0])
        return ExtraPath(
            path=extra.configured,
            resolved=extra.top,
            files=found,
            problem=extra.problem.detail if extra.problem else None,
        )

    def leave_out_hollow(self) -> None:
        """Leave out the notes that have no block where others have some."""
        if not self._hollow:
            return
        for path, device in self._hollow.items():
            if device in self._solid:
                self._skip(path, NOT_DOWNLOADED, WHY)
        self.notes = [note for note in self.notes if note.path not in self.unread]

    def _narrow(self, extra: Extra, notes: int, skipped: int) -> None:
        """Keep what the pattern of an extra path means."""
        selected = extra.selection()
        if selected is None:
            return
        self._keep(notes, lambda at: selected(self.notes[at].file))
        self.skipped[skipped:] = [
            each
            for each in self.skipped[skipped:]
            if not is_markdown(each.path)
            or selected(os.path.normpath(os.path.join(self._root, each.path)))
        ]

    def _keep(self, before: int, wanted: Callable[[int], bool]) -> None:
        """Keep those of the notes from `before` on that are wanted."""
        kept = list(filter(wanted, range(before, len(self.notes))))
        self.notes[before:] = [self.notes[at] for at in kept]
        self._identities[before:] = [self._identities[at] for at in kept]

    def _shorten(self, notes: int, skipped: int) -> None:
        """Give what lies in a folder above the workspace its shortest path.

        From there the workspace's own `USER.md` would be `../here/USER.md`.
        """
        self.notes[notes:] = [
            note._replace(path=relative_to(self._root, note.path))
            for note in self.notes[notes:]
        ]
        self.skipped[skipped:] = [
            replace(each, path=relative_to(self._root, each.path))
            for each in self.skipped[skipped:]
        ]

    def _list(
        self, folder: str, prefix: str, *, at_top: bool = False
    ) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                return list(entries)
        except (FileNotFoundError, NotADirectoryError) as exc:
            # Below the top it has vanished since it was listed: not an error.
            if at_top:
                self._skip(prefix or ".", "missing", exc.strerror)
        except OSError as exc:
            self._skip(prefix or ".", "unreadable", exc.strerror)
        return []

    def _rules(
        self,
        entries: list[os.DirEntry[str]],
        folder: str,
        prefix: str,
        rules: IgnoreRules,
    ) -> IgnoreRules:
        if any(entry.name == IGNORE_FILE for entry in entries):
            return rules.with_file_of(folder, prefix, self.skipped)
        return rules

    def _memory_of(self, entries: list[os.DirEntry[str]]) -> list[os.DirEntry[str]]:
        folders = {entry.name for entry in entries if entry.is_dir()}
        files = {entry.name for entry in entries} - folders
        wanted = {USER_NOTE, *map(placeholder_of, (USER_NOTE, *LONG_TERM_NAMES))}
        for names, here in ((LONG_TERM_NAMES, files), (FOLDER_NAMES, folders)):
            found = [name for name in names if name in here]
            wanted.update(found[:1])
            for other in found[1:]:
                self._skip(other, "duplicate", f"{found[0]} is read instead")
        return [
            entry
            for entry in entries
            if entry.name in wanted
            and (entry.name in FOLDER_NAMES) == (entry.name in folders)
        ]

    def _folder(
        self, entries: list[os.DirEntry[str]], prefix: str, rules: IgnoreRules
    ) -> None:
        for entry in entries:
            name = entry.name
            if name[0] == "." or name in HEAVY_NAMES:
                self._placeholder(name, prefix, rules)
                continue
            try:
                if entry.is_dir(follow_symlinks=False):
                    self._push(entry, prefix, rules)
                elif entry.is_symlink():
                    self._link(entry, prefix, rules)
                elif name[-3:] in MARKDOWN_SUFFIXES or is_markdown(name):
                    self._file(entry, prefix + name, rules)
                else:
                    self._placeholder(name, prefix, rules)
            except FileNotFoundError:
                continue  # it has vanished since it was listed
            except OSError as exc:
                self._skip(prefix + name, "unreadable", exc.strerror)

    def _placeholder(self, name: str, prefix: str, rules: IgnoreRules) -> None:
        note = placeheld_name(name) if name[-5:] == "cloud" else None
        if note and self._wanted(prefix + note, rules):
            self._skip(prefix + note, NOT_DOWNLOADED, WHY)

    def _wanted(self, path: str, rules: IgnoreRules) -> bool:
        if rules.levels and rules.exclude(path):
            self.ignored.append(path)
            return False
        if is_valid_name(path):
            return True
        self._skip(path, "bad-name", "the name is not valid UTF-8")
        return False

    def _push(self, entry: os.DirEntry[str], prefix: str, rules: IgnoreRules) -> None:
        below = f"{prefix}{entry.name}/"
        if self._wanted(below, rules):
            self._stack.append((entry.path, below, rules))

    def _link(self, entry: os.DirEntry[str], prefix: str, rules: IgnoreRules) -> None:
        path = prefix + entry.name
        if entry.is_dir():
            path += "/"
        elif not is_markdown(entry.name):
            return
        if not (rules.levels and rules.exclude(path)):
            self._skip(path.rstrip("/"), "symlink", _LINK)

    def _file(self, entry: os.DirEntry[str], path: str, rules: IgnoreRules) -> None:
        if (path.isascii() and not rules.levels) or self._wanted(path, rules):
            self._add(path, entry.path, entry.stat(follow_symlinks=False))

    def _single(self, extra: Extra) -> None:
        try:
            found = os.lstat(extra.top)
        except OSError as exc:
            self._skip(extra.configured, "missing", exc.strerror)
        else:
            self._add(extra.path, extra.top, found)

    def _add(self, path: str, file: str, found: os.stat_result) -> None:
        mode = found.st_mode
        size = found.st_size
        if not stat.S_ISREG(mode):
            self._skip(path, "not-a-file", "not a regular file")
        elif size > MAX_NOTE_BYTES:
            self._skip(path, "too-large", f"{size:,} bytes, limit {MAX_NOTE_BYTES:,}")
        elif not (mode & _ALL_MAY_READ == _ALL_MAY_READ or self._may_read(found, file)):
            self._skip(path, "unreadable", "no permission to read")
        elif PLATFORM_TELLS and is_placeholder(found):
            self._skip(path, NOT_DOWNLOADED, WHY)
        else:
            if not (PLATFORM_TELLS or found.st_blocks) and is_hollow(found):
                self._hollow[path] = found.st_dev
            else:
                self._solid.add(found.st_dev)
            times = nanoseconds(found.st_mtime_ns), nanoseconds(found.st_ctime_ns)
            note = Note(path, file, size, *times)
            self.notes.append(note)
            if self._keeps_identities:
                self._identities.append((found.st_dev, found.st_ino))

    def _may_read(self, found: os.stat_result, file: str) -> bool:
        # Asking the system costs a call; most notes are their reader's own.
        if found.st_uid == self._user and found.st_mode & stat.S_IRUSR:
            return True
        return os.access(file, os.R_OK)

    def _drop_known(self, before: int) -> None:
        """Drop the notes from `before` on that earlier trees have given already.

        Two hard links of different names are two notes, also across trees.
        """
        keys = [
            (identity, os.path.basename(note.file).casefold())
            for note, identity in zip(self.notes, self._identities, strict=True)
        ]
        known = set(keys[:before])
        self._keep(before, lambda at: keys[at] not in known)

    def _skip(self, path: str, reason: str, detail: str | None) -> None:
        if reason in _NOT_NOW:
            self.unread[path.rstrip("/")] = detail or reason
        skipped = Skipped(
            path=show_name(path.rstrip("/")), reason=reason, detail=detail or reason
        )
        self.skipped.append(skipped)


def _fold(text: str) -> str:
    # A name typed by a person and a name from a disk may differ in Unicode form only.
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _is_costly(line: str) -> bool:
    """Whether matching a pattern might take as long as its author likes."""
    return len(line) > _LONGEST or any(
        segment.count("*") > _MOST_STARS for segment in line.split("/")
    )


def _compile(lines: list[str], prefix: str, skipped: list[Skipped]) -> "GitIgnoreSpec":
    # Imported here: few folders have the file, and every command would pay for it.
    from pathspec import GitIgnoreSpec

    good: list[str] = []
    for number, line in enumerate(map(_fold, lines), start=1):
        try:
            if _is_costly(line):
                raise ValueError
            GitIgnoreSpec.from_lines([line])
        except (ValueError, re.error):
            detail = f"line {number} is not a pattern, it is not applied"
            skipped.append(
                Skipped(path=prefix + IGNORE_FILE, reason="unreadable", detail=detail)
            )
        else:
            good.append(line)
    return GitIgnoreSpec.from_lines(good)
