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
from typing import Any, ParamSpec, TypeVar

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")

_driven = ContextVar("_driven", default=False)


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
