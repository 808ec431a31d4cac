"""Files of judged queries: read, and refused with the line and what to do."""

from pathlib import Path

import pytest

from notewell.bench.metrics import LineRange
from notewell.bench.queries import WHOLE, line_reader, misplaced, read_queries
from notewell.errors import UsageError

GOOD = (
    '{"id": "q1", "query": "port", "category": "fact", "relevant":'
    ' [{"path": "MEMORY.md", "start_line": 3, "end_line": 4, "grade": 2}],'
    ' "ignore": [{"path": "USER.md", "start_line": 1}], "today": "2026-11-12"}'
)


def written(tmp_path: Path, *lines: str) -> Path:
    file = tmp_path / "queries.jsonl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def test_a_line_is_a_query_with_its_places(tmp_path: Path) -> None:
    [query] = read_queries(written(tmp_path, GOOD, ""))

    assert (query.id, query.text, query.category) == ("q1", "port", "fact")
    assert query.right == (LineRange("MEMORY.md", 3, 4, 2.0),)
    assert query.ignored == (LineRange("USER.md", 1, 1),)
    assert str(query.today) == "2026-11-12"


def test_a_place_without_lines_is_the_whole_note_and_a_grade_of_0_no_place(
    tmp_path: Path,
) -> None:
    line = (
        '{"id": 7, "query": "x", "relevant": [{"path": "./a.md"},'
        ' {"path": "b.md", "grade": 0}]}'
    )

    [query] = read_queries(written(tmp_path, line))

    assert (query.id, query.right) == ("7", (LineRange("a.md", 1, WHOLE),))


def test_a_query_without_a_right_place_is_left_out(tmp_path: Path) -> None:
    found = read_queries(
        written(tmp_path, GOOD, '{"id": "q2", "query": "x", "relevant": []}')
    )

    assert [query.id for query in found] == ["q1"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense", "line 2"),
        ("[1]", "line 2"),
        ('{"id": "q2"}', "query"),
        (GOOD.replace('"port"', '" "').replace("q1", "q2"), "`query` is empty"),
        (GOOD.replace("q1", "q2").replace("3", '"three"'), "start_line"),
        (GOOD.replace("q1", "q2").replace("3", "9"), "lines 9 to 4 of MEMORY.md"),
        (GOOD.replace("q1", "q2").replace("3", "0"), "lines 0 to 4"),
        (GOOD.replace("q1", "q2").replace("3", "9" * 30), "start_line"),
        (GOOD.replace("q1", "q2").replace("2}", "-2}"), "grade"),
        (GOOD, "'q1' was there before"),
    ],
)
def test_a_bad_line_is_told_with_its_number_and_a_remedy(
    line: str, said: str, tmp_path: Path
) -> None:
    file = written(tmp_path, GOOD, line)

    with pytest.raises(UsageError) as caught:
        read_queries(file)

    assert f"{file}, line 2: " in caught.value.message
    assert said in caught.value.message
    assert caught.value.remedy


def test_a_missing_and_an_empty_file_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_queries(tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="holds no query"):
        read_queries(written(tmp_path, ""))


def test_a_judgement_whose_note_or_lines_are_missing_is_told(
    notes: Path, tmp_path: Path
) -> None:
    lines = [
        f'{{"id": "{key}", "query": "x", "relevant": [{place}]}}'
        for key, place in {
            "good": '{"path": "MEMORY.md", "start_line": 3}',
            "whole": '{"path": "MEMORY.md"}',
            "gone": '{"path": "memory/none.md", "start_line": 1}',
            "far": '{"path": "MEMORY.md", "start_line": 3, "end_line": 4}',
            "outside": '{"path": "../queries.jsonl", "start_line": 1}',
            "absolute": f'{{"path": "{tmp_path}/queries.jsonl", "start_line": 1}}',
            "linked": '{"path": "memory/linked.md", "start_line": 1}',
        }.items()
    ]
    queries = read_queries(written(tmp_path, *lines))
    (notes / "memory" / "linked.md").symlink_to(tmp_path / "queries.jsonl")

    told = list(misplaced(queries, line_reader(notes)))

    assert told == [
        "gone: there is no note memory/none.md",
        "far: MEMORY.md has 3 lines, and lines 3 to 4 are judged",
        "outside: there is no note ../queries.jsonl",
        f"absolute: there is no note {tmp_path}/queries.jsonl",
        "linked: there is no note memory/linked.md",
    ]
