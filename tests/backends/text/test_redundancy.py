"""Copies of passages, and what the host's programs have written."""

from typing import TYPE_CHECKING

import pytest

from notewell.backends.text.passages import Passage, ScoredPassage, without_repeats
from notewell.backends.text.redundancy import (
    is_named_as_copy,
    is_written_by_host,
    join_copies,
    lower_host_writings,
)

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook


def scored(
    path: str,
    *,
    score: float = 0.5,
    text: str = "x",
    first: int = 1,
    share: float = 0.5,
) -> ScoredPassage:
    """Return a passage of some lines."""
    passage = Passage(
        id=hash((path, first)),
        path=path,
        signature=(0, 0, 0),
        start_line=first,
        end_line=first + text.count("\n"),
        heading="",
        length=len(text.split()),
        text=text,
    )
    return ScoredPassage(
        passage=passage, score=score, match_line=first, exact=True, text=share
    )


@pytest.mark.parametrize(
    "name",
    [
        "plan (Ann's conflicted copy 2026-01-10)",
        "plan (conflicted copy)",
        "plan (Case Conflict)",
        "plan.sync-conflict-20260110-101500-ABCDEF7",
        "plan (In Konflikt stehende Kopie von Jörg 2026-01-10)",
        "plan (copie en conflit de Zoé)",
        "plan (競合コピー 2026-01-10)",
        "plan 的冲突副本",
        "plan 2",
        "plan (1)",
        "plan - Copy",
        "plan copy",
        "Kopie von plan",
    ],
)
def test_the_names_of_second_files_are_known(name: str) -> None:
    assert is_named_as_copy(f"memory/{name}.md")


@pytest.mark.parametrize(
    "name",
    [
        "plan",
        "2026-01-10",
        "copyright",
        "plan 2026",
        "photocopying",
        "v1.2",
        "(draft) plan",
    ],
)
def test_other_names_are_not(name: str) -> None:
    assert not is_named_as_copy(f"memory/{name}.md")


def test_the_folders_of_the_host_are_known_in_any_root() -> None:
    written = ["memory/dreaming/rem/2026-03-01.md", "Memory/dreaming/x.md", "DREAMS.md"]
    written += ["../old/memory/dreaming/deep/a.md", "../old/dreams.md"]

    assert all(map(is_written_by_host, written))
    assert not any(
        map(is_written_by_host, ["dreaming/a.md", "memory/dreams-of-spring.md"])
    )


def test_the_original_stands_for_its_copies_with_the_best_score_and_place() -> None:
    conflict = scored("a (conflicted copy).md", score=0.81, text="kiwi\n  plan")
    far = scored("deep/er/a.md", score=0.8, text="kiwi plan")
    own = scored("notes/a.md", score=0.8, text="kiwi plan")
    other = scored("b.md", score=0.7, text="kiwi plum")

    [first, second] = join_copies([conflict, far, own, other])

    assert (first.passage.path, first.score) == ("notes/a.md", 0.81)
    assert [copy.path for copy in first.copies] == [
        "a (conflicted copy).md",
        "deep/er/a.md",
    ]
    assert second == other


def test_a_copy_that_answers_much_better_stands_for_the_others() -> None:
    asked_for = scored("2026-03-01 (1).md", score=0.9)
    shorter = scored("a.md", score=0.4)

    [shown] = join_copies([asked_for, shorter])

    assert shown.passage.path == "2026-03-01 (1).md"


def test_what_is_cut_from_a_passage_is_cut_from_the_places_of_its_copies() -> None:
    text = "one\ntwo\nthree"
    first = scored("a.md", score=0.9, text="zero\none\n", first=1)
    [joined] = join_copies(
        [scored("a.md", text=text, first=2), scored("b.md", text=text, first=5)]
    )
    joined = ScoredPassage(
        passage=joined.passage,
        score=0.5,
        match_line=4,
        exact=True,
        copies=joined.copies,
    )

    [_, rest] = without_repeats([first, joined])

    assert (rest.passage.start_line, rest.passage.end_line) == (4, 4)
    assert [(copy.start_line, copy.end_line) for copy in rest.copies] == [(7, 7)]


def test_what_the_host_wrote_ranks_below_what_says_nearly_as_much() -> None:
    report = scored("memory/dreaming/light/a.md", score=0.9, share=0.9)
    source = scored("MEMORY.md", score=0.01, share=0.8)
    half = scored("half.md", score=0.02, share=0.5)
    little = scored("little.md", score=0.005, share=0.1)

    ranked = lower_host_writings([report, half, source, little])

    order = [one.passage.path for one in sorted(ranked, key=lambda one: one.order)]
    assert order == ["half.md", "MEMORY.md", "memory/dreaming/light/a.md", "little.md"]
    assert [one.score for one in lower_host_writings([report])] == [0.45]


def test_six_places_show_six_things(notebook: "Notebook") -> None:
    template = "## How we work\n\n" + "Write the otter report every Friday. " * 30
    notebook.write(
        {
            f"memory/p{n}.md": f"# Project {n}\n\nOtter {n}.\n\n{template}"
            for n in range(9)
        }
    )
    notebook.refresh()

    hits = notebook.ask("otter").hits

    assert len({" ".join(hit.snippet.split()) for hit in hits}) == len(hits) == 6


def test_a_copy_that_changed_since_is_not_named_and_one_that_moved_is(
    notebook: "Notebook",
) -> None:
    notebook.write({f"memory/{name}.md": "otter plan\n" for name in "abc"})
    notebook.refresh()
    notebook.write({"memory/b.md": "papaya\n", "memory/c.md": "# New\n\notter plan\n"})

    [hit] = notebook.ask("otter").hits

    assert (hit.path, hit.also_in) == ("memory/a.md", ("memory/c.md#L3",))
