"""An event loop in a thread, for plain calls of backends that need one."""

import asyncio
import threading
from collections.abc import Coroutine
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
        """Run a coroutine to its end; an interrupt of ours cancels it."""
        running = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return running.result()
        except BaseException:
            running.cancel()
            raise

    def close(self) -> None:
        """Cancel what runs, and end the thread."""
        self._loop.call_soon_threadsafe(self._closed.set)
        self._thread.join()

    async def _stay(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._closed = asyncio.Event()
        self._ready.set()
        await self._closed.wait()
