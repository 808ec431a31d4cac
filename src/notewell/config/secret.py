"""A value that no print-out shows."""

from typing import Final

HIDDEN: Final = "[redacted]"


class Secret:
    """An API key or another confidential text; only `reveal` shows it.

    >>> Secret("sk-123")
    Secret([redacted])
    >>> f"{Secret('sk-123')}"
    '[redacted]'
    """

    __slots__ = ("__text",)

    def __init__(self, text: str) -> None:
        self.__text = text

    def reveal(self) -> str:
        """Return the text itself, for the one place that sends it."""
        return self.__text

    def __repr__(self) -> str:
        return f"Secret({HIDDEN})"

    def __str__(self) -> str:
        return HIDDEN

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other.__text == self.__text

    def __hash__(self) -> int:
        return hash(self.__text)

    def __reduce__(self) -> str:
        raise TypeError("a Secret is not serialised")
