"""From weighed passages to an order: dates, age, diversity, overlaps."""

import math
from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from notewell.backends.text.passages import Passage, ScoredPassage, without_repeats
from notewell.backends.text.ranking import decay, diversify, lift_dated, rank
from notewell.backends.text.scoring import ExactMatch
from notewell.config import QuerySettings
from notewell.dates import read_dates

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook

TODAY = date(2026, 3, 1)


def scored(
    path: str, *, score: float = 0.5, text: str = "x", first: int = 1, match: int = 1
) -> ScoredPassage:
    lines = text.split("\n")
    passage = Passage(
        id=hash((path, first, text)),
        path=path,
        signature=(0, 0, 0),
        start_line=first,
        end_line=first + len(lines) - 1,
        heading="",
        length=len(lines),
        text=text,
    )
    return ScoredPassage(passage=passage, score=score, match_line=match, exact=True)


@pytest.mark.parametrize(
    ("days", "share"), [(0, 1.0), (30, 0.5), (60, 0.25), (15, math.sqrt(0.5))]
)
def test_a_score_is_halved_each_half_life(days: int, share: float) -> None:
    written = TODAY - timedelta(days=days)

    one = decay(scored(f"memory/{written}.md", score=0.8), TODAY, 30)

    assert one.score == pytest.approx(0.8 * share)


@pytest.mark.parametrize(
    "path", ["MEMORY.md", "memory/x.md", "memory/2026-03-02.md", "memory/9999-12-31.md"]
)
def test_undated_notes_and_those_of_the_future_do_not_age(path: str) -> None:
    assert decay(scored(path, score=0.8), TODAY, 30).score == 0.8


def test_old_age_does_not_end_in_an_error() -> None:
    assert 0 <= decay(scored("memory/0001-01-01.md"), TODAY, 0.01).score < 1e-9


@given(
    items=st.lists(st.tuples(st.dates(), st.floats(0, 1)), max_size=8),
    question=st.sampled_from(["16 March 2022", "in May", "yesterday", "last year"]),
    today=st.dates(min_value=date(1900, 1, 1), max_value=date(2099, 12, 31)),
)
@settings(max_examples=200, deadline=None)
def test_a_date_only_lifts(
    items: list[tuple[date, float]], question: str, today: date
) -> None:
    before = [scored(f"memory/{day}.md", score=score) for day, score in items]

    after = lift_dated(before, read_dates(question, today))

    assert [one.passage for one in after] == [one.passage for one in before]
    for old, new in zip(before, after, strict=True):
        assert old.score <= new.score <= 1


def test_the_note_of_the_day_comes_first_and_then_those_shortly_after(
    notebook: "Notebook",
) -> None:
    days = ["2023-03-03", "2023-04-28", "2023-05-03", "2023-05-10", "2023-09-03"]
    notebook.write(
        {
            f"memory/{day}.md": f"Soup {'abcde'[n]} for lunch.\n"
            for n, day in enumerate(days)
        }
    )
    notebook.refresh()

    found = notebook.paths("What was for lunch on 3 May 2023?")

    assert [path[7:17] for path in found[:3]] == ["2023-05-03", "2023-05-10", days[1]]
    assert len(found) == len(days)


def test_yesterday_is_the_day_before_this_one(notebook: "Notebook") -> None:
    yesterday = date.today() - timedelta(days=1)
    others = [yesterday - timedelta(days=n) for n in range(40, 50)]
    notebook.write({f"memory/{day}.md": "Soup again." for day in (*others, yesterday)})
    notebook.refresh()

    assert notebook.paths("which soup yesterday")[0] == f"memory/{yesterday}.md"


def test_a_date_in_a_heading_counts_where_the_name_of_the_note_has_none(
    notebook: "Notebook",
) -> None:
    days = ["2023-01-03", "2023-05-03", "2023-09-03"]
    text = "\n".join(f"## {day}\n" + "Soup for lunch. " * 100 for day in days)
    notebook.write({"MEMORY.md": text})
    notebook.refresh()

    [best, *_] = notebook.ask("soup on 3 May 2023").hits

    assert best.heading == "2023-05-03"


TEXTS = st.lists(
    st.sampled_from(["otter", "heron", "pool", "port", "gate"]), min_size=1, max_size=6
)


@given(
    items=st.lists(st.tuples(st.floats(0, 1), TEXTS), max_size=12),
    limit=st.integers(1, 12),
)
@settings(max_examples=200, deadline=None)
def test_with_lambda_one_diversity_keeps_the_order(
    items: list[tuple[float, list[str]]], limit: int
) -> None:
    order = sorted(
        (
            scored(f"{n}.md", score=score, text=" ".join(words))
            for n, (score, words) in enumerate(items)
        ),
        key=lambda one: one.order,
    )

    assert diversify(order, limit, 1.0) == order[:limit]


@given(
    items=st.lists(st.tuples(st.floats(0, 1), TEXTS), max_size=12),
    limit=st.integers(1, 12),
    lambda_=st.floats(0, 1),
)
@settings(max_examples=200, deadline=None)
def test_diversity_chooses_without_repeating_and_begins_with_the_best(
    items: list[tuple[float, list[str]]], limit: int, lambda_: float
) -> None:
    order = sorted(
        (
            scored(f"{n}.md", score=score, text=" ".join(words))
            for n, (score, words) in enumerate(items)
        ),
        key=lambda one: one.order,
    )

    chosen = diversify(order, limit, lambda_)

    assert len(chosen) == min(limit, len(order))
    assert len({one.passage.path for one in chosen}) == len(chosen)
    assert [one.score for one in chosen[:1]] == [one.score for one in order[:1]] or (
        lambda_ == 0
    )


def test_near_copies_make_room_for_something_else() -> None:
    copies = [scored(f"{n}.md", score=0.9, text="router in the hall") for n in range(3)]
    other = scored("x.md", score=0.6, text="the modem")

    chosen = diversify([*copies, other], 2, 0.5)

    assert [one.passage.path for one in chosen] == ["0.md", "x.md"]


@given(
    spans=st.lists(
        st.tuples(
            st.integers(1, 20), st.integers(1, 8), st.integers(0, 7), st.booleans()
        ),
        max_size=10,
    )
)
@settings(max_examples=300, deadline=None)
def test_no_line_stands_in_two_passages_and_every_best_line_in_one(
    spans: list[tuple[int, int, int, bool]],
) -> None:
    note = [f"line {n}" for n in range(40)]
    ranked = [
        scored(
            "a.md" if which else "b.md",
            text="\n".join(note[first - 1 : first - 1 + length]),
            first=first,
            match=first + min(match, length - 1),
        )
        for first, length, match, which in spans
    ]

    kept = without_repeats(ranked)

    cited = [
        (one.passage.path, line)
        for one in kept
        for line in range(one.passage.start_line, one.passage.end_line + 1)
    ]
    assert len(cited) == len(set(cited))
    assert all((one.passage.path, one.match_line) in cited for one in ranked)
    for one in kept:
        lines = note[one.passage.start_line - 1 : one.passage.end_line]
        assert one.passage.text == "\n".join(lines)
        assert one.passage.start_line <= one.match_line <= one.passage.end_line


def test_old_notes_fall_behind_when_they_are_told_to(notebook: "Notebook") -> None:
    today = date.today()
    old = f"memory/{today - timedelta(days=90)}.md"
    notebook.write(
        {old: "otter otter", "memory/x/y.md": "otter b", "MEMORY.md": "otter a"}
    )
    notebook.refresh()
    before = notebook.paths("otter")

    notebook.reopen(**{"query.hybrid.temporalDecay.enabled": True})

    assert before[0] == old
    assert notebook.paths("otter") == ["MEMORY.md", "memory/x/y.md", old]


def test_a_low_score_is_left_out_unless_the_word_itself_stands_there(
    notebook: "Notebook",
) -> None:
    notebook.write({"memory/a.md": "the ports", "memory/b.md": "port", "c.md": ""})
    notebook.refresh()

    assert set(notebook.paths("port")) == {"memory/a.md", "memory/b.md"}
    assert notebook.paths("port", min_score=1.0) == ["memory/b.md"]
    found = notebook.ask("porting", min_score=1.0)
    assert (found.hits, found.reason) == ([], "no-match")


def test_of_equal_scores_daily_logs_stand_newest_first_behind_other_notes() -> None:
    paths = (
        "MEMORY.md",
        "memory/ideas.md",
        "memory/2026-03-02.md",
        "memory/2026-02-27-talk.md",
        "memory/2024-12-31.md",
    )
    better = scored("memory/2020-01-01.md", score=0.6)
    found = [*(scored(path, text=path) for path in sorted(paths)), better]
    candidates = [replace(one, text=0.5) for one in found]

    ranked = rank(
        candidates,
        ExactMatch((), {}),
        limit=9,
        min_score=None,
        settings=QuerySettings(),
    )

    assert [one.passage.path for one in ranked] == ["memory/2020-01-01.md", *paths]
