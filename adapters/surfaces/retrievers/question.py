"""What both retrievers do: ask an open memory, and say what is known of each passage.

Nothing is silent: every passage carries how the answer came about, a weaker answer is a
Python warning, and one that cannot be given is an error, never an empty list.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, TypeAlias
from weakref import WeakKeyDictionary

from notewell.adapters.surfaces.sentences import empty_answer, fallback_sentence
from notewell.errors import BackendUnavailable, UsageError
from notewell.filters import Filter, read_filter
from notewell.memory import Memory, SyncMemory
from notewell.types import Hit, SearchAnswer

AnyMemory: TypeAlias = Memory | SyncMemory
FilterLike: TypeAlias = Filter | Mapping[str, object]
AnswerListener: TypeAlias = Callable[[SearchAnswer], None]

_EXPECTED: Final = frozenset({None, "no-match", "empty-query"})
"""Why an answer may be empty without anything being amiss."""

_turns: "WeakKeyDictionary[SyncMemory, Lock]" = WeakKeyDictionary()
_turns_lock: Final = Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, and of whom.

    Attributes:
        memory: An open memory.
        query: The question.
        max_results: The most passages; the configured number by default.
        min_score: Leave out passages below, instead of the configured threshold.
        filter: Which passages are wanted; also as `read_filter` takes it.
        on_answer: Given the whole answer, also an empty one.
    """

    memory: AnyMemory
    query: str
    max_results: int | None = None
    min_score: float | None = None
    filter: FilterLike | None = None
    on_answer: AnswerListener | None = None

    def ask(self) -> SearchAnswer:
        """Answer it here and now. Threads with one memory take turns.

        Raises:
            BackendUnavailable: the memory cannot be searched.
            UsageError: the memory wants an event loop, or the filter makes no sense.
        """
        memory = self.memory
        if isinstance(memory, Memory):
            raise UsageError(
                "this memory was opened by open_memory, for an event loop",
                remedy="await the retriever, or give it one of open_memory_sync",
            )
        with _turn_of(memory):
            answer = memory.search(
                self.query,
                max_results=self.max_results,
                min_score=self.min_score,
                filter=self._filter,
            )
        return self._checked(answer)

    async def ask_async(self) -> SearchAnswer:
        """Answer it without blocking the event loop.

        Raises:
            BackendUnavailable: the memory cannot be searched.
            UsageError: the filter makes no sense.
        """
        memory = self.memory
        if isinstance(memory, SyncMemory):
            import asyncio

            return await asyncio.to_thread(self.ask)
        answer = await memory.search(
            self.query,
            max_results=self.max_results,
            min_score=self.min_score,
            filter=self._filter,
        )
        return self._checked(answer)

    @property
    def _filter(self) -> Filter | None:
        given = self.filter
        return read_filter(given) if isinstance(given, Mapping) else given

    def _checked(self, answer: SearchAnswer) -> SearchAnswer:
        """Return an answer that is one; warn of one that is weaker than was asked for.

        Raises:
            BackendUnavailable: there is none.
        """
        if self.on_answer is not None:
            self.on_answer(answer)
        if answer.reason == "unavailable":
            raise BackendUnavailable(
                answer.backend,
                "; ".join(answer.warnings) or "no answer",
                remedy="`notewell doctor` says what is wrong",
            )
        if answer.degraded or answer.reason not in _EXPECTED:
            warnings.warn(f"notewell: {_amiss(answer)}", stacklevel=3)
        return answer


def _turn_of(memory: SyncMemory) -> Lock:
    with _turns_lock:
        return _turns.setdefault(memory, Lock())


def _amiss(answer: SearchAnswer) -> str:
    """Say why an answer is weaker than was asked for, or empty."""
    if answer.reason not in _EXPECTED:
        return " ".join(empty_answer(answer))
    said = [*map(fallback_sentence, answer.fallbacks), *answer.warnings]
    return "; ".join(said) or "weaker than the configuration asks for"


def metadata_of(hit: Hit, answer: SearchAnswer) -> dict[str, Any]:
    """Return what is known of a passage, and of the answer in which it stands.

    The fields have the names and the meanings of `Hit` and `SearchAnswer`; all values are
    such as JSON has.
    """
    return {
        "citation": hit.citation,
        "path": hit.path,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "match_line": hit.match_line,
        "snippet_line": hit.snippet_line,
        "score": hit.score,
        "vector_score": hit.vector_score,
        "text_score": hit.text_score,
        "source": hit.source,
        "heading": hit.heading,
        "date": hit.date.isoformat() if hit.date else None,
        "also_in": list(hit.also_in),
        "backend": hit.engine or answer.backend,
        "mode": answer.mode,
        "provider": answer.provider,
        "model": answer.model,
        "degraded": answer.degraded,
        "fallbacks": [fallback_sentence(step) for step in answer.fallbacks],
        "local_to_remote": answer.local_to_remote,
        "stale": answer.freshness.stale,
        "warnings": list(answer.warnings),
    }
