"""Blocking work in coroutines: in a thread where a loop must stay free, else in place.

Engines whose work blocks (SQLite, files) are written once, as coroutines that await
`off_the_loop`. Programs with an event loop await them; scripts and the command line
`drive` them, and asyncio, which takes longer to import than a search takes, is never
loaded for that.
"""

import sys
import threading
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

from notewell.types import IndexStatus

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")

_driven = ContextVar("_driven", default=False)


class CalledOff(Exception):
    """Work was given up on the way; nobody waits for its result."""


async def off_the_loop(
    work: Callable[_Given, _Result], *args: _Given.args, **kwargs: _Given.kwargs
) -> _Result:
    """Run blocking work without blocking the event loop, if there is one."""
    if _driven.get() or "asyncio" not in sys.modules:
        return work(*args, **kwargs)
    import asyncio

    return await asyncio.to_thread(work, *args, **kwargs)


async def called_off(
    work: Callable[..., _Result], *args: object, **kwargs: object
) -> _Result:
    """Run blocking work that can be called off: it looks at its argument `stop`.

    When we are cancelled, `stop` is set, and the cancellation goes on once the work
    has ended: nothing that it started is left behind.
    """
    stop = threading.Event()
    if _driven.get() or "asyncio" not in sys.modules:
        return work(*args, stop=stop, **kwargs)
    import asyncio

    running = asyncio.ensure_future(asyncio.to_thread(work, *args, stop=stop, **kwargs))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([running])
        if not running.cancelled():
            running.exception()  # looked at, or asyncio complains that nobody did
        raise


def drive(coroutine: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a coroutine that waits for nothing but `off_the_loop`, here and now.

    It may be called inside a running event loop (a notebook has one), which it blocks.

    Raises:
        RuntimeError: the coroutine waits for something else.
    """
    token = _driven.set(True)
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: _Result = done.value
        return result
    finally:
        _driven.reset(token)
    coroutine.close()
    raise RuntimeError("this backend needs an event loop")


class BlockingEngine(Protocol):
    """An engine whose calls block, and that keeps itself up to date."""

    def built(self) -> bool:
        """Say whether an index was ever completed."""
        ...

    def status(self) -> IndexStatus:
        """Count what the index holds and what it lacks."""
        ...

    def nudge(self, *, changed: bool = True) -> None:
        """Let an update follow soon. Does not block."""
        ...

    def close(self) -> None:
        """Release everything."""
        ...


_Engine = TypeVar("_Engine", bound=BlockingEngine)


class OffTheLoop(Generic[_Engine]):
    """What the backends of all such engines have in common. See `Backend`."""

    def __init__(self, engine: _Engine) -> None:
        self._engine = engine

    async def built(self) -> bool:
        """Whether an index was ever completed, so that searches are answered by it."""
        return await off_the_loop(self._engine.built)

    async def status(self) -> IndexStatus:
        """Count what the index holds and what it lacks."""
        return await off_the_loop(self._engine.status)

    def nudge(self, *, changed: bool = True) -> None:
        """Say that the index should be brought up to date."""
        self._engine.nudge(changed=changed)

    async def close(self) -> None:
        """Release what the engine holds."""
        await off_the_loop(self._engine.close)
