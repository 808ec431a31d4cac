"""How an answer is drawn for people."""

from pathlib import Path

import pytest

from notewell.adapters.surfaces.cli.results import draw_answer
from notewell.adapters.surfaces.cli.screen import Screen
from notewell.adapters.surfaces.sentences import answer_remarks
from notewell.types import EmptyReason, Fallback, Freshness, Hit, SearchAnswer

PLAIN = Screen()


def hit(**changes: object) -> Hit:
    values: dict[str, object] = {
        "path": "memory/2026-01-10.md",
        "start_line": 8,
        "end_line": 11,
        "match_line": 10,
        "snippet": "## Night\n\nThe rollout moves 4 GB/s.\nDon't page anyone.",
        "snippet_line": 8,
        "score": 0.824,
        "heading": "Rollout > Night",
    }
    return Hit(**{**values, **changes})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def answer(*hits: Hit, **changes: object) -> SearchAnswer:
    values: dict[str, object] = {
        "query": "rollout",
        "workspace": "/notes",
        "agent": "main",
        "results": hits,
        "backend": "builtin",
        "requested_backend": "builtin",
        "mode": "keyword",
        "took_ms": 3.4,
    }
    return SearchAnswer(**{**values, **changes})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_an_answer_is_drawn_with_numbers_and_a_mark_at_the_best_line() -> None:
    other = hit(
        start_line=3,
        end_line=3,
        match_line=3,
        snippet="A rollout.",
        snippet_line=None,
        heading="",
    )

    drawn = draw_answer(answer(hit(), other), PLAIN)

    assert drawn == (
        "1. memory/2026-01-10.md#L8-L11  Rollout > Night  0.82\n"
        "     8  ## Night\n"
        "     9\n"
        "  ▸ 10  The rollout moves 4 GB/s.\n"
        "    11  Don't page anyone.\n"
        "\n"
        "2. memory/2026-01-10.md#L3  0.82\n"
        "    A rollout.\n"
        "\n"
        "2 passages · builtin, keyword · 3 ms\n"
    )


def test_blank_lines_around_a_snippet_are_left_out() -> None:
    drawn = draw_answer(answer(hit(snippet="\n\nThe rollout.\n", end_line=10)), PLAIN)

    assert drawn.splitlines()[1:3] == ["  ▸ 10  The rollout.", ""]


@pytest.mark.parametrize(
    ("end_line", "said"),
    [
        (11, ""),
        (12, "        … 1 more line, to L12"),
        (25, "        … 14 more lines, to L25"),
    ],
)
def test_a_passage_that_goes_on_below_its_snippet_says_so(
    end_line: int, said: str
) -> None:
    drawn = draw_answer(answer(hit(end_line=end_line)), PLAIN)

    last, after = drawn.splitlines()[4:6]
    assert last == "    11  Don't page anyone."
    assert after == said


@pytest.mark.parametrize(
    ("freshness", "said"),
    [
        (Freshness(pending=1), "1 note waits to be indexed: run `notewell index`"),
        (
            Freshness(pending=1200, stale=True),
            "1,200 notes wait to be indexed: run `notewell index`",
        ),
        (Freshness(stale=True), "Some notes wait to be indexed: run `notewell index`"),
        (Freshness(pending=0), "Try fewer or other words"),
        (Freshness(), "Try fewer or other words"),
    ],
    ids=repr,
)
def test_an_empty_answer_says_which_notes_were_not_searched(
    freshness: Freshness, said: str
) -> None:
    drawn = draw_answer(answer(reason="no-match", freshness=freshness), PLAIN)

    assert drawn.splitlines()[0] == "No passage matches."
    assert drawn.splitlines()[1].startswith(said)


def test_a_heading_that_does_not_fit_is_shortened() -> None:
    screen = Screen(terminal=True, columns=50)

    head = draw_answer(answer(hit()), screen).splitlines()[0]

    assert head == "1. memory/2026-01-10.md#L8-L11  Rollout > N…  0.82"


def test_only_files_of_the_workspace_are_links() -> None:
    screen = Screen(terminal=True, coloured=True, linked=True, columns=80)
    transcript = hit(path="sessions/a.jsonl", source="sessions", snippet_line=None)

    drawn = draw_answer(answer(hit(), transcript), screen)

    assert drawn.count("\x1b]8;;file:///notes/memory/2026-01-10.md\x1b\\") == 1
    assert "sessions/a.jsonl\x1b\\" not in drawn


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("no-match", "No passage matches."),
        ("empty-query", "The query is empty."),
        ("nothing-indexed", "There are no notes to search."),
        ("source-disabled", "That source is switched off."),
        ("denied-by-scope", "The scope rules keep memory out of this conversation."),
        ("memory-disabled", "Memory is switched off in the configuration."),
        ("unavailable", "No engine could answer."),
    ],
)
def test_an_empty_answer_says_why_and_what_to_do(
    reason: EmptyReason, said: str
) -> None:
    first, advice, *_ = draw_answer(answer(reason=reason), PLAIN).splitlines()

    assert first == said
    assert advice


def test_every_step_down_is_said() -> None:
    step = Fallback(
        kind="backend",
        from_="qmd",
        to="builtin",
        reason="missing",
        message="qmd is not on PATH",
    )
    weak = answer(
        hit(),
        fallbacks=(step,),
        degraded=True,
        local_to_remote=True,
        warnings=("the disk is nearly full",),
        freshness=Freshness(stale=True),
    )

    assert list(answer_remarks(weak)) == [
        "note: builtin instead of qmd: qmd is not on PATH",
        "warning: text left this machine because a local choice had failed",
        "note: this answer is weaker than the configuration asks for",
        "warning: the disk is nearly full",
        "note: some notes have changed since they were indexed",
    ]


def test_a_relative_workspace_makes_no_link() -> None:
    screen = Screen(terminal=True, coloured=True, linked=True)

    assert screen.link("x", Path("notes/x.md")) == "x"
