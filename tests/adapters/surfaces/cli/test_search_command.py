"""`notewell search`, for people and for programs."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.adapters.surfaces.conftest import Notewell


def write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8"))


def test_a_question_is_answered_with_a_citation(run: "Notewell") -> None:
    ran = run("search", "what is the gateway port?")

    first = ran.text.splitlines()[0]
    assert ran.code == 0
    assert first.startswith("1. MEMORY.md#L1-L3  Facts")
    assert "▸ 3  The gateway port is 18789." in ran.text


def test_the_last_line_says_who_answered_and_how(run: "Notewell") -> None:
    ran = run("search", "gateway")

    assert ran.text.splitlines()[-1].startswith(
        "1 passage · builtin, hybrid (static) · "
    )


def test_a_hit_in_json_is_what_get_reads(run: "Notewell") -> None:
    [hit] = run("search", "gateway", "--json").value["results"]

    lines = str(hit["endLine"] - hit["startLine"] + 1)
    whole = run("get", hit["path"], "--from", str(hit["startLine"]), "--lines", lines)

    assert hit["citation"] == "MEMORY.md#L1-L3"
    assert hit["snippet"].rstrip("\n") in whole.text
    assert run("get", hit["citation"]).text == whole.text


@pytest.mark.parametrize(
    "words",
    [
        ["multi-agent", "rollout"],
        ["multi-agent rollout"],
        ["--query", "multi-agent rollout"],
        ["--query=multi-agent rollout"],
        ["--", "multi-agent", "rollout"],
    ],
    ids=" ".join,
)
def test_words_make_the_same_query_however_they_are_given(
    words: list[str], run: "Notewell"
) -> None:
    value = run("search", "--json", *words).value

    assert value["query"] == "multi-agent rollout"
    assert value["results"][0]["path"] == "memory/2026-01-10.md"


@pytest.mark.parametrize(
    "line",
    [
        ["--json", "search", "gateway", "--agent", "main"],
        ["--agent", "main", "search", "gateway", "--json"],
        ["search", "--json", "--agent", "main", "gateway"],
        ["--agent", "nobody", "search", "gateway", "--agent", "main", "--json"],
    ],
    ids=" ".join,
)
def test_common_options_stand_before_or_after_the_command(
    line: list[str], run: "Notewell"
) -> None:
    value = run(*line).value

    assert value["agent"] == "main"
    assert len(value["results"]) == 1


@pytest.mark.parametrize("query", ["--force", "-x", "-", "--", "--json"])
def test_a_query_may_begin_with_a_dash(query: str, run: "Notewell") -> None:
    after_dashes = run("--json", "search", "--", query)
    as_option = run("--json", "search", f"--query={query}")

    assert after_dashes.value["query"] == query
    assert as_option.value["query"] == query


def test_an_option_like_word_is_told_where_it_belongs(run: "Notewell") -> None:
    ran = run("search", "-foo")

    assert ran.code == 2
    assert "go after `--`" in ran.said


@pytest.mark.parametrize(
    "query",
    ['"', "*", "AND", "a OR", "don't", "evt-2026:01", "\\", "%", "'; DROP", "\x1b[2J"],
)
def test_no_sign_in_a_query_has_a_meaning(query: str, run: "Notewell") -> None:
    ran = run("search", "--json", "--", query)

    assert ran.code == 0
    assert ran.value["query"] == query


def test_a_query_of_thousands_of_words_is_answered(run: "Notewell") -> None:
    words = " ".join(f"word{number}" for number in range(5_000))

    ran = run("search", "--json", f"gateway {words}")

    assert ran.value["results"][0]["path"] == "MEMORY.md"


def test_what_was_not_looked_at_is_not_called_fresh(
    run: "Notewell", notes: Path
) -> None:
    run("index")
    (notes / "memory/2026-01-10.md").write_text("A heron came.\n", encoding="utf-8")

    answer = run("search", "gateway", "--json").value

    assert answer["results"][0]["path"] == "MEMORY.md"
    assert answer["freshness"]["pending"] is None
    assert answer["freshness"]["stale"] is None


def test_nothing_found_says_why_and_what_to_try(run: "Notewell") -> None:
    ran = run("search", "zeppelin")

    assert ran.code == 0
    assert ran.text.startswith("No passage matches.\nTry ")


def test_an_empty_query_says_so(run: "Notewell") -> None:
    assert run("search", "  ").text.startswith("The query is empty.")
    assert run("search", "", "--json").value["reason"] == "empty-query"


def test_a_folder_without_notes_says_so(run: "Notewell", tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()

    ran = run("search", "x", workspace=empty)

    assert ran.code == 0
    assert ran.text.startswith("There are no notes to search.")


def test_memory_that_is_switched_off_says_so(run: "Notewell", tmp_path: Path) -> None:
    file = tmp_path / "openclaw.json"
    write(file, '{"plugins": {"slots": {"memory": "none"}}}')

    ran = run("search", "gateway", "--config", str(file))

    assert ran.code == 0
    assert ran.text.startswith("Memory is switched off in the configuration.")


def test_the_current_folder_is_named_when_it_is_taken(
    run: "Notewell", notes: Path
) -> None:
    ran = run("search", "gateway", workspace=None, cwd=notes)

    assert "MEMORY.md#L1-L3" in ran.text
    assert str(notes) in ran.said


def test_max_results_is_obeyed(run: "Notewell", notes: Path) -> None:
    for number in range(9):
        write(
            notes / "memory" / f"pelican-{number}.md", f"A pelican, number {number}.\n"
        )

    few = run("search", "pelican", "--json", "--max-results", "2")
    many = run("search", "pelican", "--json", "--max-results", "20")

    assert len(few.value["results"]) == 2
    assert len(many.value["results"]) == 9


def test_a_changed_note_is_found_by_the_search_after_the_next(
    run: "Notewell", notes: Path
) -> None:
    run("search", "gateway")
    write(notes / "memory" / "2026-02-01.md", "The heron has landed.\n")

    run("search", "gateway")
    ran = run("search", "heron", "--json")

    assert [hit["path"] for hit in ran.value["results"]] == ["memory/2026-02-01.md"]


def test_with_refreshing_switched_off_a_changed_note_waits_for_index(
    run: "Notewell", notes: Path, tmp_path: Path
) -> None:
    file = tmp_path / "openclaw.json"
    sync = "{agents: {defaults: {memorySearch: {sync: {onSearch: false}}}}}"
    write(file, sync)
    run("search", "gateway", "--config", str(file))
    write(notes / "memory" / "2026-02-01.md", "The heron has landed.\n")

    run("search", "gateway", "--config", str(file))
    status = run("status", "--json", "--config", str(file)).value

    assert (status["index"]["files"], status["index"]["pending"]) == (3, 1)


def test_first_use_tells_that_it_indexes_in_one_line(run: "Notewell") -> None:
    first = run("search", "gateway", "--json")
    second = run("search", "gateway", "--json")

    assert first.said.count("\n") == 1
    assert "indexing" in first.said
    assert second.said == ""


def test_hostile_text_cannot_steer_a_terminal(run: "Notewell", notes: Path) -> None:
    hostile = "pelican \x1b[31mred\x1b]0;title\x07 \x9b2J \u202egnirts\u202c\r gone\n"
    write(notes / "memory" / "a\x1b[2J.md", f"# Head \x1b[1m\u202e\n\n{hostile}")

    plain = run("search", "pelican")
    value = run("search", "pelican", "--json")

    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\r"} & set(plain.text)
    assert "\\x1b[31mred" in plain.text
    assert "a\\x1b[2J.md" in plain.text
    [hit] = value.value["results"]
    assert hostile.strip("\n") in hit["snippet"]
    assert not {b"\x1b", b"\x07", b"\x9b"} & {bytes([byte]) for byte in value.out}


def test_crlf_notes_look_like_others(run: "Notewell", notes: Path) -> None:
    write(notes / "memory" / "windows.md", "One\r\nThe stork is here.\r\nThree\r\n")

    ran = run("search", "stork")

    assert "▸ 2  The stork is here.\n" in ran.text
    assert "\\x0d" not in ran.text


def test_colours_can_be_forced_and_forbidden(run: "Notewell") -> None:
    forced = run("search", "gateway", env={"FORCE_COLOR": "1"})
    forbidden = run("search", "gateway", env={"FORCE_COLOR": "1", "NO_COLOR": "1"})
    piped = run("search", "gateway")

    assert "\x1b[1;33mgateway\x1b[0m" in forced.text
    assert "\x1b" not in forbidden.text + piped.text


def test_a_language_without_spaces_is_found(run: "Notewell") -> None:
    ran = run("search", "部署", "--json")

    assert [hit["path"] for hit in ran.value["results"]] == ["memory/日記.md"]


@pytest.mark.parametrize(
    "locale",
    [
        {"LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=["ascii output", "ascii everywhere"],
)
def test_any_locale_gets_utf8(locale: dict[str, str], run: "Notewell") -> None:
    found = run("search", "数据库", env=locale)
    value = run("search", "数据库", "--json", env=locale)

    assert "memory/日記.md#L1" in found.text
    assert "数据库部署在新加坡" in found.text
    assert value.value["query"] == "数据库"
    assert run("search", "数据库", "--json").value["results"] == value.value["results"]


def test_bytes_that_are_no_utf8_in_a_query_do_no_harm(run: "Notewell") -> None:
    ran = run("search", "gateway \udcff\udc9b", "--json")

    assert ran.code == 0
    assert json.loads(ran.out.decode("utf-8"))["query"].startswith("gateway ")
