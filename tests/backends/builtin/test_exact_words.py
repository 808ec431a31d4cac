"""A word that stands in an indexed note is found, whatever else there is (law 2)."""

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from tests.backends.conftest import NewNotebook, Notebook

FILLING = "filler words here. " * 60
SETTINGS = {
    "as it comes": {},
    "mmr": {"query.hybrid.mmr.enabled": True, "query.hybrid.mmr.lambda": 0.0},
    "decay": {
        "query.hybrid.temporalDecay.enabled": True,
        "query.hybrid.temporalDecay.halfLifeDays": 0.01,
    },
    "one candidate": {"query.hybrid.candidateMultiplier": 1},
    "hybrid off": {"query.hybrid.enabled": False},
    "no weight for words": {
        "query.hybrid.textWeight": 0,
        "query.hybrid.vectorWeight": 1,
    },
}
NEARLY = {
    "deploy": "deployments deployed deploying deployment",
    "deployments": "deploy deployed deploying deploy",
    "port": "ports porting ported ports",
    "order2026": "order20261 order20262 order20263 order20264",
    "a828e60": "a828e601 a828e602 a828e603 a828e6044",
    "multi-agent": "multi agentic multi-agentic agent/multi",
    "20.04": "04.20 20 04 20.10 04",
    "数据库": "数据 据库 数据 据库 库",
    "しりとり": "とりしり りとしり しり とり",
    "C++": "C C c C C#",
    "ZX-4417": "ZX-4418 ZX 4417x 4417-ZX ZX",
    "running": "run runs run run",
    "doing": "do do does doings",
}


@pytest.mark.parametrize(
    ("word", "how"),
    [
        *((word, "as it comes") for word in NEARLY),
        *((word, how) for how in SETTINGS for word in ("deploy", "数据库")),
    ],
)
def test_a_word_is_not_crowded_out_by_words_that_are_nearly_the_same(
    notebook: "Notebook", word: str, how: str
) -> None:
    others = {f"memory/{n:03}.md": f"{NEARLY[word]} " * 3 for n in range(100)}
    notebook.write({**others, "memory/1999-01-01.md": f"{FILLING} {word} {FILLING}"})
    notebook.reopen(**SETTINGS[how])
    notebook.refresh()

    assert notebook.paths(word, limit=1, min_score=1.0) == ["memory/1999-01-01.md"]
    assert "memory/1999-01-01.md" in notebook.paths(word)


@pytest.mark.parametrize("filler", ["the", "what", "und"])
def test_a_word_that_only_holds_sentences_together_is_found_too(
    notebook: "Notebook", filler: str
) -> None:
    others = {f"memory/{n}.md": "something else" for n in range(100)}
    notebook.write({**others, "memory/x.md": f"{FILLING} {filler} {FILLING}"})
    notebook.refresh()

    assert notebook.paths(filler, min_score=1.0) == ["memory/x.md"]


def test_a_rare_word_of_a_question_is_found_beside_common_ones(
    notebook: "Notebook",
) -> None:
    others = {f"memory/{n}.md": "the gateway port " * 20 for n in range(300)}
    notebook.write({**others, "memory/x.md": f"{FILLING} kumquat {FILLING}"})
    notebook.refresh()

    assert notebook.paths("the gateway port kumquat", limit=1) == ["memory/x.md"]


def test_a_word_is_found_among_thousands_of_notes_that_hold_it(
    notebook: "Notebook",
) -> None:
    notebook.write({f"memory/{n}.md": f"otter{n} otter" for n in range(1500)})
    notebook.refresh()

    assert notebook.paths("otter1234 otter", limit=1) == ["memory/1234.md"]
    assert len(notebook.paths("otter", limit=2000)) == 1500


def test_notes_that_are_gone_do_not_keep_a_word_from_being_found(
    notebook: "Notebook",
) -> None:
    others = {f"memory/{n}.md": "kiwi kiwi kiwi" for n in range(150)}
    notebook.write({**others, "memory/x.md": f"{FILLING} kiwi {FILLING}"})
    notebook.refresh()
    for path in list(others)[:75]:
        (notebook.root / path).unlink()
    notebook.write(dict.fromkeys(list(others)[75:], "nothing"))

    found = notebook.ask("kiwi")

    assert [hit.path for hit in found.hits] == ["memory/x.md"]
    assert found.freshness.stale


@given(
    words=st.lists(
        st.text(alphabet="abcdefgh", min_size=3, max_size=5)
        | st.text(alphabet="数据库部署京都", min_size=1, max_size=4),
        min_size=20,
        max_size=60,
    ),
    settings_name=st.sampled_from(sorted(SETTINGS)),
)
@settings(max_examples=12, deadline=None)
def test_any_word_of_any_note_is_in_the_only_hit(
    new_notebook: "NewNotebook", words: list[str], settings_name: str
) -> None:
    notebook = new_notebook()
    notebook.write(
        {f"memory/{n}.md": " ".join(words[n::7]) for n in range(7)}
        | {"memory/2000-01-01-all.md": " ".join(words)}
    )
    notebook.reopen(**SETTINGS[settings_name])
    notebook.refresh()

    for word in words:
        [hit] = notebook.ask(word, limit=1, min_score=1.0).hits
        assert word in hit.snippet


@pytest.mark.parametrize(
    "asked", ["REPORT_V2", "REPORT-V2", "REPORT_V2.md", "report v2"]
)
def test_a_note_is_found_by_its_name_with_and_without_the_suffix(
    notebook: "Notebook", asked: str
) -> None:
    others = {
        f"memory/n{n}.md": f"a report about v2 things, V2 item {n}" for n in range(30)
    }
    notebook.write({**others, "memory/REPORT_V2.md": "text number 2 only"})
    notebook.refresh()

    paths = notebook.paths(asked, limit=40)

    assert "memory/REPORT_V2.md" in paths
    if asked != "report v2":
        assert paths[0] == "memory/REPORT_V2.md"


def test_the_note_of_a_name_comes_before_those_that_mention_it(
    notebook: "Notebook",
) -> None:
    others = {
        f"memory/n{n}.md": "see hooks.md, hooks.md and hooks.md" for n in range(9)
    }
    notebook.write({**others, "memory/hooks.md": "# Hooks\n\nThey catch things."})
    notebook.refresh()

    assert notebook.paths("hooks.md")[0] == "memory/hooks.md"


@pytest.mark.parametrize(
    ("path", "begins"),
    [
        ("memory/kitchen-rebuild.md", "text"),
        ("memory/Kitchen rebuild 0123456789abcdef0123456789abcdef.md", "text"),
        ("memory/p7.md", "# Kitchen rebuild\n\ntext"),
        ("memory/p7.md", "---\ntitle: Kitchen rebuild\n---\n# Seven\n\ntext"),
        ("memory/p7.md", "---\naliases:\n- Tango\n- kitchen rebuild\n---\ntext"),
        ("memory/p7.md", "---\nalias: kitchen rebuild\n---\ntext"),
    ],
    ids=["file", "exported file", "heading", "title", "aliases", "alias"],
)
def test_a_note_is_first_by_its_name_among_many_notes_full_of_these_words(
    notebook: "Notebook", path: str, begins: str
) -> None:
    others = {f"memory/n{n}.md": "kitchen rebuild " * (3 + n) for n in range(120)}
    notebook.write({**others, path: begins})
    notebook.refresh()

    assert notebook.paths("Kitchen Rebuild", limit=2)[0] == path


def test_an_empty_answer_counts_the_notes_that_wait(notebook: "Notebook") -> None:
    notebook.write({"memory/a.md": "apple"})
    notebook.refresh()
    notebook.write({"memory/b.md": "zebra"})

    found = notebook.ask("zebra")

    assert (found.reason, found.freshness.pending) == ("no-match", 1)
    assert found.freshness.stale
