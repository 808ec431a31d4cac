"""Searching by meaning: with a real model, and what is done without one."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from notewell.backends.base import Findings, Query, Run
from notewell.backends.qmd import search
from notewell.backends.qmd.engine import QmdBackend
from notewell.backends.qmd.keywords import KeywordHits
from notewell.types import Hit

if TYPE_CHECKING:
    from tests.backends.qmd.conftest import Faulty, Notes


def steps(found: Findings) -> list[tuple[str, str, str, str]]:
    return [(s.kind, s.from_, s.to, s.reason) for s in found.fallbacks]


async def test_a_note_is_found_by_meaning_and_a_word_all_the_same(
    qmd: list[str], notes: "Notes", model_file: Path
) -> None:
    texts = {
        "memory/health.md": "The physician prescribed pills against the fever.\n",
        "memory/car.md": "The automobile needs new tyres before the winter.\n",
        "memory/code.md": "The release is called kumquat42.\n",
    }
    notes.write(texts)
    models = {
        "QMD_EMBED_MODEL": str(model_file),
        "QMD_EMBED_CONTEXT_SIZE": "500",
        "QMD_FORCE_CPU": "1",
    }
    site = notes.site(qmd, searchMode="vsearch", transport="daemon", environ=models)

    backend = await QmdBackend.open(site)
    report = await backend.refresh(Run(vectors="all"))
    doctor = notes.check(
        await backend.search(Query(text="which medicine did the doctor give", limit=2))
    )
    word = notes.check(await backend.search(Query(text="kumquat42", limit=1)))
    await backend.close()

    assert (report.embedded, report.pending) == (4, 0)
    assert doctor.hits[0].path == "memory/health.md"
    assert (doctor.mode, doctor.provider, doctor.fallbacks) == ("vsearch", "qmd", ())
    assert doctor.model == str(model_file)
    assert [hit.path for hit in word.hits] == ["memory/code.md"]


@pytest.mark.parametrize("mode", ["vsearch", "query"])
@pytest.mark.parametrize(
    ("version", "model", "reason"),
    [
        ("2.8.3", "/nowhere/x.gguf", "model-missing"),
        ("2.8.3", "hf:org/repo/x.gguf", "model-missing"),
        ("2.8.3", None, "model-missing"),
        ("2.8.3", __file__, "not-ready"),
        ("2.1.0", __file__, "version"),
    ],
)
async def test_without_what_a_mode_needs_words_answer_and_nothing_is_fetched(
    version: str,
    model: str | None,
    reason: str,
    mode: str,
    notes: "Notes",
    faulty: "Faulty",
) -> None:
    faulty.version(version)
    environ = {"QMD_EMBED_MODEL": model} if model else {}
    site = notes.site(faulty.command, searchMode=mode, environ=environ)

    backend = await QmdBackend.open(site)
    await backend.refresh()
    found = notes.check(await backend.search(Query(text="heron", limit=6)))
    status = await backend.status()
    await backend.close()

    assert found.hits
    assert found.mode == "search"
    assert steps(found) == [("mode", mode, "search", reason)]
    assert status.fallbacks == found.fallbacks
    assert all("; " in step.message for step in status.fallbacks)  # and what to do
    assert {call[0] for call in faulty.calls()} == {"update", "query"}


async def test_offline_no_model_is_fetched_by_an_index_run_either(
    notes: "Notes", faulty: "Faulty"
) -> None:
    site = notes.site(faulty.command, searchMode="vsearch")
    offline = replace(site, memory=structs.replace(site.memory, offline=True))

    backend = await QmdBackend.open(offline)
    report = await backend.refresh(Run(vectors="all"))
    await backend.close()

    assert any("memory.offline is on" in warning for warning in report.warnings)
    assert "embed" not in {call[0] for call in faulty.calls()}


def hit(path: str, line: int, score: float) -> Hit:
    return Hit(
        path=path,
        start_line=line,
        end_line=line + 1,
        match_line=line,
        snippet="x",
        score=score,
        text_score=score,
    )


ranking = st.lists(
    st.builds(hit, st.sampled_from("abc"), st.sampled_from([1, 3, 5]), st.just(0.5)),
    unique_by=lambda one: (one.path, one.start_line),
)


@given(ranking, ranking, st.integers(1, 10), st.booleans())
def test_meaning_and_words_are_joined_without_repeats_and_in_order(
    meant: list[Hit], words: list[Hit], limit: int, blend: bool
) -> None:
    join = search.fuse_hits if blend else search.fill_places

    found = KeywordHits(hits=tuple(words), literal=bool(words), stale=False)
    hits = join(meant, found, limit).hits

    places = [(one.path, one.start_line) for one in hits]
    known = {(one.path, one.start_line) for one in (*meant, *words)}
    assert len(places) == len(set(places)) == min(limit, len(known))
    assert list(hits) == sorted(
        hits, key=lambda one: (-one.score, one.path, one.start_line)
    )
    assert all(0 < one.score <= 1 for one in hits)


async def test_vectors_of_another_model_are_not_used(
    notes: "Notes", faulty: "Faulty", tmp_path: Path
) -> None:
    old, new = tmp_path / "old.gguf", tmp_path / "new.gguf"
    for model in (old, new):
        model.touch()
    faulty.mood(
        "if command == 'status': print('Vectors: 1 embedded', flush=True)\n"
        "if command in ('status', 'embed'): __import__('os')._exit(0)"
    )
    found: list[Findings] = []
    for model, index in ((old, True), (new, False), (new, True)):
        environ = {"QMD_EMBED_MODEL": str(model)}
        site = notes.site(faulty.command, searchMode="vsearch", environ=environ)
        backend = await QmdBackend.open(site)
        if index:
            await backend.refresh(Run(vectors="all"))
        found.append(await backend.search(Query(text="heron", limit=6)))
        await backend.close()

    embeds = [call for call in faulty.calls() if call[0] == "embed"]
    assert embeds == [["embed"], ["embed", "-f"]]
    assert [steps(one) for one in found] == [
        [],
        [("mode", "vsearch", "search", "not-ready")],
        [],
    ]


def test_exact_words_come_first_and_what_only_meaning_finds_moves_up() -> None:
    words = (hit("word", 1, 0.8), hit("nearly", 1, 0.2), hit("hardly", 1, 0.1))
    meant = [replace(hit("meant", 1, 1.0), text_score=None), hit("nearly", 1, 0.5)]

    joined = search.fuse_hits(
        meant, KeywordHits(hits=words, literal=True, stale=False), 3
    )

    assert [one.path for one in joined.hits] == ["word", "nearly", "meant"]


def test_the_very_word_is_shown_beside_what_is_nearer_by_meaning() -> None:
    word = hit("word", 1, 0.01)
    meant = [replace(hit(name, 1, 1.0), text_score=None) for name in "abc"]

    joined = search.fuse_hits(
        meant, KeywordHits(hits=(word,), literal=True, stale=False), 2
    )

    assert [one.path for one in joined.hits] == ["a", "word"]


async def test_a_model_that_the_users_own_qmd_fetched_is_used_and_only_read(
    notes: "Notes", faulty: "Faulty", tmp_path: Path
) -> None:
    theirs = tmp_path / "home" / ".cache" / "qmd" / "models"
    theirs.mkdir(parents=True)
    names = ["hf_a_embed.gguf", "hf_a_expand.gguf", "hf_a_rerank.gguf"]
    for name in names:
        (theirs / name).touch(mode=0o400)
    faulty.mood(
        "import os\n"
        "if command == 'status':\n"
        "    print('Vectors: 1 embedded', flush=True)\n"
        "    os._exit(0)"
    )
    environ = {
        "HOME": str(tmp_path / "home"),
        "QMD_EMBED_MODEL": "hf:a/models/embed.gguf",
        "QMD_GENERATE_MODEL": "hf:a/models/expand.gguf",
        "QMD_RERANK_MODEL": "hf:a/models/rerank.gguf",
    }
    site = notes.site(faulty.command, searchMode="query", environ=environ)
    offline = replace(site, memory=structs.replace(site.memory, offline=True))

    backend = await QmdBackend.open(offline)
    report = await backend.refresh(Run(vectors="all"))
    found = await backend.search(Query(text="heron", limit=3))
    await backend.close()

    assert (report.embedded, report.warnings) == (1, ())
    assert (found.mode, found.fallbacks) == ("query", ())
    assert sorted(file.name for file in theirs.iterdir()) == names
    links = sorted(notes.state.glob("qmd/models/*.gguf"))
    assert [link.readlink() for link in links] == [theirs / name for name in names]
    # By its name in the network QMD would ask there first, and wait for long.
    [config] = notes.state.glob("qmd/main/1/config/qmd/index.yml")
    assert json.loads(config.read_bytes())["models"] == {
        "embed": str(links[0]),
        "generate": str(links[1]),
        "rerank": str(links[2]),
    }


async def test_texts_without_a_vector_are_no_files_that_could_not_be_indexed(
    notes: "Notes", faulty: "Faulty"
) -> None:
    faulty.mood(
        "import os\n"
        "if command == 'embed': raise SystemExit('Error: fetch failed')\n"
        "if command == 'status':\n"
        "    print('Vectors: 0 embedded\\nPending: 1 need embedding', flush=True)\n"
        "    os._exit(0)"
    )
    environ = {"QMD_EMBED_MODEL": __file__}
    site = notes.site(faulty.command, searchMode="vsearch", environ=environ)

    backend = await QmdBackend.open(site)
    report = await backend.refresh(Run(vectors="all"))
    await backend.close()

    assert (report.files, report.pending, report.embedded) == (1, 0, 0)
    assert any("1 documents have no vector" in said for said in report.warnings)


async def test_a_run_over_what_has_vectors_starts_nothing(
    notes: "Notes", faulty: "Faulty"
) -> None:
    faulty.mood(
        "import os\n"
        "if command == 'status':\n"
        "    print('Vectors: 1 embedded', flush=True)\n"
        "    os._exit(0)"
    )
    environ = {"QMD_EMBED_MODEL": __file__}
    site = notes.site(faulty.command, searchMode="vsearch", environ=environ)
    backend = await QmdBackend.open(site)
    await backend.refresh(Run(vectors="all"))
    before = len(faulty.calls())

    await backend.refresh(Run(vectors="all"))
    await backend.close()

    assert len(faulty.calls()) == before
