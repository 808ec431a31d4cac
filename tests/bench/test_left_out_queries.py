"""Questions in words that their place does not have."""

from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from notewell.backends.text.analysis import terms_of
from notewell.bench.known_items import left_out_queries
from notewell.bench.queries import line_reader
from notewell.bench.race import copy_notes, leave_out
from notewell.bench.sets import bundled_set
from notewell.workspace import Workspace, scan


def example() -> dict[str, Sequence[str]]:
    root = bundled_set("example").notes
    read = line_reader(root)
    return {note.path: read(note.path) for note in scan(Workspace(root=root)).notes}


def test_the_same_seed_gives_the_same_questions_and_another_one_others() -> None:
    notes = example()

    assert left_out_queries(notes, count=9, seed=1) == left_out_queries(
        notes, count=9, seed=1
    )
    assert left_out_queries(notes, count=9, seed=1) != left_out_queries(
        notes, count=9, seed=2
    )


def test_no_word_of_a_question_stands_on_its_line_or_near_any_more() -> None:
    notes = example()

    made = left_out_queries(notes, count=20, seed=1)

    assert len(made.queries) > 10
    for query, gap in zip(made.queries, made.gaps, strict=True):
        lines = notes[gap.path]
        around = [*lines[max(0, gap.line - 5) : gap.line - 1], gap.text]
        known = terms_of("\n".join([*around, *lines[gap.line : gap.line + 4]]))
        assert query.category == "left-out"
        assert query.right[0][:3] == (gap.path, gap.line, gap.line)
        assert not terms_of(query.text) & known


def test_what_is_taken_out_stood_there_and_the_rest_stays() -> None:
    line = "The old heron watches seven quiet carps below the broken stone bridge."

    made = left_out_queries({"a.md": [line]}, count=1, seed=1)

    [query], [gap] = made.queries, made.gaps
    assert all(word in line.lower() for word in query.text.split())
    assert all(word in line for word in gap.text.split())
    assert gap.text.endswith(".")
    assert len(gap.text) + len(query.text.replace(" ", "")) == len(line)


def test_scripts_without_spaces_lose_pieces() -> None:
    line = "仓库下个月搬到宝安区新地址从四月十五日起生效请大家注意"

    made = left_out_queries({"a.md": [line]}, count=1, seed=1)

    [query], [gap] = made.queries, made.gaps
    assert all(piece in line and piece not in gap.text for piece in query.text.split())


def test_a_copy_lacks_the_words_and_the_notes_keep_them(tmp_path: Path) -> None:
    notes, copy = tmp_path / "notes", tmp_path / "copy"
    (notes / "memory").mkdir(parents=True)
    text = (
        "# Pond\r\n\nThe old heron watches seven quiet carps below the broken bridge.\n"
    )
    (notes / "memory/a.md").write_text(text, encoding="utf-8", newline="")
    read = line_reader(notes)
    made = left_out_queries({"memory/a.md": read("memory/a.md")}, count=1, seed=1)

    copy_notes(notes, copy)
    leave_out(copy, made.gaps)

    kept = line_reader(copy)("memory/a.md")
    assert kept == [
        *read("memory/a.md")[:2],
        made.gaps[0].text,
        *read("memory/a.md")[3:],
    ]
    assert (notes / "memory/a.md").read_bytes().decode() == text


@given(
    st.dictionaries(
        st.sampled_from(["a.md", "b.md"]), st.lists(st.text(max_size=60), max_size=8)
    ),
    st.integers(1, 9),
)
def test_whatever_the_notes_hold_every_right_place_is_in_them(
    notes: dict[str, list[str]], count: int
) -> None:
    made = left_out_queries(notes, count=count, seed=1)

    assert len(made.queries) == len(made.gaps) <= count
    for query in made.queries:
        [place] = query.right
        assert query.text.strip()
        assert 1 <= place.start == place.end <= len(notes[place.path])
