"""The settings of another program: read, changed and written back without loss.

They belong to a person and to that program. A file that could not be written back with
all that it says (comments, a key that stands twice, a number that we would round) is
refused, and so is a link, whose target is kept by something else.
"""

import difflib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn, Self, cast

from notewell.errors import NoteNotWritten, UsageError
from notewell.files import create_folder, read_regular, replace_file
from notewell.writing import only_writer_of

_BACKUP: Final = ".notewell-backup"
_INDENTED: Final = re.compile(r'^([ \t]+)"', re.MULTILINE)
_MARK: Final = "\ufeff"  # with which some editors begin a file
_PATIENCE: Final = 5.0


class _LossyError(ValueError):
    """What is read could not be written back as it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramSettings:
    """The settings of a program as they were read.

    Attributes:
        file: Where they are.
        raw: Their bytes; None where there is no file yet.
        mode: Its permissions.
        document: What they say.
    """

    file: Path
    raw: bytes | None
    mode: int
    document: Mapping[str, object]

    @classmethod
    def read(cls, file: Path) -> Self:
        """Read settings; those that are not there yet are empty.

        Raises:
            UsageError: the file is a link, cannot be read, or not without loss.
        """
        for place in (file, file.parent):
            if place.is_symlink():
                raise _refused(file, f"{place} is a symbolic link")
        try:
            raw = read_regular(file, below_links=True)
            mode = stat.S_IMODE(file.lstat().st_mode)
        except FileNotFoundError:
            return cls(file=file, raw=None, mode=0o600, document={})
        except OSError as error:
            raise _refused(file, error.strerror or "it cannot be read") from error
        try:
            document = _parsed(raw)
        except (ValueError, RecursionError) as error:
            raise _refused(file, _why(error)) from error
        return cls(file=file, raw=raw, mode=mode, document=document)

    @property
    def text(self) -> str:
        """What stands in the file; empty where there is none."""
        return (self.raw or b"").decode("utf-8")

    def changed_to(self, document: Mapping[str, object]) -> bytes:
        """Return the bytes of a file that says something else, laid out as this one."""
        if self.raw is not None and document == self.document:
            return self.raw
        before = self.text
        flat = bool(before.strip()) and "\n" not in before.strip()
        indented = _INDENTED.search(before)
        indent: int | str | None = indented[1] if indented else 2
        after = json.dumps(
            document,
            indent=None if flat else indent,
            separators=(",", ":") if flat and '": ' not in before else None,
            ensure_ascii=False,
        )
        if not before or before.endswith("\n"):
            after += "\n"
        if "\r\n" in before:
            after = after.replace("\n", "\r\n")
        return (_MARK * before.startswith(_MARK) + after).encode("utf-8")

    def difference(self, after: bytes) -> Iterator[str]:
        """Yield the lines of a unified difference."""
        name = str(self.file)
        yield from difflib.unified_diff(
            self.text.splitlines(),
            after.decode("utf-8").splitlines(),
            fromfile=name if self.raw is not None else os.devnull,
            tofile=name,
            lineterm="",
        )

    def write(self, after: bytes, *, state_dir: Path) -> Path | None:
        """Put other bytes in the place of the file; return where the old ones are kept.

        Raises:
            UsageError: somebody has changed the file since it was read.
            NoteNotWritten: the disk refuses.
        """
        with only_writer_of(self.file, state_dir=state_dir, patience=_PATIENCE):
            if type(self).read(self.file).raw != self.raw:
                raise UsageError(
                    f"{self.file} has been changed meanwhile",
                    remedy="run the command again, and look at the new difference",
                )
            try:
                return self._replace(after)
            except OSError as error:
                why = error.strerror or "the disk refuses"
                raise NoteNotWritten(str(self.file), why) from error

    def _replace(self, after: bytes) -> Path | None:
        backup = None
        if self.raw is None:
            create_folder(self.file.parent)
        else:
            backup = self.file.with_name(self.file.name + _BACKUP)
            replace_file(backup, self.raw, mode=self.mode)
        replace_file(self.file, after, mode=self.mode)
        return backup


def _parsed(raw: bytes) -> dict[str, object]:
    """Read JSON that can be written back.

    Raises:
        ValueError: it cannot.
    """
    text = raw.decode("utf-8").removeprefix(_MARK)
    if not text.strip():
        return {}
    found = json.loads(
        text,
        object_pairs_hook=_object,
        parse_float=_float,
        parse_int=_integer,
        parse_constant=_constant,
    )
    if not isinstance(found, dict):
        raise _LossyError("it holds no JSON object")
    try:
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise _LossyError("it holds half of a character") from None
    return cast("dict[str, object]", found)


def _object(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _LossyError("a key stands twice in it")
    return found


def _float(written: str) -> float:
    found = float(written)
    if repr(found) != written:
        raise _LossyError(f"the number {written[:40]} would not stay as it is")
    return found


def _integer(written: str) -> int:
    found = int(written)
    if str(found) != written:
        raise _LossyError(f"the number {written[:40]} would not stay as it is")
    return found


def _constant(written: str) -> NoReturn:
    raise _LossyError(f"{written} is no JSON")


def _why(error: Exception) -> str:
    if isinstance(error, _LossyError):
        return str(error)
    if isinstance(error, json.JSONDecodeError):
        where = f"line {error.lineno}"
        return f"it is no plain JSON ({where}), and comments and the like would be lost"
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 (byte {error.start + 1})"
    return "it is nested too deep, or a number in it is too long"


def _refused(file: Path, why: str) -> UsageError:
    return UsageError(
        f"{file} is left as it is: {why}",
        remedy="put in by hand what is printed without --write",
    )
