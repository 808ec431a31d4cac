"""A search that nobody waits for any more reads no further."""

import asyncio
import sys
import threading
from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

from notewell.backends.base import Query
from notewell.backends.builtin.engine import BuiltinBackend
from notewell.backends.builtin.readers import ReaderPool
from notewell.backends.loops import WorkCancelled

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook

NOTES = {f"memory/{number}.md": "a heron at the pool\n" for number in range(20)}
ENDLESS = (
    "with recursive n(i) as (select 1 union all select i + 1 from n) "
    "select count(*) from n"
)
opened: list[str] = []
sys.addaudithook(
    lambda event, given: opened.append(str(given[0])) if event == "open" else None
)


@pytest.fixture
def stop() -> Generator[threading.Event]:
    """A word that work is to end, which comes in a moment."""
    event = threading.Event()
    timer = threading.Timer(0.05, event.set)
    timer.start()
    yield event
    timer.join()


def readers_of(notebook: "Notebook") -> ReaderPool:
    """Connections as the engine lends them, for statements of our own."""
    return ReaderPool(notebook.index, str(notebook.root))


def test_a_statement_is_broken_off_and_the_next_search_answers(
    notebook: "Notebook", stop: threading.Event
) -> None:
    notebook.write(NOTES)
    notebook.refresh()
    readers = readers_of(notebook)

    with pytest.raises(WorkCancelled), readers.one(stop) as store:
        store.rows(ENDLESS)

    assert notebook.ask("heron").mode == "keyword"


def test_a_connection_that_is_lent_again_heeds_nobody_before(
    notebook: "Notebook", stop: threading.Event
) -> None:
    notebook.write(NOTES)
    notebook.refresh()
    readers = readers_of(notebook)

    with readers.one(stop) as store:
        first = store
    stop.wait()

    with readers.one() as store:
        assert store is first
        assert store.one(f"{ENDLESS.replace('from n)', 'from n where i < 100000)')}")


async def test_no_note_is_read_once_the_task_is_cancelled(notebook: "Notebook") -> None:
    notebook.write(NOTES)  # and no index, so that the notes are read
    backend = BuiltinBackend(notebook.engine)
    loop, begun = asyncio.get_running_loop(), asyncio.Event()
    go_on = threading.Event()

    def hides(_path: str) -> bool:
        loop.call_soon_threadsafe(begun.set)
        go_on.wait(60)
        return False

    task = asyncio.create_task(
        backend.search(Query(text="heron", limit=6, hides=hides))
    )
    await begun.wait()
    task.cancel()
    loop.call_later(0.05, go_on.set)  # once the cancellation has been heard of
    opened.clear()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert not [path for path in opened if path.endswith(".md")]
