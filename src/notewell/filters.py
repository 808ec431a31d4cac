"""Filters: which passages an answer may have, whatever is asked.

A filter is a value. Its words are the same on every surface: globs of paths, days, tags,
front matter, sources, and phrases that stand in a passage or do not. Here they are read
and checked, and paths are held against the globs; engines do the rest.

These globs are like those of a `.gitignore`. Those of the configuration have the syntax
that OpenClaw and QMD have there, see `notewell.globs`.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from functools import cache
from typing import Final, TypeAlias, cast, get_args

from notewell.dates import DateRange
from notewell.errors import UsageError
from notewell.types import Source

DATES_ACCEPTED: Final = (
    "2026-03-03, 2026-03, 2026, yesterday, last week, 7d (seven days ago), 2w, 3m"
)
"""The forms of a day, for messages."""

_SOURCES: Final = frozenset(get_args(Source))
_MOST: Final = 100
"""Values of one kind."""

_LONGEST: Final = 1_000
"""Characters of a value."""

_MOST_WILD: Final = 4
"""Times that `**` may stand in one glob: each multiplies what has to be tried."""

PathTest: TypeAlias = Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which passages an answer may have. All of it has to hold.

    Attributes:
        paths: Globs; a note has to match one of them.
        exclude: Globs; a note may match none of them.
        since: The first day, included.
        until: The last day, included.
        tags: Tags that the note has, all of them; `a` is also `a/b`.
        where: Keys of the front matter and a value that each has, all of them.
        sources: Where to look; empty: everywhere.
        phrases: Texts that stand in the passage, all of them, whatever their case.
        without: Texts of which none stands in the passage.

    Raises:
        UsageError: a value makes no sense.
    """

    paths: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    tags: tuple[str, ...] = ()
    where: tuple[tuple[str, str], ...] = ()
    sources: frozenset[Source] = frozenset()
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for glob in (*self.paths, *self.exclude):
            _check_glob(glob)
        if self.since and self.until and self.since > self.until:
            raise UsageError(
                f"no day lies between {self.since} and {self.until}",
                remedy="`since` comes before `until`",
            )
        for name, value, accepted in self._blank():
            raise _odd(name, value, accepted)
        if unknown := sorted(self.sources - _SOURCES):
            raise _odd("source", unknown[0], "memory or sessions")

    def _blank(self) -> Iterator[tuple[str, str, str]]:
        """Yield each value that says nothing: of what, the value, what is accepted."""
        for tag in self.tags:
            if not tag.strip("#/ "):
                yield "tag", tag, "a tag: project, or project/tidepool"
        for key, value in self.where:
            if not key.strip() or not value.strip():
                yield "where", f"{key}={value}", "KEY=VALUE: status=done"
        for text in (*self.phrases, *self.without):
            if not text.strip():
                yield "phrase", text, "a text"

    @property
    def narrows(self) -> bool:
        """Whether it says anything."""
        return any(getattr(self, each.name) for each in fields(self))

    @property
    def of_notes(self) -> bool:
        """Whether it says anything of whole notes, or of when something was said."""
        return replace(self, phrases=(), without=(), sources=frozenset()).narrows

    def parts(self) -> Iterator[tuple[str, "Filter"]]:
        """Yield each thing that it says, in words, as a filter of its own."""
        for glob in self.paths:
            yield f"path {glob!r}", Filter(paths=(glob,))
        for glob in self.exclude:
            yield f"exclude {glob!r}", Filter(exclude=(glob,))
        if self.since or self.until:
            yield days_text(self), Filter(since=self.since, until=self.until)
        for tag in self.tags:
            yield f"tag {tag!r}", Filter(tags=(tag,))
        for key, value in self.where:
            yield f"where {key}={value}", Filter(where=((key, value),))
        for text in self.phrases:
            yield f"phrase {text!r}", Filter(phrases=(text,))
        for text in self.without:
            yield f"without {text!r}", Filter(without=(text,))

    def in_words(self) -> tuple[str, ...]:
        """Say each thing that it says, in words."""
        told = [said for said, _ in self.parts()]
        return (*told, *(f"source {name}" for name in sorted(self.sources)))

    def path_test(self) -> PathTest | None:
        """Return what says of a path whether the globs let it pass; None: all pass."""
        if not self.paths and not self.exclude:
            return None
        wanted = [glob_pattern(glob) for glob in self.paths]
        unwanted = [glob_pattern(glob) for glob in self.exclude]

        def passes(path: str) -> bool:
            name = glob_key(path)
            if wanted and not any(each.match(name) for each in wanted):
                return False
            return not any(each.match(name) for each in unwanted)

        return passes


NO_FILTER: Final = Filter()


def days_text(chosen: Filter) -> str:
    """Say which days a filter means.

    >>> days_text(Filter(since=date(2026, 3, 1), until=date(2026, 3, 31)))
    'days 2026-03-01 to 2026-03-31'
    """
    if chosen.since == chosen.until:
        return f"day {chosen.since}"
    if chosen.since and chosen.until:
        return f"days {chosen.since} to {chosen.until}"
    return f"since {chosen.since}" if chosen.since else f"until {chosen.until}"


# Reading the words of a surface

_LISTS: Final = ("path", "exclude", "tag", "phrase", "without")
_DAYS: Final = ("since", "until", "on")
WORDS: Final = (
    "path",
    "exclude",
    *_DAYS,
    "tag",
    "where",
    "source",
    "phrase",
    "without",
)
"""What a filter may say, as the surfaces spell it."""

_PLURALS: Final = {
    "paths": "path",
    "tags": "tag",
    "phrases": "phrase",
    "sources": "source",
}


def read_filter(words: Mapping[str, object], today: date | None = None) -> Filter:
    """Read a filter as surfaces write it.

    >>> march = read_filter({"on": "2026-03", "tag": ["work"], "where": {"status": "open"}})
    >>> march.until, march.tags, march.where
    (datetime.date(2026, 3, 31), ('work',), (('status', 'open'),))

    Args:
        words: `path`, `exclude`, `tag`, `phrase` and `without`, each a text or several;
            `since`, `until` and `on`, days in any of their forms; `where`, a mapping, or
            `KEY=VALUE` once or several times; `source`. None says nothing.
        today: What `yesterday` is relative to; by default the day that it is.

    Raises:
        UsageError: a word is unknown, or a value makes no sense.
    """
    given = {_PLURALS.get(name, name): value for name, value in words.items()}
    if unknown := sorted(set(given) - set(WORDS)):
        raise UsageError(
            f"a filter has no {unknown[0]!r}", remedy=f"it has {', '.join(WORDS)}"
        )
    lists = {name: _texts(name, given.get(name)) for name in _LISTS}
    since, until = _days(given, today or date.today())
    return Filter(
        paths=lists["path"],
        exclude=lists["exclude"],
        since=since,
        until=until,
        tags=lists["tag"],
        where=_where(given.get("where")),
        sources=cast(
            "frozenset[Source]", frozenset(_texts("source", given.get("source")))
        ),
        phrases=lists["phrase"],
        without=lists["without"],
    )


def _texts(name: str, value: object) -> tuple[str, ...]:
    """Return a text or several as several."""
    if value is None:
        return ()
    several = [value] if isinstance(value, str) else value
    if not isinstance(several, list | tuple | set | frozenset):
        raise _odd(name, str(value), "a text, or a list of texts")
    texts = cast("Sequence[object]", several)
    if len(texts) > _MOST:
        raise _odd(name, f"{len(texts)} values", f"at most {_MOST}")
    return tuple(dict.fromkeys(_text(name, each) for each in texts))


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise _odd(name, str(value), "a text")
    if len(value) > _LONGEST:
        raise _odd(name, f"{value[:20]}...", f"at most {_LONGEST:,} characters")
    if not value.strip():
        raise _odd(name, value, "a text that is not empty")
    return value


def _days(given: Mapping[str, object], today: date) -> tuple[date | None, date | None]:
    """Return the first and the last day that are wanted."""
    read = {name: _range(name, given.get(name), today) for name in _DAYS}
    firsts = [one.first for name in ("since", "on") if (one := read[name])]
    lasts = [one.last for name in ("until", "on") if (one := read[name])]
    return max(firsts, default=None), min(lasts, default=None)


def _range(name: str, value: object, today: date) -> DateRange | None:
    if value is None:
        return None
    if isinstance(value, date):
        return DateRange(value, value)
    from notewell.dates import read_range

    found = read_range(_text(name, value), today)
    if found is None:
        raise _odd(name, str(value), DATES_ACCEPTED)
    return found


def _where(value: object) -> tuple[tuple[str, str], ...]:
    if value is None:
        return ()
    if isinstance(value, Mapping):
        named = cast("Mapping[object, object]", value)
        return tuple(
            (_text("where", key), text)
            for key, values in named.items()
            for text in _values(values)
        )
    pairs: list[tuple[str, str]] = []
    for text in _texts("where", value):
        key, equals, wanted = text.partition("=")
        if not equals or not key.strip() or not wanted.strip():
            raise _odd("where", text, "KEY=VALUE: status=done")
        pairs.append((key.strip(), wanted.strip()))
    return tuple(pairs)


def _values(value: object) -> tuple[str, ...]:
    """Return the values of a key: of JSON, numbers and truth as notes spell them."""
    several = cast("list[object]", value) if isinstance(value, list) else [value]
    words = {True: "true", False: "false"}
    return _texts(
        "where",
        [
            words[each]
            if isinstance(each, bool)
            else str(each)
            if isinstance(each, int | float | date)
            else each
            for each in several
        ],
    )


def _odd(name: str, value: str, accepted: str) -> UsageError:
    return UsageError(
        f"{name}: {value!r} is not accepted", remedy=f"accepted: {accepted}"
    )


# Globs

_SIGNS: Final = re.compile(r"\\(.)|(\*+)|(\?)|(\[(?:[!^]?\]?[^\]/]*)\])|(.)", re.DOTALL)


def glob_key(path: str) -> str:
    """Return a path as globs are held against it: case and composition do not count."""
    return path.casefold() if path.isascii() else _composed(path)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


@cache
def glob_pattern(glob: str) -> re.Pattern[str]:
    r"""Return what matches the `glob_key` of each path that a glob means.

    As in a `.gitignore`: without a slash inside, a glob is a name at any depth; else it
    begins at the workspace. A folder means all that is in it, and the name of a note needs no
    suffix. `*` and `?` stop at a slash, `**` does not, and `\` takes what follows as it is.

    >>> [bool(glob_pattern("projects").match(path)) for path in ("projects/a.md", "b.md")]
    [True, False]
    """
    written = glob_key(glob.removeprefix("./"))
    inside = written.rstrip("/")
    anchored = "/" in inside
    parts = [part for part in inside.split("/") if part]
    pattern = "" if anchored else r"(?:[^/]+/)*"
    for place, part in enumerate(parts):
        last = place == len(parts) - 1
        if part.strip("*") == "" and len(part) > 1:
            if last:
                pattern += ".+"
            elif not pattern.endswith(")*"):
                pattern += r"(?:[^/]+/)*"
        else:
            pattern += _segment(part) + ("" if last else "/")
    below = r"/.+" if written.endswith("/") else r"(?:/.*|\.md|\.markdown)?"
    return re.compile(pattern + below + r"\Z", re.DOTALL)


def _segment(part: str) -> str:
    """Return the pattern of one name; each `*` is tried from the left, once."""
    runs: list[str] = [""]
    for escaped, stars, one, some, plain in _SIGNS.findall(part):
        if stars:
            runs.append("")
        elif one:
            runs[-1] += "[^/]"
        elif some:
            runs[-1] += _class(some)
        else:
            runs[-1] += re.escape(escaped or plain)
    first, *others = runs
    if not others:
        return first
    *middle, last = others
    tried = "".join(f"(?>[^/]*?{run})" for run in middle if run)
    return f"{first}{tried}[^/]*{last}(?=/|\\Z)" if last else f"{first}{tried}[^/]*"


def _class(some: str) -> str:
    inside = some[1:-1]
    negated = inside[:1] in ("!", "^")
    inside = inside[1:] if negated else inside
    for sign in "\\[]&~|^":
        inside = inside.replace(sign, f"\\{sign}")
    return f"[^/{inside}]" if negated else f"[{inside}]"


def literal_runs(glob: str) -> Iterator[str]:
    """Yield the runs of plain ASCII signs that stand in what a glob means, in order."""
    run = ""
    for escaped, stars, one, some, plain in _SIGNS.findall(
        glob_key(glob.removeprefix("./")).strip("/")
    ):
        sign = escaped or plain
        if sign and sign.isascii() and not (stars or one or some):
            run += sign
            continue
        yield run.strip("/")  # `a/**/b` is `a/b`, too
        run = ""
    yield run.strip("/")


def _check_glob(glob: str) -> None:
    accepted = "a glob such as memory/projects/** or *.md"
    if glob.startswith("!"):
        raise UsageError(
            f"path: {glob!r} is not accepted",
            remedy="what is to be left out is `exclude`",
        )
    if not glob.strip("/ ") or "\0" in glob or glob.count("**") > _MOST_WILD:
        raise _odd("path", glob, accepted)
    try:
        glob_pattern(glob)
    except re.error:
        raise _odd("path", glob, accepted) from None
