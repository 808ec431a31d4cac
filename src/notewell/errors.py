"""Every error notewell raises on purpose.

NotewellError                 carries .remedy: what the person can do about it
├── UsageError                the call makes no sense here (no workspace, bad option)
├── ConfigError               a setting makes no sense; carries .key and .accepted
├── PathRefused               a path leaves the allowed roots
├── NoteNotWritten            the disk refuses, or somebody else is writing
└── BackendError              an engine could not do its work; carries .backend
    ├── BackendUnknown        no engine has that name
    ├── BackendUnavailable    not installed, or cannot start here
    ├── BackendTimeout        no answer within .seconds
    ├── BackendFailed         it ran and failed; carries .reason
    └── EmbeddingError        a provider of vectors failed; carries .reason, .terminal

Bugs of the caller stay TypeError or ValueError. Cancellation is never wrapped.
No message ever holds note text or a key.
"""

import re
from typing import ClassVar, Final

# Behind a scheme, or what was meant as one: a login, and a query that may hold a key.
_LOGIN: Final = r"""(:/{1,3}|(?<!\S)//)[^\s/?#'"]*@"""
_QUERY: Final = r"""(:/{1,3}[^\s?#'"]*)[?#][^\s'"]*"""


def without_logins(text: str) -> str:
    """Return a text in which no address holds a login, a query or a fragment.

    >>> without_logins("there is no provider 'http://me:pw@host/v1?key=k'")
    "there is no provider 'http://host/v1'"
    """
    return re.sub(_QUERY, r"\1", re.sub(_LOGIN, r"\1", text))


class NotewellError(Exception):
    """Base of every error that notewell raises on purpose.

    Attributes:
        kind: The `type` of this error in JSON: `usage`, `config`, `path-refused`,
            `unavailable` or `internal`.
        remedy: What a person can do about it, one sentence.
    """

    kind: ClassVar[str] = "internal"

    def __init__(self, message: str, *, remedy: str) -> None:
        self.message = without_logins(message)
        self.remedy = without_logins(remedy)
        super().__init__(self.message)

    @property
    def with_remedy(self) -> str:
        """What is wrong, and what to do about it, in one sentence."""
        return f"{self.message}; {self.remedy}"


class UsageError(NotewellError):
    """The call itself makes no sense here."""

    kind = "usage"


class ConfigError(NotewellError):
    """A setting has a wrong type or value, or the file cannot be read."""

    kind = "config"

    def __init__(self, key: str, problem: str, *, accepted: str) -> None:
        super().__init__(f"{key}: {problem}", remedy=f"accepted: {accepted}")
        self.key = key
        self.accepted = accepted


class PathRefused(NotewellError):
    """A path lies outside the workspace and the configured extra paths."""

    kind = "path-refused"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"{path!r} is refused: {why}",
            remedy="name a Markdown file inside the workspace or an extra path",
        )
        self.path = path
        self.why = why


_SPACE: Final = "see that there is space and the permission to write, and try again"


class NoteNotWritten(NotewellError):
    """A text could not be appended to a note."""

    kind = "unavailable"

    def __init__(self, path: str, why: str, *, remedy: str = _SPACE) -> None:
        super().__init__(f"{path} could not be written: {why}", remedy=remedy)
        self.path = path


class BackendError(NotewellError):
    """An engine could not do its work."""

    kind = "unavailable"

    def __init__(self, backend: str, message: str, *, remedy: str) -> None:
        super().__init__(f"{backend}: {message}", remedy=remedy)
        self.backend = backend


class BackendUnknown(BackendError, LookupError):
    """No engine has that name: a mistake in the settings."""

    kind = "config"

    def __init__(self, backend: str, known: tuple[str, ...]) -> None:
        names = ", ".join(known)
        super().__init__(
            "memory.backend", f"there is no {backend!r}", remedy=f"use one of: {names}"
        )
        self.backend = backend
        self.known = known


class BackendUnavailable(BackendError):
    """The engine is not installed, or cannot start here."""


class BackendTimeout(BackendError, TimeoutError):
    """The engine did not finish within its time."""

    def __init__(self, backend: str, *, seconds: float, remedy: str) -> None:
        super().__init__(backend, f"no answer within {seconds:g} s", remedy=remedy)
        self.seconds = seconds


class BackendFailed(BackendError):
    """The engine ran and failed.

    Attributes:
        reason: One word of the fallback vocabulary, such as `corrupt` or `busy`.
    """

    def __init__(self, backend: str, message: str, *, reason: str, remedy: str) -> None:
        super().__init__(backend, message, remedy=remedy)
        self.reason = reason


class EmbeddingError(BackendError):
    """A provider of vectors could not do its work.

    Attributes:
        provider: Its name.
        reason: One word of the fallback vocabulary, such as `auth` or `timeout`.
        retry_after: Seconds after which it asked to be tried again, or None.
    """

    LASTING: Final = frozenset(
        {"auth", "missing", "model-missing", "offline", "quota", "version"}
    )

    def __init__(
        self,
        provider: str,
        message: str,
        *,
        reason: str,
        remedy: str,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(provider, message, remedy=remedy)
        self.provider = provider
        self.reason = reason
        self.retry_after = retry_after

    @property
    def terminal(self) -> bool:
        """Whether trying again at once is of no use: a person has to do something."""
        return self.reason in self.LASTING
