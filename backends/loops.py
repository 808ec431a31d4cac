"""Between threads and event loops: who blocks stays out of a loop, and the other way round.

Work that blocks (SQLite, files) is written once, as coroutines that await `off_the_loop`.
Programs with an event loop await them. Plain calls `drive` them, without any loop:
asyncio takes longer to import than a search takes, so it is loaded only for an engine
that needs it, and then runs in a thread (`Runner`).
"""

import sys
import threading
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, Generic, ParamSpec, TypeVar

from notewell.backends.base import Listener, Upload

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Event, Task

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_Inner = TypeVar("_Inner")

_driven = ContextVar("_driven", default=False)

_LOOK: Final = 0.1
"""Seconds after which work in a loop is called off at the latest."""


class WorkCancelled(Exception):
    """Work was given up on the way; nobody waits for its result."""


def in_event_loop() -> bool:
    """Whether the coroutine that asks runs in an event loop, and is not driven."""
    return "asyncio" in sys.modules and not _driven.get()


async def off_the_loop(
    work: Callable[_Given, _Result], *args: _Given.args, **kwargs: _Given.kwargs
) -> _Result:
    """Run blocking work without blocking the event loop, if there is one."""
    if not in_event_loop():
        return work(*args, **kwargs)
    import asyncio

    return await asyncio.to_thread(work, *args, **kwargs)


async def cancellable(
    work: Callable[..., _Result], *args: object, **kwargs: object
) -> _Result:
    """Run blocking work that can be called off: it looks at its argument `stop`.

    When we are cancelled, `stop` is set, and the cancellation goes on once the work
    has ended: nothing that it started is left behind.
    """
    stop = threading.Event()
    if not in_event_loop():
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


class Runner:
    """Runs coroutines for plain calls of one thread at a time."""

    def __init__(self) -> None:
        self._loop: LoopThread | None = None

    def run(self, coroutine: Coroutine[Any, Any, _Result], *, loop: bool) -> _Result:
        """Run a coroutine to its end.

        Args:
            coroutine: What is to be run.
            loop: It needs an event loop. The first that does begins one, in a thread.
        """
        if not loop:
            return drive(coroutine)
        if self._loop is None:
            self._loop = LoopThread()
        return self._loop.run(coroutine)

    def close(self) -> None:
        """End the loop, if one was begun."""
        if self._loop is not None:
            self._loop.close()
            self._loop = None


class PlainCalls(Generic[_Inner]):
    """An object whose methods are the coroutines of another one, run to their end.

    They are named in the class, by `plain`, with the signatures of the originals.
    """

    def __init__(self, inner: _Inner, runner: Runner, *, loop: bool) -> None:
        """Take whose coroutines are run, and whether some need an event loop."""
        self._inner = inner
        self._runner = runner
        self._needs_loop = loop

    def _run(self, coroutine: Coroutine[Any, Any, _Result], *, loop: bool) -> _Result:
        return self._runner.run(coroutine, loop=loop and self._needs_loop)


def plain(
    method: Callable[Concatenate[_Inner, _Given], Coroutine[Any, Any, _Result]],
    *,
    loop: bool = True,
) -> Callable[Concatenate[PlainCalls[_Inner], _Given], _Result]:
    """Return a method of `PlainCalls` that runs one of the object within.

    Args:
        method: The coroutine method.
        loop: It may need an event loop; else it waits for blocking work alone.
    """

    @wraps(method)
    def call(
        self: PlainCalls[_Inner], /, *args: _Given.args, **kwargs: _Given.kwargs
    ) -> _Result:
        coroutine = method(self._inner, *args, **kwargs)  # pyright: ignore[reportPrivateUsage]
        return self._run(coroutine, loop=loop)  # pyright: ignore[reportPrivateUsage]

    return call


class LoopThread:
    """An event loop in a thread, for plain calls; between them, what is left runs on."""

    def __init__(self) -> None:
        import asyncio

        self._asyncio = asyncio
        self._ready = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._stay()), name="notewell-loop", daemon=True
        )
        self._thread.start()
        self._ready.wait()

    def run(self, coroutine: Coroutine[Any, Any, _Result]) -> _Result:
        """Run a coroutine to its end; an interrupt of ours cancels it, and waits."""
        from concurrent.futures import Future

        begun: list[Task[_Result]] = []
        ended: Future[Task[_Result]] = Future()

        def begin() -> None:
            begun.append(self._loop.create_task(coroutine))
            begun[0].add_done_callback(ended.set_result)

        self._loop.call_soon_threadsafe(begin)
        try:
            ended.result()
        except BaseException:
            self._loop.call_soon_threadsafe(lambda: begun[0].cancel())
            ended.result()
            raise
        return begun[0].result()

    def close(self) -> None:
        """Cancel what runs, and end the thread."""
        self._loop.call_soon_threadsafe(self._closed.set)
        self._thread.join()

    async def _stay(self) -> None:
        self._loop: AbstractEventLoop = self._asyncio.get_running_loop()
        self._closed: Event = self._asyncio.Event()
        self._ready.set()
        await self._closed.wait()


class LoopWork:
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


class StoppableListener(Listener):
    """A listener that ends the run once an event is set."""

    def __init__(self, listener: Listener, stop: threading.Event) -> None:
        self._listener = listener
        self._stop = stop

    def indexing(self, done: int, total: int) -> None:
        self._check()
        self._listener.indexing(done, total)

    def embedding(self, done: int, total: int) -> None:
        self._check()
        self._listener.embedding(done, total)

    def waiting(self) -> None:
        self._listener.waiting()

    def uploading(self, upload: Upload) -> bool:
        return self._listener.uploading(upload)

    def fetching(self, have: int, total: int | None) -> None:
        self._listener.fetching(have, total)

    def _check(self) -> None:
        if self._stop.is_set():
            raise WorkCancelled
