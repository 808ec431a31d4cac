"""The process in which one contender answers, alone: `run_worker` is its whole life.

It reads where it works, then requests, from standard input, and answers each on what
was standard output: libraries that print are sent to standard error. When its input
ends, so does it, with all that its engine has started.
"""

import os
import queue
import signal
import sys
import threading
import time
from contextlib import ExitStack
from datetime import datetime
from datetime import time as time_of_day
from types import FrameType
from typing import BinaryIO, Final, Literal, NoReturn, Self

import msgspec

from notewell.backends.base import Listener, Upload
from notewell.bench.contenders import Workplace, open_workplace
from notewell.bench.messages import (
    ErrorReply,
    FinishReply,
    FinishRequest,
    IndexReply,
    IndexRequest,
    ProgressEvent,
    SearchReply,
    SearchRequest,
    UploadEvent,
    WorkerMessage,
    WorkerRequest,
    decode_request,
    encode_message,
)
from notewell.errors import NotewellError
from notewell.memory.sync import SyncMemory

_SECONDS_BETWEEN: Final = 0.1
"""Between two words on how far a run is."""


def run_worker() -> None:
    """Serve until the input ends, or somebody says to finish."""
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who started us
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    workplace = msgspec.json.decode(sys.stdin.buffer.readline(), type=Workplace)
    requests: queue.SimpleQueue[WorkerRequest] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    worker = Worker(workplace, out)
    with worker:
        while not isinstance(request := requests.get(), FinishRequest):
            worker.serve(request)
    worker.send(FinishReply(peak_memory=peak_memory()))


def _listen(requests: "queue.SimpleQueue[WorkerRequest]") -> None:
    """Pass on what is asked; end the process when nobody can ask any more."""
    for line in sys.stdin.buffer:
        request = decode_request(line)
        requests.put(request)
        if isinstance(request, FinishRequest):
            return
    os.kill(os.getpid(), signal.SIGTERM)


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(143)


class Worker(Listener):
    """A contender's memory, opened at its first request. It passes on what it hears."""

    def __init__(self, workplace: Workplace, out: BinaryIO) -> None:
        self._workplace = workplace
        self._out = out
        self._held = ExitStack()
        self._memory: SyncMemory | None = None
        self._last_event = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._held.close()

    def send(self, message: WorkerMessage) -> None:
        """Tell who started us."""
        line = encode_message(message) + b"\n"
        while line:
            line = line[self._out.write(line) :]

    def serve(self, request: WorkerRequest) -> None:
        """Do what is asked, and say how it went."""
        try:
            memory = self._opened()
            if isinstance(request, SearchRequest):
                self._search(memory, request)
            elif isinstance(request, IndexRequest):
                self._index(memory)
        except NotewellError as error:
            self.send(ErrorReply(message=error.message, remedy=error.remedy))

    def indexing(self, done: int, total: int) -> None:
        """So many of the notes are indexed."""
        self._progress("notes", done, total)

    def embedding(self, done: int, total: int) -> None:
        """So many of the passages have a vector."""
        self._progress("vectors", done, total)

    def fetching(self, have: int, total: int | None) -> None:
        """So many bytes of a model are here."""
        self._progress("model", have, total)

    def uploading(self, upload: Upload) -> bool:
        """Text of the notes is about to be sent, as the contenders were named to do."""
        self.send(UploadEvent(upload=upload))
        return True

    def _opened(self) -> SyncMemory:
        if self._memory is None:
            self._memory = self._held.enter_context(
                open_workplace(self._workplace, os.environ)
            )
        return self._memory

    def _search(self, memory: SyncMemory, request: SearchRequest) -> None:
        today = request.today
        noon = (
            None
            if today is None
            else datetime.combine(today, time_of_day(12)).astimezone()
        )
        began = time.perf_counter()
        answer = memory.search(
            request.query,
            max_results=self._workplace.limit,
            sources={"memory"},
            now=noon,
        )
        took = (time.perf_counter() - began) * 1000
        self.send(SearchReply(answer=answer, ms=took))

    def _index(self, memory: SyncMemory) -> None:
        fresh = memory.status().index.indexed_at is None
        began = time.perf_counter()
        report = memory.refresh(listener=self)
        took = (time.perf_counter() - began) * 1000
        index = memory.status().index
        program = index.details.get("program", "")
        self.send(
            IndexReply(
                report=report,
                ms=took,
                fresh=fresh,
                version=program.rpartition("version ")[2] or None,
                apart=index.vectors[-1].apart if index.vectors else {},
            )
        )

    def _progress(
        self, what: Literal["notes", "vectors", "model"], done: int, total: int | None
    ) -> None:
        """Say how far a run is, now and then, and when it is done."""
        now = time.monotonic()
        if done == total or now - self._last_event > _SECONDS_BETWEEN:
            self._last_event = now
            self.send(ProgressEvent(what=what, done=done, total=total))


def peak_memory() -> int:
    """Return the most resident memory of this process and of its largest child, in bytes.

    Only children that have ended and were waited for count.
    """
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit
    return _own_peak(unit) + children


def _own_peak(unit: int) -> int:
    """Return our own peak.

    Linux counts in `ru_maxrss` what the process was before it became this program,
    which is as large as who started it; `VmHWM` begins anew.
    """
    import resource

    try:
        with open("/proc/self/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
