"""The forms of texts: words, paths, commands, addresses, keys, headers."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, cast

from notewell.config.form import Form, Place, Unfit, kind, seen
from notewell.config.references import expanded, read_secret, show_secret
from notewell.config.secret import Secret
from notewell.errors import without_logins

# The scheme, which may be a reference; the login; what is shown; the rest.
_ADDRESS: Final = re.compile(r"(?:([^/?#]*://)[^/?#]*@)?([^?#]*).*", re.DOTALL)


def text(accepted: str = "a text that is not empty") -> Form:
    """Any text that says something."""
    return Form(accepted=accepted, read=read_text, show=_without_logins)


def one_of(*words: str, also: Mapping[str, str] | None = None) -> Form:
    """One of a few words; `also` maps older spellings to them."""
    older = also or {}

    def read(value: object, place: Place) -> str:
        word = read_text(value, place).strip()
        if (word := older.get(word, word)) in words:
            return word
        raise Unfit(f"is {seen(value)}")

    return Form(accepted=_listed(words), read=read)


def several_of(*words: str) -> Form:
    """A list of some of a few words, each once; an empty list is all the default."""
    single = one_of(*words)

    def read(value: object, place: Place) -> tuple[str, ...]:
        found = [str(single.read(item, place)) for item in read_list(value)]
        return tuple(dict.fromkeys(found)) or words[:1]

    return Form(accepted=f"a list of {_listed(words)}", read=read)


def location() -> Form:
    """A path; `~` is the home folder, a relative one starts at the file's folder."""

    def read(value: object, place: Place) -> Path:
        written = read_home(read_text(value, place), place)
        return Path(os.path.normpath(place.scene.base / written))

    return Form(accepted="a path: absolute, with ~, or relative", read=read, show=_str)


def index_location() -> Form:
    """As `path`, with `<state>` and `{agentId}`; the agent is filled in later."""
    plain = location()

    def read(value: object, place: Place) -> object:
        written = read_text(value, place)
        return plain.read(written.replace("<state>", str(place.scene.state)), place)

    accepted = f"{plain.accepted}; may hold <state> and {{agentId}}"
    return Form(accepted=accepted, read=read, show=_str)


def model_location() -> Form:
    """A file as for `path`, or a reference to a model (`hf:`, `https:`) as it is."""
    plain = location()

    def read(value: object, place: Place) -> str:
        written = read_text(value, place)
        if re.match(r"(hf|https?):", written):
            return written
        return str(plain.read(written, place))

    accepted = "a path of a GGUF file, or hf:<repository>/<file>"
    return Form(accepted=accepted, read=read, show=public)


def place_in_workspace() -> Form:
    """A path that starts at the workspace when it is relative; only `~` is replaced."""

    def read(value: object, place: Place) -> str:
        return read_home(read_text(value, place).strip(), place)

    return Form(accepted="a path: absolute, with ~, or from the workspace", read=read)


def start_of_key() -> Form:
    """How a session key begins, without its agent.

    OpenClaw takes one that begins with `agent:` for the beginning of the whole key,
    and so do we; but it is not what the name says.
    """

    def read(value: object, place: Place) -> str:
        prefix = read_text(value, place).strip()
        if is_whole_key(prefix):
            place.scene.warnings.append(
                f"{place.key} begins with agent: and is compared with the whole session"
                " key, as in OpenClaw; rawKeyPrefix is the name for that"
            )
        return prefix

    return Form(accepted="a text that is not empty", read=read)


def is_whole_key(prefix: str) -> bool:
    """Whether a `keyPrefix` means the whole session key.

    >>> is_whole_key("Agent:main:"), is_whole_key("discord:")
    (True, False)
    """
    return prefix.lower().startswith("agent:")


def locations() -> Form:
    """Paths that belong to a workspace: only `~` is replaced."""

    def read(value: object, place: Place) -> tuple[str, ...]:
        items = [read_text(item, place) for item in read_list(value)]
        return tuple(read_home(item, place) for item in items)

    return Form(accepted="a list of paths", read=read)


def program() -> Form:
    """An executable, or a list of it and its first arguments."""

    def read(value: object, place: Place) -> tuple[str, ...]:
        items = [value] if isinstance(value, str) else read_list(value)
        words = [read_text(item, place) for item in items]
        if not words:
            raise Unfit("is an empty list")
        return (read_home(words[0], place), *words[1:])

    def show(value: object) -> object:
        words = cast("tuple[str, ...]", (value,) if isinstance(value, str) else value)
        return words[0] if len(words) == 1 else list(words)

    return Form(accepted="an executable, or a list of arguments", read=read, show=show)


def endpoint() -> Form:
    """An http or https address. Errors do not repeat it: it may hold a key."""

    def read(value: object, place: Place) -> str:
        from urllib.parse import urlsplit  # only files that name an address pay for it

        written = read_text(value, place).strip()
        try:
            parts = urlsplit(written)
            sound = parts.scheme in ("http", "https") and parts.port != 0
        except ValueError:
            raise Unfit("is not a sound address") from None
        if not sound or not parts.hostname or not written.isprintable():
            raise Unfit("is not an http or https address")
        return written

    return Form(accepted="an address: http(s)://host[:port]/…", read=read, show=public)


def secret() -> Form:
    """A key: a text, a reference to a variable, or OpenClaw's reference object."""
    accepted = "a text, ${NAME} or env:NAME"
    return Form(accepted=accepted, read=read_secret, show=show_secret)


def header_map() -> Form:
    """HTTP headers by name; every value may be a key, so none is shown."""

    def read(value: object, place: Place) -> dict[str, Secret]:
        if not isinstance(value, Mapping):
            raise Unfit(f"is {kind(value)}")
        found: dict[str, Secret] = {}
        for name, item in cast("Mapping[str, object]", value).items():
            if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name):
                raise Unfit("has a name that no header has")
            at = Place(key=f"{place.key}.{name}", scene=place.scene)
            if (held := read_secret(item, at)) is not None:
                found[name] = held
        return found

    def show(value: object) -> object:
        items = cast("Mapping[str, object]", value).items()
        return {name: show_secret(item) for name, item in items}

    return Form(accepted="an object of header texts", read=read, show=show)


def public(value: object) -> object:
    """Show an address without login, query and fragment; an absolute path as it is.

    >>> public("https://me:key@host:80/v1?key=1")
    'https://host:80/v1'
    """
    if not isinstance(value, str) or value.startswith("/"):
        return value
    return without_logins(_ADDRESS.sub(r"\1\2", value, count=1))


def read_text(value: object, place: Place) -> str:
    """Return a text with its references replaced.

    Raises:
        Unfit: not a text, empty, or not writable as UTF-8.
    """
    if not isinstance(value, str):
        raise Unfit(f"is {seen(value)}")
    found = expanded(value, place)
    if not found.strip():
        raise Unfit("is empty")
    if "\0" in found or any("\ud800" <= character <= "\udfff" for character in found):
        raise Unfit("holds a character that cannot be written")
    return found


def read_list(value: object) -> list[object]:
    """Return a list.

    Raises:
        Unfit: it is something else.
    """
    if isinstance(value, list):
        return cast("list[object]", value)
    raise Unfit(f"is {seen(value)}")


def read_home(written: str, place: Place) -> str:
    """Replace a leading `~`.

    Raises:
        Unfit: it asks for another user's home.
    """
    if not written.startswith("~"):
        return written
    if written[1:2] not in ("", "/"):
        raise Unfit("asks for the home folder of another user")
    return str(place.scene.home) + written[1:]


def _listed(words: tuple[str, ...]) -> str:
    *first, last = (f'"{word}"' for word in words)
    return f"{', '.join(first)} or {last}" if first else last


def _without_logins(value: object) -> object:
    return without_logins(value) if isinstance(value, str) else value


def _str(value: object) -> object:
    return None if value is None else str(value)
