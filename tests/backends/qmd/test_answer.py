"""Reading what QMD prints: real output of several versions, noise, and nonsense."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notewell.backends.qmd.answer import QmdHit, UnreadableAnswer, parse_answer

GOLDEN = Path(__file__).parent / "golden"

HIT = {"file": "qmd://notes/a.md", "docid": "#9bcace", "score": 0.5, "snippet": "x"}
PAYLOAD = json.dumps([HIT])
FOUND = QmdHit(collection="notes", path="a.md", docid="9bcace", score=0.5, snippet="x")


@pytest.mark.parametrize(
    ("version", "names"),
    [
        ("1.1.6", ["memory.md", "memory/my-notes-v2.md"]),
        ("2.1.0", ["memory.md", "memory/my-notes-v2.md"]),
        ("2.5.3", ["MEMORY.md", "memory/My-Notes-v2.md"]),
        ("2.8.3", ["memory/up-x.md", "MEMORY.md", "memory/My Notes (v2).md"]),
    ],
)
def test_a_search_of_each_version_is_read(version: str, names: list[str]) -> None:
    documents = parse_answer((GOLDEN / f"{version}-search.txt").read_bytes())

    assert [one.path for one in documents] == ["memory/a.md", "memory/b.md", *names]
    last = documents[-1]
    assert (last.collection, last.docid) == ("notes", "f5c986")
    assert last.line == (3 if version < "2.5" else 4)
    assert last.snippet.startswith("multi-agent rollout at 4 GB/s\r\nUbuntu")


@pytest.mark.parametrize("version", ["2.1.0", "2.5.3", "2.8.3"])
def test_typed_searches_of_each_version_are_read(version: str) -> None:
    documents = parse_answer((GOLDEN / f"{version}-query.txt").read_bytes())

    assert documents[0].path.lower().startswith("memory/my")
    assert [one.score for one in documents][:4] == [1, 0.5, 0.33, 0.25]


def test_what_is_no_answer_at_all_is_no_answer() -> None:
    with pytest.raises(UnreadableAnswer):
        parse_answer((GOLDEN / "2.8.3-version.txt").read_bytes())


def test_noise_before_an_answer_is_passed_over() -> None:
    hit = {
        "file": "qmd://memory-dir-main/2026-01-10.md",
        "score": 0.71,
        "snippet": "@@ -3,2 @@ (2 before, 0 after)\nhello\nworld",
    }
    noise = (
        "[node-llama-cpp] falling back to CPU\n"
        "\x1b[2mExpanding query...\x1b[0m\n"
        "├─ x\n"
        "[{oops\n"
    )

    [document] = parse_answer(f"{noise}{json.dumps([hit])}\n".encode())

    assert document == QmdHit(
        collection="memory-dir-main",
        path="2026-01-10.md",
        score=0.71,
        line=3,
        snippet="hello\nworld",
    )


@pytest.mark.parametrize(
    "noise",
    [
        "{}",
        "ggml_vulkan: no device [0]\nCMake Warning [-Wdev]\n{}",
        "\x1b[32mExpanding...\x1b[0m\r{}",
        "\x1b]8;;http://x\x07link\x1b]8;;\x07\n\x1b]9;4;3\x07{}\n",
        '{{"meta": [1, 2]}}\n{}',
        "[1, 2]\n[]x\n{}",
        '[{{"name": "no document"}}]\n{}',
        "{}\n[node] bye\nwarning [x]",
        "⠋ Gathering information\r\x1b[K{}",
    ],
)
def test_an_answer_is_found_in_what_libraries_print_around_it(noise: str) -> None:
    assert parse_answer(noise.format(PAYLOAD).encode()) == [FOUND]


@pytest.mark.parametrize(
    ("out", "err"),
    [
        ("[]", ""),
        ("[]\n", "warning"),
        ("warming up\n[]\n", ""),
        ("No results found.\n", ""),
        ("", "No results found.\n"),
    ],
)
def test_nothing_found_is_no_failure(out: str, err: str) -> None:
    assert parse_answer(out.encode(), err.encode()) == []


@pytest.mark.parametrize(
    "out",
    [
        "",
        "Skipping.",
        PAYLOAD[:-1],
        PAYLOAD[:-5],
        '[{"file": 3}]',
        '[{"file": "no-collection.md"}]',
        '{"results": 3}',
        "[[[[" * 5000,
        "[{" * 5000,
    ],
)
def test_what_is_cut_off_or_something_else_is_unreadable(out: str) -> None:
    with pytest.raises(UnreadableAnswer):
        parse_answer(out.encode())


def test_a_failure_never_tells_what_was_printed() -> None:
    with pytest.raises(UnreadableAnswer) as got:
        parse_answer(b"the secret of a note " * 500)

    assert str(got.value) == "no list of documents in 10,500 bytes"


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"line": 42, "snippet": "@@ -40,4 @@ (9 before, 0 after)\nx"}, 42),
        ({"start_line": 42, "end_line": 45}, 42),
        ({"snippet": "@@ -40,4 @@ (9 before, 0 after)\nx"}, 40),
        ({"snippet": "40: @@ -40,1 @@ (9 before, 0 after)\n41: x"}, 40),
        ({}, None),
        ({"line": 0}, None),
        ({"line": True}, None),
        ({"line": 1e300}, None),
        ({"line": float("nan")}, None),
    ],
)
def test_the_line_is_the_one_that_is_said_outright(
    fields: dict[str, object], line: int | None
) -> None:
    [document] = parse_answer(json.dumps([{**HIT, **fields}]).encode())

    assert document.line == line
    assert document.snippet == "x"


def test_a_path_is_taken_word_by_word_whatever_is_in_it() -> None:
    names = [
        "a?b.md",
        "a#b%20c.md",
        "会议 记录.md",
        "x\ny.md",
        "a:12:3.md",
        "?index=x.md",
    ]
    hits = [{**HIT, "file": f"qmd://notes/deep/{name}"} for name in names]

    documents = parse_answer(json.dumps(hits).encode())

    assert [one.path for one in documents] == [f"deep/{name}" for name in names]


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
hits = st.fixed_dictionaries(
    {"file": st.text() | st.builds("qmd://{}/{}".format, st.text(), st.text())},
    optional={
        key: json_values for key in ("docid", "score", "line", "snippet", "start_line")
    },
)


@settings(max_examples=40)
@given(st.lists(hits, max_size=4), st.text(), st.text())
def test_any_answer_gives_sound_documents_or_none(
    array: list[dict[str, object]], before: str, after: str
) -> None:
    out = f"{before}{json.dumps(array)}{after}".encode("utf-8", "replace")

    try:
        documents = parse_answer(out)
    except UnreadableAnswer:
        return

    for document in documents:
        assert 0.0 <= document.score <= 1.0
        assert document.line is None or document.line >= 1
        assert document.collection
        assert document.path
        document.snippet.encode("utf-8")


@given(st.binary(), st.binary())
def test_any_bytes_are_read_or_refused(out: bytes, err: bytes) -> None:
    try:
        documents = parse_answer(out, err)
    except UnreadableAnswer:
        return

    assert documents == [] or out
