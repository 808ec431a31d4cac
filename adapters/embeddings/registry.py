"""Names of embedding providers to import strings, resolved when one is asked for."""

import pkgutil
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, cast

from notewell.adapters.embeddings.base import Provider
from notewell.plugins import offered

if TYPE_CHECKING:
    from notewell.adapters.embeddings.request import Request

GROUP: Final = "notewell.embeddings"
"""The entry point group in which other packages offer providers.

An entry names a function `provider(request: Request) -> Provider`. It is called at
every start, so it does nothing but describe: loading is `Provider.open`'s work.
"""

_HERE: Final = "notewell.adapters.embeddings"

BUILTIN: Final[Mapping[str, str]] = {
    "static": f"{_HERE}.static:provider",
    "local": f"{_HERE}.llama_provider:provider",
    "sentence-transformers": f"{_HERE}.sentence_transformers:provider",
    "openai": f"{_HERE}.openai:provider",
    "gemini": f"{_HERE}.gemini:provider",
    "voyage": f"{_HERE}.voyage:provider",
    "mistral": f"{_HERE}.mistral:provider",
    "ollama": f"{_HERE}.ollama:provider",
}


def targets() -> dict[str, str]:
    """Return every known name with its "module:attribute", built-ins first.

    Raises:
        ConfigError: two installed distributions claim one name.
    """
    return offered(GROUP, BUILTIN, key="memorySearch.provider")


def make_provider(target: str, request: "Request") -> Provider:
    """Return what the provider at that import string says about a request."""
    make = cast("Callable[[Request], Provider]", pkgutil.resolve_name(target))
    return make(request)
