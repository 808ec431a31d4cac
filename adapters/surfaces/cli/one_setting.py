"""One setting for people: its value, what it does, and what to write to set it."""

import re
from typing import TYPE_CHECKING, Any, Final

from notewell.adapters.surfaces.cli.options import COLUMNS, CommandUsageError
from notewell.adapters.surfaces.cli.screen import Screen, wrapped
from notewell.adapters.surfaces.plain_text import one_line
from notewell.values import dataclass

if TYPE_CHECKING:
    from notewell.config import ResolvedValue, Settings
    from notewell.config.listing import KeyDescription

_OTHER_NAMES: Final = (("memory.search.", "agents.defaults.memorySearch."),)
"""What stands for the beginning of other keys; see `docs/configuration.md`."""

_ENTRY: Final = re.compile(r"^agents\.list\[(\d+)\]\.")
_PROVIDER: Final = re.compile(r"^models\.providers\.([^.]+)\.")
_MOST_NAMED: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSetting:
    """A setting with all that is known of it.

    Attributes:
        value: What it is now, and where that comes from.
        known: What may be written, and what it does; None for what has no row of its own.
        file: Where to write it.
    """

    value: "ResolvedValue"
    known: "KeyDescription | None"
    file: str

    def shape(self) -> dict[str, object]:
        """Return it for programs."""
        return {
            "key": self.value.key,
            "value": self.value.value,
            "origin": self.value.origin,
            "accepted": self.known.accepted if self.known else None,
            "about": self.known.about if self.known else None,
            "file": self.file,
            "example": self.example(),
        }

    def example(self) -> str:
        """Return what to write into the file, as JSON5."""
        value = self.value.value
        if value is None or value == "[redacted]":
            value = _accepted_value(self.known.accepted if self.known else "")
        written = spelled(value)
        entry = _ENTRY.match(self.value.key)
        rest = self.value.key[entry.end() :] if entry else self.value.key
        for part in reversed(rest.split(".")):
            name = part if part.isidentifier() else spelled(part)
            written = f"{{{name}: {written}}}"
        if entry:  # entries are told apart by their ids
            return f"in its entry of agents.list: {written[1:-1]}"
        return written

    def drawn(self, screen: Screen) -> str:
        """Return it for people, in 80 columns."""
        value = self.value
        meaning = f" ({value.meaning})" if value.meaning else ""
        rows = [
            ("is", f"{spelled(value.value)}, from: {value.origin}{meaning}"),
            ("set it with", self.example()),
            ("in", self.file),
        ]
        if self.known:
            about = [("does", self.known.about), ("accepts", self.known.accepted)]
            rows[1:1] = [*about, ("default", self.known.default.replace("`", ""))]
        lines = [screen.paint(one_line(value.key), "bold")]
        columns = (screen.columns or COLUMNS) - 15
        for label, text in rows:
            shown = one_line(text)
            for start, end in wrapped(shown, columns):
                name = "" if start else label
                lines.append(
                    f"  {screen.paint(f'{name:<11}', 'dim')}  {shown[start:end]}"
                )
        return "\n".join(lines) + "\n"


def spelled(value: object) -> str:
    """Return a value as it is written in the file."""
    from notewell.adapters.surfaces import wire

    return one_line(wire.dump({"": value})[4:-2].decode("utf-8"))


def find_setting(settings: "Settings", key: str) -> FoundSetting:
    """Find a setting by its key, or by the end of it.

    Raises:
        CommandUsageError: there is none, or several end so.
    """
    from notewell.config.file import OWN_NAME
    from notewell.config.listing import describe_keys, list_settings

    for other, ours in _OTHER_NAMES:
        if key.startswith(other):
            key = ours + key.removeprefix(other)
    known = {described.key: described for described in describe_keys()}
    listed = {value.key: value for value in list_settings(settings)}
    for name in known:  # what nobody has set and no list shows
        if "…" not in name and "[]" not in name and "<id>" not in name:
            listed.setdefault(name, _unset(name))
    if _PROVIDER.match(key) and _general(key) in known:
        listed.setdefault(key, _unset(key))
    value = listed.get(key) or listed[_only(key, list(listed))]
    file = settings.state_dir / OWN_NAME
    if _ENTRY.match(value.key) and settings.file:  # where the list stands
        file = settings.file
    return FoundSetting(
        value=value, known=known.get(_general(value.key)), file=str(file)
    )


def _only(key: str, keys: list[str]) -> str:
    """Return the one key that ends as was asked.

    Raises:
        CommandUsageError: none does, or several do.
    """
    from notewell.config.blocks import closest_name

    wanted = key.casefold()
    ending = [each for each in keys if each.casefold().endswith(f".{wanted}")]
    same = [each for each in keys if each.casefold() == wanted]
    found = same or ending
    if len(found) == 1:
        return found[0]
    if found:
        more = (
            f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
        )
        raise CommandUsageError(
            f"several settings end in {key!r}",
            remedy=f"name one: {', '.join(found[:_MOST_NAMED])}{more}",
        )
    near = closest_name(key, keys) or _by_last_part(key, keys)
    hint = f"did you mean {near}? " if near else ""
    raise CommandUsageError(
        f"there is no setting {key!r}", remedy=f"{hint}`notewell config` lists them all"
    )


def _by_last_part(key: str, keys: list[str]) -> str | None:
    """Return the key whose last part is most like that of a key with a slip in it."""
    from notewell.config.blocks import closest_name

    last = {each.rpartition(".")[2]: each for each in reversed(keys)}
    near = closest_name(key.rpartition(".")[2], list(last))
    return last[near] if near else None


def _unset(key: str) -> "ResolvedValue":
    from notewell.config import ResolvedValue

    return ResolvedValue(key=key, value=None, origin="default")


def _general(key: str) -> str:
    """Return the key under which the table describes another one."""
    key = _PROVIDER.sub("models.providers.<id>.", key)
    if _ENTRY.match(key):
        rest = _ENTRY.sub("", key)
        at = "agents.defaults" if rest.startswith("memorySearch.") else "agents.list[]"
        return f"{at}.{rest}"
    return key


def _accepted_value(accepted: str) -> Any:
    """Return a value that stands for what may be written."""
    if quoted := re.search(r'"([^"]+)"', accepted):
        return quoted[1]
    if "true or false" in accepted:
        return True
    return 10 if "number" in accepted else "…"
