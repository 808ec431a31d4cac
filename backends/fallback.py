"""Opening the configured backend, or builtin in its place, and saying so."""

from dataclasses import dataclass
from typing import Final, cast

from notewell.backends.base import Backend, Site
from notewell.backends.registry import open_backend
from notewell.errors import (
    BackendError,
    BackendFailed,
    BackendTimeout,
    BackendUnknown,
)
from notewell.types import Fallback, FallbackReason

STAND_IN: Final = "builtin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The backend that will answer.

    Attributes:
        backend: The engine.
        name: Its name.
        fallbacks: The step down that was taken to it, if one was.
    """

    backend: Backend
    name: str
    fallbacks: tuple[Fallback, ...] = ()


async def open_with_fallback(site: Site) -> Opened:
    """Open the configured backend; if it cannot start, builtin, where that is allowed.

    Raises:
        BackendUnknown: no backend has the configured name.
        BackendError: it cannot start, and `memory.fallback` is `none`.
    """
    wanted = site.memory.backend
    try:
        return Opened(backend=await open_backend(wanted, site), name=wanted)
    except BackendUnknown:
        raise
    except BackendError as error:
        if site.memory.fallback == "none" or wanted == STAND_IN:
            raise
        return Opened(
            backend=await open_backend(STAND_IN, site),
            name=STAND_IN,
            fallbacks=(_stepped_down(wanted, error),),
        )


def _stepped_down(wanted: str, error: BackendError) -> Fallback:
    return Fallback(
        kind="backend",
        from_=wanted,
        to=STAND_IN,
        reason=_reason(error),
        message=f"{error.message}; {error.remedy}",
    )


def _reason(error: BackendError) -> FallbackReason:
    if isinstance(error, BackendTimeout):
        return "timeout"
    if isinstance(error, BackendFailed):
        return cast("FallbackReason", error.reason)
    return "missing"
