"""An event loop in a thread, for plain calls of backends that need one."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

_T = TypeVar("_T")


class LoopThread:
    """Runs coroutines for other threads; between them, what they have left to run."""

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._stay()), name="notewell-loop", daemon=True
        )
        self._thread.start()
        self._ready.wait()

    def run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine to its end; an interrupt of ours cancels it, and waits."""
        begun: list[asyncio.Task[_T]] = []
        ended: Future[asyncio.Task[_T]] = Future()

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
        self._loop = asyncio.get_running_loop()
        self._closed = asyncio.Event()
        self._ready.set()
        await self._closed.wait()
