"""What notes are called, and which note a name means.

A note is called by its file, and by the title and the aliases in its front matter. Names
are compared without their case, and a name may have folders before it: `pool/pump` means
every `pump.md` in a folder `pool`.
"""

import posixpath
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Protocol

from notewell.workspace.layout import without_suffix

_CLOSE: Final = 0.6
"""How similar a name has to be, from 0 to 1, to be told instead of another."""

_SHORTLIST: Final = 40
_LONGEST: Final = 200


class NamedNote(NamedTuple):
    """A note, and one of its names as it is written; its file's if that is empty."""

    path: str
    name: str = ""


class NoteNames(Protocol):
    """Who knows what notes are called."""

    def called(self, key: str) -> Sequence[NamedNote]:
        """Return the notes that have a name with this `name_key`.

        Of a file the key is that of its name alone, without folders.
        """
        ...

    def every(self) -> Iterable[NamedNote]:
        """Return all names that there are."""
        ...


def name_key(name: str) -> str:
    """Return what two names have in common that are taken for one.

    >>> name_key("Tide  Pool") == name_key("tide pool")
    True
    """
    name = " ".join(name.split())
    return (name if name.isascii() else unicodedata.normalize("NFC", name)).casefold()


def path_key(path: str) -> str:
    """Return the key of a path without its suffix.

    Three underscores are a slash, as Logseq writes it in a file's name.

    >>> path_key("pages/Area___Pump.md")
    'pages/area/pump'
    """
    return name_key(without_suffix(path).replace("___", "/"))


def file_key(path: str) -> str:
    """Return the key under which a note is called by its file.

    >>> file_key("memory/Tide pool.md")
    'tide pool'
    """
    return path_key(path).rpartition("/")[2]


def notes_by_path(names: NoteNames, asked: str) -> list[str]:
    """Return the notes whose path ends as is asked, each once, sorted.

    One that is meant by the whole path, or is written in the same case, stands alone.
    """
    found = _ending(names, asked)
    for better in (
        [path for path in found if path_key(path) == path_key(asked.strip("/"))],
        [path for path in found if f"/{without_suffix(path)}".endswith(f"/{asked}")],
    ):
        if len(better) == 1:
            return better
    return found


def _ending(names: NoteNames, asked: str) -> list[str]:
    wanted = path_key(asked.strip("/"))
    called = names.called(wanted.rpartition("/")[2]) if wanted else ()
    paths = sorted({note.path for note in called if not note.name})
    return [path for path in paths if f"/{path_key(path)}".endswith(f"/{wanted}")]


def notes_by_title(names: NoteNames, asked: str) -> list[str]:
    """Return the notes that have a title or an alias, each once, sorted."""
    return sorted({note.path for note in names.called(name_key(asked)) if note.name})


def linked_notes(names: NoteNames, path: str, target: str, *, wiki: bool) -> list[str]:
    """Return the note that a link in a note means, or all that it may mean.

    As in Obsidian: the note at that path, from the folder of the note if it is a Markdown
    link, else from the top; else the one whose path ends so, in the same folder or below,
    then anywhere, in the fewest folders. Else, as in Logseq, the one that a wiki link
    calls by its title or by an alias.
    """
    folder = posixpath.dirname(path)
    relative = target.startswith(("./", "../"))
    ways = [posixpath.normpath(posixpath.join(folder, target))]
    if not relative:
        ways = [target.strip("/")] if wiki or target[:1] == "/" else [*ways, target]
    found = _ending(names, posixpath.basename(target) if relative else target)
    for way in ways:
        if exact := [each for each in found if path_key(each) == path_key(way)]:
            return exact
    if relative or target[:1] == "/":
        return []
    inside = [each for each in found if each.startswith(folder and f"{folder}/")]
    few = _fewest_folders(inside) or _fewest_folders(found)
    return few or (notes_by_title(names, without_suffix(target)) if wiki else [])


def _fewest_folders(paths: Sequence[str]) -> list[str]:
    fewest = min((path.count("/") for path in paths), default=0)
    return [path for path in paths if path.count("/") == fewest]


def nearest_names(asked: str, notes: Iterable[NamedNote], count: int = 3) -> list[str]:
    """Return the paths of the notes whose names are most similar, the best first.

    Folders count among names that are equally similar.
    """
    from difflib import SequenceMatcher  # only for names that are not there

    wanted = path_key(asked)[-_LONGEST:]
    name = wanted.rpartition("/")[2]
    pairs = _pairs(name)
    scored: dict[tuple[str, str], float] = {}
    for note in notes:
        other = name_key(note.name)[:_LONGEST] if note.name else file_key(note.path)
        theirs = _pairs(other)
        if shared := len(pairs & theirs):
            scored[note.path, other] = 2 * shared / (len(pairs) + len(theirs))
    few = sorted(scored, key=lambda each: (-scored[each], each))[:_SHORTLIST]
    alike = {each: SequenceMatcher(None, name, each[1]).ratio() for each in few}
    best = sorted(
        (each for each in few if alike[each] >= _CLOSE),
        key=lambda each: (
            -alike[each],
            -SequenceMatcher(None, wanted, path_key(each[0])[-_LONGEST:]).ratio(),
            each,
        ),
    )
    return list(dict.fromkeys(path for path, _ in best))[:count]


def _pairs(text: str) -> set[str]:
    """Return the pairs of characters that stand side by side, with the borders."""
    text = f" {text} "
    return {text[at : at + 2] for at in range(len(text) - 1)}


class GivenNames:
    """The names of notes that were given as pairs."""

    def __init__(self, notes: Iterable[NamedNote]) -> None:
        self._notes: dict[str, list[NamedNote]] = {}
        for note in notes:
            key = name_key(note.name) if note.name else file_key(note.path)
            self._notes.setdefault(key, []).append(note)

    def called(self, key: str) -> Sequence[NamedNote]:
        """Return the notes with a name of this key."""
        return self._notes.get(key, ())

    def every(self) -> Iterable[NamedNote]:
        """Return all names that there are."""
        return (note for notes in self._notes.values() for note in notes)
