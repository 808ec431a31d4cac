"""One contender on its way through the benchmark: its worker, and what it has shown."""

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from notewell.bench.contenders import Entrant, Workplace
from notewell.bench.handle import Handle, WorkerLost, python_program
from notewell.bench.messages import (
    ErrorReply,
    IndexReply,
    IndexRequest,
    SearchReply,
    SearchRequest,
    WorkerEvent,
    WorkerReply,
    WorkerRequest,
    encode_message,
)
from notewell.bench.queries import JudgedQuery
from notewell.types import SearchAnswer

_SEARCH_SECONDS: Final = 120.0
"""A search that takes longer counts as failed, and its process is ended."""

_STARTS: Final = 4
"""A worker that ends on its own is started again, so many times in all."""


@dataclass(slots=True)
class Attempt:
    """What one contender made of one query.

    Attributes:
        answer: Its first answer; None if it had none.
        failure: The type of the first failure, if there was no answer.
        error: The same, one sentence.
        times: Milliseconds of each warm search that was answered.
    """

    answer: SearchAnswer | None = None
    failure: str | None = None
    error: str | None = None
    times: list[float] = field(default_factory=list[float])


class Lane:
    """One contender.

    Attributes:
        entrant: Who it is.
        workplace: Where it works.
        attempts: By the id of the query.
        warm: Milliseconds of every warm search, in the order in which they were made.
        cold: Milliseconds of whole processes.
        index: How its index was made; None before.
        update_ms: Bringing it up to date after one change.
        peak_memory: In bytes.
        unavailable: Why it takes no part (any more), or None.
    """

    def __init__(
        self, entrant: Entrant, workplace: Workplace, environ: Mapping[str, str]
    ) -> None:
        self.entrant = entrant
        self.workplace = workplace
        self.attempts: dict[str, Attempt] = {}
        self.warm: list[float] = []
        self.cold: list[float] = []
        self.index: IndexReply | None = None
        self.update_ms: float | None = None
        self.peak_memory: int | None = None
        self.unavailable = entrant.unavailable
        self._environ = environ
        self._handle: Handle | None = None
        self._starts = 0

    @property
    def runs(self) -> bool:
        """Whether it takes part."""
        return self.unavailable is None

    def make_index(self, on_event: Callable[[WorkerEvent], None]) -> None:
        """Make its index, or find that it cannot take part."""
        reply = self._ask_worker(IndexRequest(), on_event=on_event)
        if isinstance(reply, IndexReply):
            self.index = reply
        else:
            _, self.unavailable = _failure(reply)

    def ask(self, query: JudgedQuery) -> None:
        """Put a query, and keep the answer and its time."""
        attempt = self.attempts.setdefault(query.id, Attempt())
        request = SearchRequest(query=query.text, today=query.today)
        reply = self._ask_worker(request, within=_SEARCH_SECONDS)
        if isinstance(reply, SearchReply) and reply.answer.reason != "unavailable":
            attempt.answer = attempt.answer or reply.answer
            attempt.times.append(reply.ms)
            self.warm.append(reply.ms)
        elif attempt.answer is None:
            attempt.failure, attempt.error = _failure(reply)

    def warm_up(self, text: str) -> None:
        """Put a query whose answer does not count."""
        self._ask_worker(SearchRequest(query=text), within=_SEARCH_SECONDS)

    def update(self, on_event: Callable[[WorkerEvent], None]) -> None:
        """Bring the index up to date, and keep the time."""
        reply = self._ask_worker(IndexRequest(), on_event=on_event)
        if isinstance(reply, IndexReply):
            self.update_ms = reply.ms

    def start_anew(self, code: str, text: str) -> None:
        """Put a query to a process that begins and ends with it, and keep the time."""
        began = time.perf_counter()
        with suppress(subprocess.TimeoutExpired, OSError):
            done = subprocess.run(
                python_program(code, text),
                input=encode_message(self.workplace),
                capture_output=True,
                env=dict(self._environ),
                timeout=_SEARCH_SECONDS,
                check=False,
            )
            if done.returncode == 0:
                self.cold.append((time.perf_counter() - began) * 1000)

    def finish(self) -> None:
        """Let the worker end well, and keep what it says of its memory."""
        if self._handle is not None:
            self.peak_memory = self._handle.finish()
            self._handle = None

    def end(self) -> None:
        """End the worker at once. Harmless twice."""
        if self._handle is not None:
            self._handle.end()
            self._handle = None

    @property
    def disk_bytes(self) -> int:
        """What it keeps on disk."""
        return sum(
            os.lstat(os.path.join(folder, name)).st_size
            for folder, _, names in os.walk(self.workplace.state)
            for name in names
            if name != "worker.log"
        )

    def _ask_worker(
        self,
        request: WorkerRequest,
        *,
        within: float | None = None,
        on_event: Callable[[WorkerEvent], None] | None = None,
    ) -> WorkerReply | WorkerLost:
        """Ask the worker, and start it if it does not run."""
        try:
            if self._handle is None:
                self._handle = self._start_worker()
            return self._handle.ask(request, within=within, on_event=on_event)
        except WorkerLost as lost:
            self.end()
            return lost

    def _start_worker(self) -> Handle:
        """Start a worker.

        Raises:
            WorkerLost: it cannot be started, or was so too often.
        """
        if self._starts == _STARTS:
            raise WorkerLost("crash", "its process ended too often")
        self._starts += 1
        try:
            return Handle(self.workplace, self._environ)
        except OSError as exc:
            why = f"its process cannot be started: {exc.strerror or exc}"
            raise WorkerLost("crash", why) from exc


def _failure(reply: WorkerReply | WorkerLost) -> tuple[str, str]:
    """Return the type of a failure, and a sentence."""
    if isinstance(reply, WorkerLost):
        return reply.kind, str(reply)
    if isinstance(reply, SearchReply):
        return "unavailable", next(iter(reply.answer.warnings[-2:]), "no answer")
    if isinstance(reply, ErrorReply):
        return "error", f"{reply.message}; {reply.remedy}"
    return "error", "its process said something that was not asked"


def contender_folder(folder: Path, label: str) -> Path:
    """Return the state folder of a contender in the folder of a benchmark."""
    from hashlib import blake2b

    mark = blake2b(label.encode(), digest_size=4).hexdigest()
    plain = "".join(sign if sign.isalnum() else "-" for sign in label[:40])
    return folder / f"{plain}.{mark}"
