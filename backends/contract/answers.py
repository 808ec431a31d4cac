"""What an engine promises of its answers."""

import asyncio
from datetime import date
from pathlib import Path

from notewell.backends.base import Query, age_of
from notewell.backends.contract.case import QUERIES, Contract
from notewell.dates import DateRange
from notewell.filters import Filter


class AnswersContract(Contract):
    """The five laws, and the order and number of hits."""

    async def test_a_citation_leads_back_to_the_lines_that_were_shown(
        self, tmp_path: Path
    ) -> None:
        """Law 1: what `get` returns for a hit contains its snippet and its best line."""
        async with self.opened(tmp_path) as case:
            await case.backend.refresh()

            for query in QUERIES:
                for hit in (await case.ask(query)).hits:
                    case.check_round_trip(hit)

    async def test_a_word_of_a_note_is_found(self, tmp_path: Path) -> None:
        """Law 2, for words of several scripts and at the end of an endless line."""
        async with self.opened(tmp_path) as case:
            await case.backend.refresh()

            assert await case.paths("Bertrand") == ["MEMORY.md"]
            assert await case.paths("narwhal") == ["memory/one-line.md"]
            assert await case.paths("旅館") == ["memory/京都旅行.md"]
            assert await case.paths("끝말잇기") == ["memory/京都旅行.md"]

    async def test_a_word_is_found_among_many_notes_and_above_every_threshold(
        self, tmp_path: Path
    ) -> None:
        """Law 2: neither the number of other notes nor `min_score` hides a word."""
        others = {f"memory/{n}.md": "ports and porters, porting" for n in range(120)}
        word = {
            "memory/long.md": "filler text. " * 100 + "\nthe port\n" + "more " * 400
        }
        async with self.opened(tmp_path, {**others, **word}) as case:
            await case.backend.refresh()

            found = await case.ask("port", limit=1, min_score=1.0)

            assert [hit.path for hit in found.hits] == ["memory/long.md"]

    async def test_an_empty_answer_says_why(self, tmp_path: Path) -> None:
        """Law 3."""
        async with self.opened(tmp_path) as case:
            await case.backend.refresh()

            assert (await case.ask("xylophone")).reason == "no-match"
            assert (await case.ask("")).reason == "empty-query"
            assert (await case.ask(" \t\n")).reason == "empty-query"

    async def test_a_search_changes_no_note_and_no_index(self, tmp_path: Path) -> None:
        """Law 4: nothing is written, repaired or synced on the way to an answer."""
        async with self.opened(tmp_path) as case:
            await case.backend.refresh()
            case.write({"memory/new.md": "The word is kumquat.\n"})
            notes, status = case.state_of_notes(), await case.backend.status()

            for query in (*QUERIES, "kumquat"):
                await case.ask(query)

            assert case.state_of_notes() == notes
            after = await case.backend.status()
            assert (after.files, after.chunks) == (status.files, status.chunks)
            assert after.pending == status.pending == 1

    async def test_the_same_question_gets_the_same_answer(self, tmp_path: Path) -> None:
        """Law 5: also from another object on the same index."""
        async with self.opened(tmp_path) as case:
            await case.backend.refresh()
            first = [list((await case.ask(query)).hits) for query in QUERIES]
            other = await self.engine.open(case.site)

            again = [list((await case.ask(query)).hits) for query in QUERIES]
            theirs = [
                list((await other.search(Query(text=query, limit=6))).hits)
                for query in QUERIES
            ]
            await other.close()

            assert again == first
            assert theirs == first

    async def test_searches_at_once_get_the_answers_of_searches_in_turn(
        self, tmp_path: Path
    ) -> None:
        """The object is safe to share between tasks."""
        async with self.opened(tmp_path) as case:
            await case.backend.refresh()
            in_turn = [list((await case.ask(query)).hits) for query in QUERIES]

            at_once = await asyncio.gather(*(case.ask(q) for q in QUERIES * 5))

            assert [list(found.hits) for found in at_once] == in_turn * 5

    async def test_no_more_hits_than_asked_for(self, tmp_path: Path) -> None:
        """And fewer hits are the first of more."""
        notes = {f"memory/{n:02}.md": f"otter {n} swims " * (n + 1) for n in range(30)}
        async with self.opened(tmp_path, notes) as case:
            await case.backend.refresh()

            counts = {
                limit: len((await case.ask("otter", limit=limit)).hits)
                for limit in (1, 5, 30, 1000)
            }

            assert counts == {1: 1, 5: 5, 30: 30, 1000: 30}

    async def test_hits_are_sorted_by_score_then_path_then_line(
        self, tmp_path: Path
    ) -> None:
        """Scores lie in [0, 1]."""
        same = {f"memory/{name}.md": f"otter {name * 4}\n" for name in "dbca"}
        better = {"memory/z.md": "otter otter otter\n"}
        async with self.opened(tmp_path, {**same, **better}) as case:
            await case.backend.refresh()

            hits = (await case.ask("otter", limit=10)).hits

            order = [
                (-hit.score, age_of(hit.path), hit.path, hit.start_line) for hit in hits
            ]
            assert order == sorted(order)
            assert all(0.0 < hit.score <= 1.0 for hit in hits)
            equal = [hit.path for hit in hits if hit.path != "memory/z.md"]
            assert equal == [f"memory/{name}.md" for name in "abcd"]

    async def test_copies_of_a_passage_are_one_hit_that_names_the_others(
        self, tmp_path: Path
    ) -> None:
        """So that as many places show as many things; white space is no difference."""
        copies = {
            "memory/plan.md": "otter plan A\n",
            "memory/plan (Ann's conflicted copy 2026-01-10).md": "otter plan A\n",
            "memory/sync/plan.sync-conflict-20260110-101500-ABC.md": "otter  plan A \n",
        }
        others = {f"memory/{n}.md": f"otter {n}\n" for n in range(5)}
        async with self.opened(tmp_path, {**copies, **others}) as case:
            await case.backend.refresh()

            hits = (await case.ask("otter plan")).hits

            assert len(hits) == 6
            assert hits[0].path == "memory/plan.md"
            named = {citation.partition("#")[0] for citation in hits[0].also_in}
            assert named == copies.keys() - {"memory/plan.md"}
            assert not any(hit.also_in for hit in hits[1:])

    async def test_a_copy_that_is_gone_or_hidden_is_not_named(
        self, tmp_path: Path
    ) -> None:
        """Nor does it stand for the others."""
        notes = {f"memory/{name}.md": "otter plan A\n" for name in "abcd"}
        async with self.opened(tmp_path, notes) as case:
            await case.backend.refresh()
            found = await case.backend.search(
                Query(text="otter", limit=3, hides=lambda path: "/a" in path)
            )

            [hit] = found.hits
            assert hit.path == "memory/b.md"
            assert hit.also_in == ("memory/c.md#L1", "memory/d.md#L1")

    async def test_no_word_of_a_hidden_note_is_told(self, tmp_path: Path) -> None:
        """Neither as a better spelling nor as a longer word; those in sight are."""
        notes = {
            "memory/closed.md": "the secretzebra, the reservation\n",
            "memory/open.md": "the otter, the reservoir\n",
        }
        async with self.opened(tmp_path, notes) as case:
            await case.backend.refresh()

            for asked in ("secretzebr", "secretzebar", "secre", "retzeb", "reservatio"):
                for wanted in (None, Filter(paths=("closed.md",))):
                    found = await case.backend.search(
                        Query(
                            text=asked,
                            limit=3,
                            hides=lambda path: "closed" in path,
                            filter=wanted,
                        )
                    )
                    told = " ".join(found.warnings)
                    assert "secretzebra" not in told
                    assert "reservation" not in told
                    assert all(hit.path == "memory/open.md" for hit in found.hits)

    async def test_what_the_host_writes_of_notes_comes_after_them(
        self, tmp_path: Path
    ) -> None:
        """And is found where nothing else says it."""
        reports = {
            f"memory/dreaming/light/2026-03-0{n}.md": "otter plan: otter plan, otter "
            f"plan seen again, confidence {n}\n"
            for n in range(1, 9)
        }
        notes = {"MEMORY.md": "Home.\n\nThe otter plan is for Friday.\n", **reports}
        async with self.opened(tmp_path, notes) as case:
            await case.backend.refresh()

            [first, *rest] = (await case.ask("otter plan")).hits
            alone = await case.paths("confidence")

            assert first.path == "MEMORY.md"
            assert rest
            assert set(alone) <= reports.keys()
            assert len(alone) == 6

    async def test_no_line_stands_in_two_hits(self, tmp_path: Path) -> None:
        """Overlapping passages of one note are merged into the best."""
        async with self.opened(tmp_path) as case:
            await case.backend.refresh()

            hits = (await case.ask("salinity", limit=50)).hits

            cited = [
                (hit.path, line)
                for hit in hits
                for line in range(hit.start_line, hit.end_line + 1)
            ]
            assert len(cited) == len(set(cited))

    async def test_notes_of_a_day_that_is_asked_for_come_first_and_none_is_left_out(
        self, tmp_path: Path
    ) -> None:
        """A date lifts; it never hides what another day has."""
        days = [date(2026, month, 10) for month in (1, 3, 5)]
        notes = {f"memory/{day}.md": f"The heron saw {day:%B}.\n" for day in days}
        async with self.opened(tmp_path, notes) as case:
            await case.backend.refresh()

            for day in days:
                found = await case.ask("heron", dates=(DateRange(day, day),))

                assert found.hits[0].path == f"memory/{day}.md"
                assert {hit.path for hit in found.hits} == notes.keys()

    async def test_a_hidden_path_does_not_appear(self, tmp_path: Path) -> None:
        """Not as a hit, and its place is taken by the next one."""
        notes = {f"memory/{n}.md": "otter " * (n + 1) for n in range(9)}
        hidden = frozenset({"memory/8.md", "memory/7.md", "memory/not-there.md"})
        async with self.opened(tmp_path, notes) as case:
            for build in (False, True):
                if build:
                    await case.backend.refresh()
                found = await case.backend.search(
                    Query(text="otter", limit=7, hides=hidden.__contains__)
                )
                paths = {hit.path for hit in found.hits}

                assert hidden.isdisjoint(paths)
                assert len(paths) == 7 or not build

    async def test_what_can_only_be_found_in_hidden_paths_is_not_found(
        self, tmp_path: Path
    ) -> None:
        """The answer says no more than that nothing matched."""
        async with self.opened(tmp_path) as case:
            await case.backend.refresh()

            found = await case.backend.search(
                Query(text="Bertrand", limit=6, hides=lambda path: path == "MEMORY.md")
            )

            assert (list(found.hits), found.reason) == ([], "no-match")

    async def test_a_snippet_is_short_and_holds_the_match(self, tmp_path: Path) -> None:
        """At most 700 characters, from around the word."""
        async with self.opened(tmp_path) as case:
            await case.backend.refresh()

            for word in ("narwhal", "heron", "Bertrand", "旅館"):
                [hit] = (await case.ask(word)).hits

                assert word in hit.snippet
                assert len(hit.snippet) <= 700
