"""HTML and SVG, put together so that no text can become markup."""

from collections.abc import Iterable
from html import escape
from typing import Final

from notewell.adapters.surfaces.visible import visible

_VOID: Final = frozenset({"input", "meta"})


class Html(str):
    """Markup that may stand in the page as it is; any other string is text."""

    __slots__ = ()


def plain(value: str) -> str:
    r"""Return a text without the characters that a reader would obey.

    They turn the reading direction around, or are not characters at all.

    >>> print(plain("a\r\nb\u202ec"))
    a
    b\u202ec
    """
    return visible(value.replace("\r\n", "\n"))


def text(value: str) -> Html:
    """Return a text as markup that shows it.

    >>> text("</script> & co")
    '&lt;/script&gt; &amp; co'
    """
    return Html(escape(plain(value)))


def element(
    name: str, /, *children: str, **attributes: str | float | bool | None
) -> Html:
    """Return an element with its children.

    Args:
        children: Markup as it is, and text, which is escaped.
        attributes: A trailing underscore is dropped, the others become dashes.
            None and False leave an attribute out, True gives it no value.

    >>> element("td", "a < b", class_="value", aria_hidden="true", hidden=False)
    '<td class="value" aria-hidden="true">a &lt; b</td>'
    """
    start = name + "".join(_attribute(*pair) for pair in attributes.items())
    if name in _VOID:
        return Html(f"<{start}>")
    return Html(f"<{start}>{joined(children)}</{name}>")


def joined(parts: Iterable[str], separator: str = "") -> Html:
    """Return markup and texts one after the other, as one piece of markup."""
    safe = (part if isinstance(part, Html) else text(part) for part in parts)
    return Html(text(separator).join(safe))


def _attribute(name: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    spelled = name.rstrip("_").replace("_", "-")
    return f" {spelled}" if value is True else f' {spelled}="{text(str(value))}"'
