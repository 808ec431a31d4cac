"""What an engine promises of filters."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import ClassVar, Final

from notewell.backends.base import Findings, Query
from notewell.backends.contract.case import Case, Contract
from notewell.filters import Filter
from notewell.types import Hit

_COLOURS: Final = ("red", "green", "blue")
_STATES: Final = ("open", "done")


def _text(number: int) -> str:
    """A note of one passage; how often the word stands in it gives it its place."""
    colour, state = _COLOURS[number % 3], _STATES[number % 2]
    dated = f"date: 2026-05-{number + 1:02}\n" if number % 4 == 3 else ""
    top = f"---\nstatus: {state}\nrank: {number % 5}.0\n{dated}tags: [{colour}]\n---\n"
    said = " ".join(["The otter swims."] * (number % 7 + 1))
    return f"{top}{said} The lamp is **{colour}** #group/g{number % 4}\n"


NOTES: Final[Mapping[str, str]] = {
    (
        f"memory/2026-03-{number + 1:02}.md"
        if number % 4 == 0
        else f"memory/{('pond', 'Lake')[number % 2]}/n{number:02}.md"
    ): _text(number)
    for number in range(24)
}
"""Notes that each hold `otter`."""

_MARCH: Final = Filter(since=date(2026, 3, 1), until=date(2026, 3, 31))
PARTS: Final[Sequence[Filter]] = (
    Filter(paths=("lake",)),
    Filter(paths=("memory/*.md", "n0?.md")),
    Filter(exclude=("memory/pond/**",)),
    _MARCH,
    Filter(since=date(2026, 3, 9), until=date(2026, 5, 12)),
    Filter(tags=("#RED",)),
    Filter(tags=("group",)),
    Filter(tags=("group/g1",)),
    Filter(where=(("Status", "DONE"),)),
    Filter(where=(("rank", "3"),)),
    Filter(where=(("date", "2026-05"),)),
    Filter(phrases=("lamp is blue",)),
    Filter(without=("is green",)),
)
"""A filter of each kind."""


def _joined(one: Filter, other: Filter) -> Filter:
    return Filter(
        paths=one.paths or other.paths,
        exclude=(*one.exclude, *other.exclude),
        since=one.since or other.since,
        until=one.until or other.until,
        tags=(*one.tags, *other.tags),
        where=(*one.where, *other.where),
        phrases=(*one.phrases, *other.phrases),
        without=(*one.without, *other.without),
    )


def _numbers(paths: Iterable[str]) -> set[int]:
    return {list(NOTES).index(path) for path in paths}


class FiltersContract(Contract):
    """Filters narrow the question, and not its answer.

    Attributes:
        one_pair_in: How many pairs of filters there are for each that is asked for. An engine
            that starts a program for a question may ask for fewer than all.
    """

    one_pair_in: ClassVar[int] = 1

    async def _filtered(
        self, case: Case, chosen: Filter, text: str = "otter", limit: int = 1000
    ) -> Findings:
        found = await case.backend.search(Query(text=text, limit=limit, filter=chosen))
        assert len(found.hits) <= limit
        assert bool(found.hits) == (found.reason is None)
        return found

    async def test_a_filtered_answer_is_the_filtered_unbounded_answer(
        self, tmp_path: Path
    ) -> None:
        """Each kind of filter, and each two of them; at every limit the first ones."""
        async with self.opened(tmp_path, NOTES) as case:
            await case.backend.refresh()
            order = [hit.path for hit in (await case.ask("otter", limit=1000)).hits]
            alone = [
                {hit.path for hit in (await self._filtered(case, part)).hits}
                for part in PARTS
            ]

            assert sorted(order) == sorted(NOTES)
            pairs = list(combinations(enumerate(PARTS), 2))
            for (at, one), (to, other) in pairs[:: self.one_pair_in]:
                if (one.paths and other.paths) or (one.since and other.since):
                    continue
                found = await self._filtered(case, _joined(one, other), limit=3)

                both = [each for each in order if each in alone[at] & alone[to]]
                assert [hit.path for hit in found.hits] == both[:3]

    async def test_each_kind_of_filter_lets_its_own_notes_pass(
        self, tmp_path: Path
    ) -> None:
        """Globs, days, tags, front matter and phrases, all without regard to case."""
        wanted = (
            {n for n in range(24) if n % 4 in (1, 3)},
            {n for n in range(24) if n % 4 == 0 or n < 10},
            {n for n in range(24) if n % 4 != 2},
            {n for n in range(24) if n % 4 == 0},
            {
                n
                for n in range(24)
                if (n % 4 == 0 and n >= 8) or (n % 4 == 3 and n < 12)
            },
            {n for n in range(24) if n % 3 == 0},
            set(range(24)),
            {n for n in range(24) if n % 4 == 1},
            {n for n in range(24) if n % 2 == 1},
            {n for n in range(24) if n % 5 == 3},
            {n for n in range(24) if n % 4 == 3},
            {n for n in range(24) if n % 3 == 2},
            {n for n in range(24) if n % 3 != 1},
        )
        async with self.opened(tmp_path, NOTES) as case:
            await case.backend.refresh()

            for chosen, numbers in zip(PARTS, wanted, strict=True):
                found = await self._filtered(case, chosen)
                assert _numbers(hit.path for hit in found.hits) == numbers, chosen

    async def test_a_word_is_found_under_a_filter_among_many_better_notes(
        self, tmp_path: Path
    ) -> None:
        """Law 2: neither the limit nor what the filter leaves out hides it."""
        better = {f"memory/{n}.md": "port port port\n" for n in range(120)}
        word = {"memory/kept/long.md": "filler text. " * 60 + "\nthe port\n"}
        async with self.opened(tmp_path, {**better, **word}) as case:
            await case.backend.refresh()

            for chosen in (Filter(paths=("kept",)), Filter(phrases=("the port",))):
                found = await self._filtered(case, chosen, "port", limit=1)
                assert [hit.path for hit in found.hits] == ["memory/kept/long.md"]

    async def test_without_a_question_a_filter_gives_the_newest_first(
        self, tmp_path: Path
    ) -> None:
        """As passages with citations; by path within a day."""
        async with self.opened(tmp_path, NOTES) as case:
            await case.backend.refresh()

            for text in ("", " \n"):
                found = await self._filtered(case, _MARCH, text)
                for hit in found.hits:
                    case.check_round_trip(hit)
                days = [hit.date for hit in found.hits if hit.date]

                assert len(days) == len(found.hits)
                assert days == sorted(days, reverse=True)
                assert {day.month for day in days} == {3}
                assert _numbers(hit.path for hit in found.hits) == set(range(0, 24, 4))
            first = await self._filtered(case, _MARCH, "", limit=1)
            assert [str(hit.date) for hit in first.hits] == ["2026-03-21"]
            assert await self._is_empty(case, "", Filter()) == "empty-query"

    async def test_without_a_question_copies_are_one_passage_that_names_the_others(
        self, tmp_path: Path
    ) -> None:
        """The one that is no copy by its name is shown, in its place."""
        notes = {
            "memory/2026-03-01.md": "otter plan A\n",
            "memory/2026-03-01 (Ann's conflicted copy 2026-03-09).md": "otter plan A\n",
            "memory/2026-03-01.sync-conflict-20260310-101500-ABCDEFG.md": "otter  plan A\n",
            "memory/2026-03-02.md": "heron plan B\n",
        }
        async with self.opened(tmp_path, notes) as case:
            await case.backend.refresh()

            found = await self._filtered(case, _MARCH, "")
            [first] = (await self._filtered(case, _MARCH, "", limit=1)).hits

            assert [hit.path for hit in found.hits] == [
                "memory/2026-03-02.md",
                "memory/2026-03-01.md",
            ]
            named = {each.partition("#")[0] for each in found.hits[1].also_in}
            assert named == notes.keys() - {hit.path for hit in found.hits}
            assert (first.path, first.also_in) == ("memory/2026-03-02.md", ())

    async def test_an_impossible_filter_says_which_part_left_nothing(
        self, tmp_path: Path
    ) -> None:
        """The reason stays `no-match`."""
        async with self.opened(tmp_path, NOTES) as case:
            await case.backend.refresh()

            for text in ("otter", ""):
                gone = Filter(tags=("red", "purple"))
                found = await self._filtered(case, gone, text)
                assert found.reason == "no-match"
                assert any("'purple'" in each for each in found.warnings)
                assert not any("'red'" in each for each in found.warnings)
                both = Filter(tags=("red", "blue"))
                found = await self._filtered(case, both, text)
                assert found.reason == "no-match"
                assert any("together" in each for each in found.warnings)
            found = await self._filtered(case, Filter(tags=("red",)), "xylophone")
            assert (found.reason, found.warnings) == ("no-match", ())

    async def test_a_hidden_path_stays_hidden_whatever_the_filter(
        self, tmp_path: Path
    ) -> None:
        """Not even that it is there is told."""
        async with self.opened(tmp_path, NOTES) as case:
            await case.backend.refresh()
            hidden = "memory/2026-03-01.md"

            for text in ("otter", ""):
                found = await case.backend.search(
                    Query(
                        text=text,
                        limit=9,
                        hides=lambda path: path == hidden,
                        filter=Filter(paths=(hidden,)),
                    )
                )

                assert (list(found.hits), found.reason) == ([], "no-match")
                assert any("leaves no note" in each for each in found.warnings)

    async def test_a_hit_has_the_day_of_its_note(self, tmp_path: Path) -> None:
        """That in its name, else that at its top, else that of its file."""
        notes = {
            "memory/2026-03-01.md": "otter a\n",
            "memory/a.md": "---\ndate: 2026-03-02\n---\notter b\n",
            "memory/b.md": "---\ncreated: 2026-03-03T10:00:00Z\n---\notter c\n",
            "memory/c.md": "otter d\n",
        }
        async with self.opened(tmp_path, notes) as case:
            await case.backend.refresh()
            changed = (case.root / "memory/c.md").stat().st_mtime

            hits: Sequence[Hit] = (await case.ask("otter")).hits

            days = {hit.path: str(hit.date) for hit in hits}
            assert days == {
                "memory/2026-03-01.md": "2026-03-01",
                "memory/a.md": "2026-03-02",
                "memory/b.md": "2026-03-03",
                "memory/c.md": str(date.fromtimestamp(changed)),
            }

    async def _is_empty(self, case: Case, text: str, chosen: Filter) -> str | None:
        return (await self._filtered(case, chosen, text)).reason
