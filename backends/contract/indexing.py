"""What an engine promises of its index."""

import asyncio
from pathlib import Path

from notewell.backends.base import HasCatalogue, Listener, Run
from notewell.backends.contract.case import NOTES, QUERIES, Case, Contract
from notewell.errors import BackendError
from notewell.workspace.names import NamedNote


class _ProgressLog(Listener):
    def __init__(self) -> None:
        self.files: list[tuple[int, int]] = []

    def indexing(self, done: int, total: int) -> None:
        self.files.append((done, total))


LINKED_NOTES = {
    "MEMORY.md": "Alone.\n",
    "memory/Pump.md": "---\ntitle: The Pump\naliases: [PU-7]\n---\nSee `[[Valve]]`.\n",
    "memory/a.md": "[[pump#Parts|it]] and [valve](net/valve.md)\n",
    "memory/net/valve.md": "The [pump] leaks.\n\n[pump]: ../Pump.md\n",
}
"""Notes with names and links."""


class IndexingContract(Contract):
    """Building, refreshing, counting, closing."""

    async def test_an_index_is_built_by_refresh_and_only_by_refresh(
        self, tmp_path: Path
    ) -> None:
        """Opening and searching build nothing."""
        async with self.opened(tmp_path) as case:
            await case.ask("gateway")

            assert not await case.backend.built()
            await case.backend.refresh()
            assert await case.backend.built()

    async def test_a_question_before_the_first_refresh_is_answered_or_says_why_not(
        self, tmp_path: Path
    ) -> None:
        """There is no error for an index that is not there yet."""
        async with self.opened(tmp_path) as case:
            found = await case.ask("Bertrand")

            assert found.hits or found.reason is not None

    async def test_refresh_says_what_it_indexed(self, tmp_path: Path) -> None:
        """Every note is counted, and nothing is left to do."""
        async with self.opened(tmp_path) as case:
            report = await case.backend.refresh()

            assert report.files == len(NOTES)
            assert report.chunks >= len(NOTES) - 1
            assert report.changed == len(NOTES)
            assert report.pending == 0

    async def test_a_folder_without_notes_says_that_nothing_is_indexed(
        self, tmp_path: Path
    ) -> None:
        """Law 3."""
        async with self.opened(tmp_path, {}) as case:
            await case.backend.refresh()

            found = await case.ask("gateway")

            assert (list(found.hits), found.reason) == ([], "nothing-indexed")

    async def test_refresh_changes_no_note(self, tmp_path: Path) -> None:
        """Neither does building everything anew."""
        async with self.opened(tmp_path) as case:
            before = case.state_of_notes()

            await case.backend.refresh()
            await case.backend.refresh(Run(force=True))

            assert case.state_of_notes() == before

    async def test_refresh_twice_is_refresh_once(self, tmp_path: Path) -> None:
        """Idempotent: counts and answers stay."""
        async with self.opened(tmp_path) as case:
            once = await case.backend.refresh()
            answers = [list((await case.ask(query)).hits) for query in QUERIES]

            twice = await case.backend.refresh()

            assert (twice.files, twice.chunks) == (once.files, once.chunks)
            assert twice.pending == 0
            assert [list((await case.ask(query)).hits) for query in QUERIES] == answers

    async def test_new_changed_renamed_and_removed_notes_are_seen_after_refresh(
        self, tmp_path: Path
    ) -> None:
        """And nothing of what they were before is left."""
        async with self.opened(tmp_path) as case:
            await case.backend.refresh()
            case.write({"memory/new.md": "kumquat\n", "MEMORY.md": "only papaya\n"})
            (case.root / "memory/empty.md").rename(case.root / "memory/void.md")
            (case.root / "memory/2026-01-10.md").rename(case.root / "memory/moved.md")
            (case.root / "memory/one-line.md").unlink()

            report = await case.backend.refresh()

            assert report.files == len(NOTES)
            assert await case.paths("kumquat") == ["memory/new.md"]
            assert await case.paths("papaya") == ["MEMORY.md"]
            assert await case.paths("Ubuntu") == ["memory/moved.md"]
            assert await case.paths("Bertrand") == []
            assert await case.paths("narwhal") == []

    async def test_a_change_of_the_same_size_is_seen(self, tmp_path: Path) -> None:
        """Also right after the note was indexed, within one tick of the file system."""
        async with self.opened(tmp_path, {"memory/a.md": "mango"}) as case:
            for fruit in ("grape", "peach", "lemon"):
                await case.backend.refresh()
                case.write({"memory/a.md": fruit})
                await case.backend.refresh()

                assert await case.paths(fruit) == ["memory/a.md"]

    async def test_status_counts_what_is_pending(self, tmp_path: Path) -> None:
        """Counted when it is asked for, not remembered."""
        async with self.opened(tmp_path) as case:
            assert (await case.backend.status()).pending == len(NOTES)
            await case.backend.refresh()
            assert (await case.backend.status()).pending == 0
            case.write({"memory/new.md": "kumquat", "MEMORY.md": "papaya"})
            (case.root / "memory/empty.md").unlink()

            status = await case.backend.status()

            assert status.files == len(NOTES)
            assert status.pending == 3
            assert status.indexed_at is not None
            assert status.last_error is None

    async def test_progress_counts_up_to_the_number_of_notes(
        self, tmp_path: Path
    ) -> None:
        """Done never falls, and ends at all."""
        heard = _ProgressLog()
        async with self.opened(tmp_path) as case:
            await case.backend.refresh(Run(listener=heard))

        assert heard.files == sorted(heard.files)
        assert heard.files[-1] == (len(NOTES), len(NOTES))

    async def test_a_run_out_of_time_says_what_is_left_and_the_next_one_ends_it(
        self, tmp_path: Path
    ) -> None:
        """Nothing that was done is lost, and no answer fails meanwhile."""
        notes = {
            f"memory/{n}.md": f"note number{n} " + "text " * 500 for n in range(60)
        }
        async with self.opened(tmp_path, notes) as case:
            cut = await case.backend.refresh(Run(within=0.0))
            meanwhile = await case.ask("number7")

            rest = await case.backend.refresh()

            assert cut.pending > 0 or cut.files == len(notes)
            assert meanwhile.hits or meanwhile.reason is not None
            assert (rest.files, rest.pending) == (len(notes), 0)
            assert await case.paths("number59") == ["memory/59.md"]

    async def test_searches_go_on_while_everything_is_built_anew(
        self, tmp_path: Path
    ) -> None:
        """Not one is empty, fails or is degraded."""
        async with self.opened(tmp_path) as case:
            await case.backend.refresh()
            building = asyncio.create_task(case.backend.refresh(Run(force=True)))

            answers = [await case.ask("Bertrand")]
            while not building.done():
                await asyncio.sleep(0)  # an engine that never waits gives way, too
                answers.append(await case.ask("Bertrand"))
            await building

            assert {hit.path for found in answers for hit in found.hits} == {
                "MEMORY.md"
            }
            assert all(found.hits and not found.degraded for found in answers)

    async def test_closing_twice_is_harmless(self, tmp_path: Path) -> None:
        """With and without an index."""
        async with self.opened(tmp_path) as case:
            await case.backend.close()
            await case.backend.close()
        async with self.opened(tmp_path) as case:
            await case.backend.refresh()
            await case.backend.close()
            await case.backend.close()

    async def test_an_index_that_knows_names_and_links_knows_those_of_the_notes(
        self, tmp_path: Path
    ) -> None:
        """`HasCatalogue` is an ability that an engine may have."""
        async with self.opened(tmp_path, LINKED_NOTES) as case:
            if not isinstance(case.backend, HasCatalogue):
                return
            await case.backend.refresh()
            with case.backend.catalogue(case.site) as known:
                pump = [NamedNote("memory/Pump.md")]

                assert list(known.called("pump")) == pump
                assert list(known.called("the pump")) == [
                    NamedNote("memory/Pump.md", "The Pump")
                ]
                assert {name.path for name in known.every()} == {*LINKED_NOTES}
                assert known.linking(["pump"]) == {"memory/a.md", "memory/net/valve.md"}
                assert known.linking(["valve", "nothing"]) == {"memory/a.md"}
                assert {*known.signatures()} <= {*LINKED_NOTES}

    async def test_names_and_links_follow_a_note_that_changes_or_goes(
        self, tmp_path: Path
    ) -> None:
        """What an index says of names and links is no older than its passages."""
        async with self.opened(tmp_path, LINKED_NOTES) as case:
            if not isinstance(case.backend, HasCatalogue):
                return
            await case.backend.refresh()
            case.write({"memory/a.md": "[[Alone]]\n"})
            (case.root / "memory" / "Pump.md").unlink()
            await case.backend.refresh()
            with case.backend.catalogue(case.site) as known:
                assert not known.called("pump")
                assert not known.called("pu-7")
                assert known.linking(["pump"]) == {"memory/net/valve.md"}
                assert known.linking(["alone"]) == {"memory/a.md"}

    async def test_an_index_that_was_never_built_knows_no_names(
        self, tmp_path: Path
    ) -> None:
        """To ask for them builds nothing."""
        async with self.opened(tmp_path, LINKED_NOTES) as case:
            if isinstance(case.backend, HasCatalogue):
                assert _is_refused(case)
                assert not await case.backend.built()


def _is_refused(case: Case) -> bool:
    assert isinstance(case.backend, HasCatalogue)
    try:
        with case.backend.catalogue(case.site):
            return False
    except BackendError:
        return True
