"""Small cases of which everybody knows the right answer."""

import os
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from notewell.errors import PathRefused
from notewell.workspace import get_document

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook


@pytest.fixture
def rollout(notebook: "Notebook") -> "Notebook":
    """A note full of punctuation, and another one."""
    notebook.write(
        {
            "memory/2026-01-10.md": "The multi-agent rollout moves 4 GB/s; don't page "
            "@night-shift.\nUbuntu 20.04 stays; the C++ build is frozen.\n",
            "memory/2026-01-11.md": "Lunch was soup.\n",
        }
    )
    notebook.refresh()
    return notebook


@pytest.mark.parametrize(
    "query",
    [
        "multi-agent",
        "don't",
        "GB/s",
        "@night-shift",
        "20.04",
        "C++",
        "MULTI-AGENT",
        "why is C++ frozen?",
        "a=b 20.04",
    ],
)
def test_words_with_punctuation_are_found(rollout: "Notebook", query: str) -> None:
    assert rollout.paths(query)[0] == "memory/2026-01-10.md"


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "*",
        "AND",
        "a OR",
        "",
        "   ",
        "NEAR(a b)",
        "body:x",
        "^x",
        "-",
        "{}",
        "\x00",
        "'; drop table nw_meta; --",
        "�",
        "%",
        "_",
        "x" * 200000,
        "💥",
    ],
)
def test_no_query_is_syntax(rollout: "Notebook", query: str) -> None:
    found = rollout.ask(query)

    assert not found.degraded
    assert rollout.paths("soup") == ["memory/2026-01-11.md"]


@pytest.mark.parametrize("query", ['"', "*", "", "   ", "?!", "\x00", "- _ '"])
def test_a_query_without_words_is_an_empty_one(rollout: "Notebook", query: str) -> None:
    assert rollout.ask(query).reason == "empty-query"


def test_a_question_in_plain_words(notebook: "Notebook") -> None:
    notebook.write(
        {
            "MEMORY.md": "Gateway port is 18789.",
            "memory/a.md": "Lunch was soup.",
            "memory/b.md": "The heron stands in the pool.",
            "memory/c.md": "Call the plumber.",
        }
    )
    notebook.refresh()

    [first, *_] = notebook.ask("What is the gateway port?").hits

    assert first.citation == "MEMORY.md#L1"


def test_words_need_not_be_neighbours(notebook: "Notebook") -> None:
    notebook.write({"memory/a.md": "migration of the database", "memory/b.md": "soup"})
    notebook.refresh()

    assert notebook.paths("database migration") == ["memory/a.md"]


def test_a_folder_with_one_note_gives_it_a_good_score(notebook: "Notebook") -> None:
    notebook.write({"MEMORY.md": "alpha beta"})
    notebook.refresh()

    [hit] = notebook.ask("alpha", min_score=0.35).hits

    assert 0.35 <= hit.score <= 1


def test_more_of_a_word_is_better(notebook: "Notebook") -> None:
    texts = ["alpha beta", "alpha alpha alpha", "gamma", *["delta"] * 5]
    notebook.write({f"memory/{n}.md": text for n, text in enumerate(texts)})
    notebook.refresh()

    [first, second] = notebook.ask("alpha").hits

    assert (first.path, second.path) == ("memory/1.md", "memory/0.md")
    assert 1 >= first.score > second.score > 0


def test_a_word_in_half_of_the_notes_still_scores(notebook: "Notebook") -> None:
    notebook.write({f"memory/{n}.md": f"otter {n}" for n in range(10)})
    notebook.refresh()

    assert all(hit.score > 0 for hit in notebook.ask("otter", limit=10).hits)


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("しりとり", 0),
        ("끝말잇기", 1),
        ("数据库", 2),
        ("部署", 2),
        ("itgc", 3),
        ("悬空", 3),
    ],
)
def test_parts_of_text_without_spaces(
    notebook: "Notebook", query: str, place: int
) -> None:
    texts = (
        "今日は成語しりとりをした",
        "오늘 끝말잇기게임을 했다",
        "数据库部署在新加坡",
        "重跑gen-itgc后50条悬空引用清零",
    )
    notebook.write({f"memory/{n}.md": text for n, text in enumerate(texts)})
    notebook.refresh()

    assert notebook.paths(query) == [f"memory/{place}.md"]


def test_a_long_question_without_spaces_finds_the_note_that_answers_it(
    notebook: "Notebook",
) -> None:
    notebook.write(
        {
            "memory/a.md": "飞书插件的配置在 config 里，重启后生效",
            "memory/b.md": "今天天气很好，去公园散步",
            "memory/c.md": "插件市场打不开",
        }
    )
    notebook.refresh()

    assert notebook.paths("飞书插件配置怎么改")[0] == "memory/a.md"


def test_one_name_in_two_unicode_forms_is_one_note(notebook: "Notebook") -> None:
    composed = "규정 학점인정"
    decomposed = unicodedata.normalize("NFD", composed)
    notebook.write({f"memory/{decomposed}.md": f"{decomposed}\n"})
    notebook.refresh()

    again = notebook.refresh()
    [hit] = notebook.ask("학점인정").hits
    note = get_document(notebook.workspace, f"memory/{composed}.md")

    assert again.files == 1
    assert unicodedata.normalize("NFC", hit.path) == f"memory/{composed}.md"
    assert (note.found, note.text) == (True, decomposed)


def test_names_that_differ_in_a_separator_are_different_notes(
    notebook: "Notebook",
) -> None:
    names = ["my_file", "my-file", "my file", "DL-11 alpha", "DL-12 beta", "日本語"]
    notebook.write({f"memory/{name}.md": f"kiwi {name}" for name in names})

    report = notebook.refresh()

    assert report.files == len(names)
    assert set(notebook.paths("kiwi")) == {f"memory/{name}.md" for name in names}


def test_odd_files_do_not_stop_the_others_and_nothing_outside_is_read(
    notebook: "Notebook", tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("durian", encoding="utf-8")
    memory = notebook.root / "memory"
    (memory / "link").symlink_to(outside)
    (memory / "bad.md").symlink_to(outside / "secret.md")
    (memory / "device.md").symlink_to("/dev/zero")
    os.mkfifo(memory / "pipe.md")
    (memory / "folder.md").mkdir()
    (memory / "latin.md").write_bytes(b"caf\xe9 kiwi" + b" plain" * 10)
    (memory / "wide.md").write_bytes("kiwi\n".encode("utf-16"))
    (memory / "nul.md").write_bytes(b"\x00kiwi\x00papaya")
    notebook.write({"memory/good.md": "kiwi", "memory/empty.md": ""})

    report = notebook.refresh()

    assert notebook.paths("durian") == []
    assert set(notebook.paths("kiwi")) == {
        f"memory/{name}.md" for name in ("good", "latin", "wide", "nul")
    }
    assert notebook.paths("papaya") == ["memory/nul.md"]
    skipped = {each.path: each.reason for each in report.skipped}
    assert skipped["memory/link"] == skipped["memory/bad.md"] == "symlink"
    assert skipped["memory/pipe.md"] == "not-a-file"
    workspace = notebook.workspace
    for path in (
        "memory/link/secret.md",
        "../outside/secret.md",
        str(outside / "secret.md"),
        "memory/x\0.md",
    ):
        with pytest.raises(PathRefused):
            get_document(workspace, path)
    assert not get_document(workspace, "memory/nope.md").found


def test_lines_of_a_hit_count_line_feeds_only(notebook: "Notebook") -> None:
    notebook.write(
        {
            "memory/a.md": "one\r\ntwo\x0c\u2028\x85 still two\r\nthree kiwi\r\n",
            "memory/b.md": "\ufeffone\rstill one\npapaya",
        }
    )
    notebook.refresh()

    [kiwi] = notebook.ask("kiwi").hits
    [papaya] = notebook.ask("papaya").hits

    assert (kiwi.match_line, kiwi.end_line) == (3, 3)
    assert (papaya.match_line, papaya.end_line) == (2, 2)


def test_a_workspace_without_the_usual_layout_is_searched_as_a_whole(
    notebook: "Notebook",
) -> None:
    (notebook.root / "memory").rmdir()
    notebook.write({"vault/deep/x.MD": "kiwi", "readme.md": "papaya", ".git/y.md": "x"})

    report = notebook.refresh()

    assert report.files == 2
    assert notebook.paths("kiwi") == ["vault/deep/x.MD"]
