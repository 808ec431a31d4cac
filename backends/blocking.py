"""Between threads and event loops: who blocks stays out of a loop, and the other way round.

Engines whose work blocks (SQLite, files) are written once, as coroutines that await
`off_the_loop`. Programs with an event loop await them; scripts and the command line
`drive` them, and asyncio, which takes longer to import than a search takes, is never
loaded for that.
"""

import sys
import threading
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Task

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")

_driven = ContextVar("_driven", default=False)

_LOOK: Final = 0.1
"""Seconds after which work in a loop is called off at the latest."""


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
    # Looked at, or asyncio complains that nobody did; who cancels may do it twice.
    running.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([running])
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


class InLoop:
    """Work that a thread has done in the event loop in which this was made.

    Without a loop, it is driven by the thread itself.
    """

    def __init__(self, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        self._work = work
        self._loop = _running_loop()
        self._task: Task[object] | None = None

    def __call__(self, stop: threading.Event) -> None:
        """Do it, until it ends or `stop` is set."""
        if self._loop is None:
            drive(self._work())
            return
        import asyncio
        from concurrent.futures import wait

        running = asyncio.run_coroutine_threadsafe(self._watched(), self._loop)
        while not wait([running], _LOOK).done:
            if stop.is_set():
                running.cancel()
                return
        running.result()

    async def ended(self, within: float | None = None) -> None:
        """Wait until what was called off has cleaned up."""
        if self._task is not None:
            import asyncio

            await asyncio.wait([self._task], timeout=within)

    async def _watched(self) -> object:
        import asyncio

        self._task = asyncio.current_task()
        return await self._work()


def _running_loop() -> "AbstractEventLoop | None":
    if "asyncio" not in sys.modules:
        return None
    import asyncio

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
