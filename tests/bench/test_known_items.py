"""Queries from the notes themselves."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from notewell.bench.known_items import known_items
from notewell.bench.queries import line_reader
from notewell.bench.sets import bundled_set
from notewell.workspace import Workspace, scan


def example() -> dict[str, Sequence[str]]:
    root = bundled_set("example").notes
    read = line_reader(root)
    return {note.path: read(note.path) for note in scan(Workspace(root=root)).notes}


def test_the_same_seed_gives_the_same_queries_and_another_one_others() -> None:
    notes = example()

    assert known_items(notes, count=30, seed=1) == known_items(notes, count=30, seed=1)
    assert known_items(notes, count=30, seed=1) != known_items(notes, count=30, seed=2)


def test_there_are_three_kinds_in_turn_each_query_once() -> None:
    made = known_items(example(), count=30, seed=1)

    kinds = [query.category for query in made]
    assert kinds[:6] == ["heading", "phrase", "words"] * 2
    assert len({query.text for query in made}) == len(made) == 30


def test_a_phrase_stands_on_its_line_and_words_are_a_part_of_theirs() -> None:
    notes = {"a.md": ["The old heron watches seven quiet carps below the bridge."]}

    made = {query.category: query for query in known_items(notes, count=9, seed=3)}

    line = notes["a.md"][0].lower()
    assert made["phrase"].text in line
    assert made["words"].text not in line
    assert set(made["words"].text.split()) <= set(line.rstrip(".").split())
    assert {query.right[0][:3] for query in made.values()} == {("a.md", 1, 1)}


def test_a_heading_is_right_up_to_the_next_one() -> None:
    notes = {"a.md": ["# Two herons", "one", "", "## Carps below", "two"]}

    made = known_items(notes, count=9, seed=1)

    right = {query.text: query.right[0][1:3] for query in made}
    assert right["Two herons"] == (1, 3)
    assert right["Carps below"] == (4, 5)


def test_a_heading_that_stands_twice_asks_for_nothing() -> None:
    notes = {"a.md": ["# To do"], "b.md": ["# To Do"]}

    assert known_items(notes, count=9, seed=1) == ()


def test_scripts_without_spaces_are_cut_into_pieces() -> None:
    line = "仓库下个月搬到宝安区新地址从四月十五日起生效请大家注意"

    made = {
        query.category: query.text
        for query in known_items({"a.md": [line]}, count=9, seed=1)
    }

    assert len(made["phrase"]) == 8
    assert made["phrase"] in line
    assert all(len(piece) == 3 and piece in line for piece in made["words"].split())


@given(
    st.dictionaries(
        st.sampled_from(["a.md", "b.md"]), st.lists(st.text(max_size=60), max_size=8)
    ),
    st.integers(1, 9),
)
def test_whatever_the_notes_hold_every_right_place_is_in_them(
    notes: dict[str, list[str]], count: int
) -> None:
    made = known_items(notes, count=count, seed=1)

    assert len(made) <= count
    for query in made:
        [place] = query.right
        assert query.text.strip()
        assert 1 <= place.start <= place.end <= len(notes[place.path])
