"""A note that is asked for by its name comes before those that mention the name."""

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.backends.text.query import parse_query, words_asked, words_of_name

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook

MENTIONS = "The garden plan, see garden plan. " * 3 + "Plan the garden: garden plan."


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("Garden Plan.md", "x"),
        ("garden-plan.md", "x"),
        ("Garden_Plan.md", "x"),
        ("GardenPlan.md", "x"),
        ("Garden Plan 5f2b8c0e9d7a41638b1f0c2d3e4a5b6c.md", "x"),
        ("z.md", "# Garden Plan\n\nBeds and paths.\n"),
        ("z.md", "# Gärden-Plan\n\nBeds and paths.\n"),
        ("z.md", "---\ntitle: Garden Plan\n---\n\nBeds and paths.\n"),
    ],
)
@pytest.mark.parametrize("query", ["garden plan", "Garden-Plan", "GARDEN PLAN?"])
def test_a_note_is_found_first_by_its_name(
    notebook: "Notebook", path: str, text: str, query: str
) -> None:
    notebook.write({f"memory/{path}": text, "memory/a.md": MENTIONS})
    notebook.refresh()

    assert notebook.paths(query)[0] == f"memory/{path}"


def test_a_note_of_one_word_is_found_first_by_it(notebook: "Notebook") -> None:
    notebook.write({"memory/Beehive.md": "x", "memory/a.md": "beehive " * 9})
    notebook.refresh()

    assert notebook.paths("beehive")[0] == "memory/Beehive.md"


def test_part_of_a_name_is_no_name(notebook: "Notebook") -> None:
    notebook.write(
        {"memory/Garden Plan.md": "Beds and paths.", "memory/a.md": "garden " * 9}
    )
    notebook.refresh()

    assert notebook.paths("garden")[0] == "memory/a.md"


def test_only_the_beginning_of_a_note_has_its_name(notebook: "Notebook") -> None:
    beds = "\n\n".join(
        f"## Bed {n}\n\n" + f"soil {n} and seeds " * 80 for n in range(5)
    )
    notebook.write(
        {"memory/z.md": f"# Garden Plan\n\nBeds.\n\n{beds}", "memory/a.md": MENTIONS}
    )
    notebook.refresh()

    assert notebook.paths("garden plan")[:2] == ["memory/z.md", "memory/a.md"]


@given(
    st.lists(
        st.sampled_from(
            [
                "setup",
                "Log",
                "DNS",
                "the",
                "PostBox",
                "iPhone",
                "s",
                "Of",
                "a",
                "7",
                "2026",
                "0310",
                "1234567",
                "item7",
                "v2",
                "H2O",
                "16gb",
                "dead7beef",
            ]
        ),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from([" ", "-", "_", ", ", ": ", ". "]),
)
def test_a_plain_name_has_the_words_that_a_query_for_it_asks_for(
    words: list[str], joint: str
) -> None:
    name = joint.join(words)

    assert words_of_name(name) == words_asked(parse_query(name).terms)


@pytest.mark.parametrize("name", ["2026-03-02", "2026-03-03", "0001", "12", "7-07"])
def test_a_day_or_a_number_is_a_name_like_others(name: str) -> None:
    assert words_of_name(name) == words_asked(parse_query(name).terms)
