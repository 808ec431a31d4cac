"""What a filter means for notes and passages: the same for every engine.

Values of front matter are compared folded, and also as numbers and as days where both
are such. A phrase stands in a passage when its words do, one after the other, whatever
their case, accents, emphasis and line ends; parts of words are no words.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Final, NamedTuple

from notewell.backends.text.analysis import is_unspaced
from notewell.backends.text.folding import fold, without_inline_marks
from notewell.dates import read_range
from notewell.filters import Filter
from notewell.workspace.metadata import NoteMetadata, day_in, day_of_file, note_metadata

TAG_KEY: Final = "#"
"""The key under which tags are kept beside the front matter, which cannot have it."""

_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?\Z")
_SPAN: Final = re.compile(r"\d{4}(?:[-/_.]?[wWqQ]?\d{1,2}){0,2}\Z")
_LINK: Final = re.compile(r"\[\[([^\[\]|#]+)[^\[\]]*\]\]\Z")
_LONGEST: Final = 200
_LONGEST_WORD: Final = 32
_MARKS: Final = re.compile(r"\*+|__+|~~|`+|==")


class Property(NamedTuple):
    """One thing that a note says of itself: a key, and one form of a value of it."""

    key: str
    value: str


class WantedProperty(NamedTuple):
    """What a note has to say: under a key one of some values, or one within a span."""

    key: str
    values: tuple[str, ...]
    first: str = ""
    last: str = ""

    def is_in(self, properties: Iterable[Property]) -> bool:
        """Say whether a note with these properties says it."""
        return any(
            found.key == self.key
            and (
                found.value in self.values
                or bool(self.first and self.first <= found.value <= self.last)
            )
            for found in properties
        )


def note_properties(metadata: NoteMetadata) -> frozenset[Property]:
    """Return what a note says of itself, in every form in which it may be asked for."""
    found: set[Property] = set()
    for tag in metadata.tags:
        path = folded_tag(tag)
        while path:
            found.add(Property(TAG_KEY, f"t:{path}"))
            path = path.rpartition("/")[0]
    for key, texts in metadata.values.items():
        for text in texts:
            found.update(Property(_key(key), form) for form in _forms(text))
    return frozenset(found)


def folded_tag(tag: str) -> str:
    """Return a tag as it is compared."""
    return fold(tag).strip("#/ ")


def _key(key: str) -> str:
    return " ".join(fold(key).split())[:_LONGEST]


def _forms(text: str) -> Iterator[str]:
    yield f"t:{_plain(text)[:_LONGEST]}"
    if link := _LINK.match(text.strip()):
        yield f"t:{_plain(link[1])[:_LONGEST]}"
    if (number := _number(text)) is not None:
        yield number
    if (day := day_in(text)) is not None:
        yield f"d:{day.isoformat()}"


def _plain(text: str) -> str:
    return " ".join(fold(text).split())


def _number(text: str) -> str | None:
    text = text.strip()
    return f"n:{float(text):.12g}" if _NUMBER.match(text) else None


def wanted_properties(chosen: Filter) -> list[WantedProperty]:
    """Return what a note has to say of itself to pass a filter."""
    wanted = [WantedProperty(TAG_KEY, (f"t:{folded_tag(tag)}",)) for tag in chosen.tags]
    for key, value in chosen.where:
        days = read_range(value, date.min) if _SPAN.match(value.strip()) else None
        one = WantedProperty(_key(key), tuple(dict.fromkeys(_forms(value))))
        if days is not None:
            one = one._replace(first=f"d:{days.first}", last=f"d:{days.last}")
        wanted.append(one)
    return wanted


class PhraseTest:
    """Says of texts whether phrases stand in them, and others do not."""

    def __init__(self, phrases: Sequence[str], without: Sequence[str]) -> None:
        self._wanted = [_spellings(phrase) for phrase in phrases]
        self._unwanted = [_spellings(phrase) for phrase in without]

    def __bool__(self) -> bool:
        return bool(self._wanted or self._unwanted)

    def __call__(self, text: str) -> bool:
        """Whether all the phrases stand in a text, and none of the others."""
        if not self:
            return True
        texts = _spellings(text)
        return all(_any_stands(each, texts) for each in self._wanted) and not any(
            _any_stands(each, texts) for each in self._unwanted
        )

    def line_of(self, text: str) -> int | None:
        """Return the line (from 0) on which the first phrase begins; None: unknown."""
        if not self._wanted:
            return None
        lines = text.split("\n")
        for number in range(len(lines)):
            here = _spellings(lines[number])
            if _any_stands(self._wanted[0], here):
                return number
        return None


def _spellings(text: str) -> tuple[str, str]:
    """Return a text folded, as it is written, and without emphasis."""
    written = _plain(text)
    if not _MARKS.search(text) and "<" not in text:
        return written, written
    bare = _plain(without_inline_marks(text))
    return written, " ".join(_MARKS.sub("", bare).split())


def _any_stands(phrases: Sequence[str], texts: Sequence[str]) -> bool:
    return any(
        _stands(phrase, text)
        for phrase, text in zip(phrases, texts, strict=True)
        if phrase
    )


def _stands(phrase: str, text: str) -> bool:
    place = text.find(phrase)
    while place >= 0:
        end = place + len(phrase)
        before = text[place - 1 : place]
        if not _joined(before, phrase[0]) and not _joined(
            phrase[-1], text[end : end + 1]
        ):
            return True
        place = text.find(phrase, place + 1)
    return False


def _joined(left: str, right: str) -> bool:
    """Say whether two signs that follow each other belong to one word."""
    return all(
        sign and (sign.isalnum() or sign == "_") and not is_unspaced(sign)
        for sign in (left, right)
    )


def phrase_words(phrases: Iterable[str]) -> Iterator[str]:
    """Yield words of phrases that an index surely has of a text with them in it."""
    for phrase in phrases:
        for word in _plain(phrase).split():
            if word.isascii() and word.isalnum() and len(word) <= _LONGEST_WORD:
                yield word


class FilterTest:
    """Says of notes and passages that were read whether a filter lets them pass.

    Attributes:
        chosen: The filter.
        wanted: What a note has to say of itself.
        text: Says it of a text.
    """

    def __init__(self, chosen: Filter) -> None:
        self.chosen = chosen
        self._path_test = chosen.path_test()
        self.wanted = wanted_properties(chosen)
        self.text = PhraseTest(chosen.phrases, chosen.without)

    def path(self, path: str) -> bool:
        """Whether a path passes the globs."""
        return self._path_test is None or self._path_test(path)

    def day(self, day: date | None) -> bool:
        """Whether a day is one of those that are wanted."""
        since, until = self.chosen.since, self.chosen.until
        if since is None and until is None:
            return True
        return day is not None and (since or day) <= day <= (until or day)

    @property
    def wants_metadata(self) -> bool:
        """Whether a note has to be read to say whether it passes."""
        return bool(self.wanted or self.chosen.since or self.chosen.until)

    def note(self, path: str, lines: Sequence[str], mtime_ns: int) -> bool:
        """Whether a note passes, its phrases apart.

        Args:
            path: As cited.
            lines: Of the note.
            mtime_ns: When it was last changed.
        """
        if not self.path(path):
            return False
        if not self.wants_metadata:
            return True
        metadata = note_metadata(path, lines)
        if not self.day(metadata.day or day_of_file(mtime_ns)):
            return False
        if not self.wanted:
            return True
        properties = note_properties(metadata)
        return all(one.is_in(properties) for one in self.wanted)

    def spoken(self, path: str, day: date | None) -> bool:
        """Whether a passage of a transcript passes, its phrases apart."""
        return not self.wanted and self.path(path) and self.day(day)


class ReadNote(NamedTuple):
    """A note that was read: its path as cited, its lines, when it was last changed."""

    path: str
    lines: Sequence[str]
    mtime_ns: int


def any_passes(part: Filter, notes: Iterable[ReadNote]) -> bool:
    """Say whether one of some notes passes a part of a filter.

    What a part wants not to stand in a passage is never to blame.
    """
    test = FilterTest(replace(part, without=()))
    return any(
        test.path(note.path)
        and test.note(note.path, note.lines, note.mtime_ns)
        and test.text("\n".join(note.lines))
        for note in notes
    )


def filter_warnings(
    chosen: Filter, passes: Callable[[Filter], bool]
) -> tuple[str, ...]:
    """Say which part of a filter left nothing, of an answer that is empty.

    Args:
        chosen: The filter.
        passes: Says of a filter whether a single note that may be seen passes.
    """
    parts = [(said, part) for said, part in chosen.parts()]
    wide = [part for _, part in parts if part.paths]
    if len(wide) > 1 and passes(Filter(paths=chosen.paths)):
        parts = [(said, part) for said, part in parts if not part.paths]
    alone = [said for said, part in parts if not passes(part)]
    if alone:
        verb = "leaves" if len(alone) == 1 else "each leave"
        return (
            f"The filter left nothing to search: {', '.join(alone)} {verb} no note.",
        )
    if len(parts) > 1 and not passes(chosen):
        said = ", ".join(said for said, _ in parts)
        return (f"The filter left nothing to search: together, {said} leave no note.",)
    return ()
