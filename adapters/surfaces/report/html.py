"""HTML from the templates beside this file, so that no text can become markup.

Whatever a template writes is made visible first and escaped then; only what a template has
put together itself stands in the page as it is.
"""

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Final, cast

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from notewell.adapters.surfaces.plain_text import visible
from notewell.adapters.surfaces.report import charts
from notewell.adapters.surfaces.sentences import number_of

_FILTERS: Final = (
    charts.difference_interval_text,
    charts.difference_text,
    charts.interval_text,
    charts.latency_text,
    charts.outline,
    charts.score_text,
    number_of,
)


@cache
def templates() -> Environment:
    """Return the templates; a name that one of them does not know is an error."""
    found = Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = cast("dict[str, Callable[..., str]]", found.filters)
    filters.update({each.__name__: each for each in _FILTERS})
    filters["percent"] = "{:.2f}%".format
    return found


def asset(name: str) -> Markup:
    """Return a file of this package, as it stands."""
    return Markup((files(__package__) / name).read_text(encoding="utf-8"))


def harmless_text(value: str) -> str:
    r"""Return a text without the characters that a reader would obey.

    They turn the reading direction around, or are not characters at all.

    >>> print(harmless_text("a\r\nb\u202ec"))
    a
    b\u202ec
    """
    return visible(value.replace("\r\n", "\n"))


def _shown(value: object) -> object:
    if isinstance(value, str) and not isinstance(value, Markup):
        return harmless_text(value)
    return value
