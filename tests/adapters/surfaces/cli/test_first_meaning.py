"""Meaning from the first command: no model, no key, no network, nothing set."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.adapters.surfaces.conftest import COMMAND, Ran

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.adapters.surfaces.conftest import Notewell


def settings(tmp_path: Path, text: str) -> Sequence[str]:
    """Return the options that name a configuration file with this text."""
    file = tmp_path / "openclaw.json"
    file.write_text(text, encoding="utf-8")
    return ("--config", str(file))


def steps(answer: "Mapping[str, Any]") -> list[tuple[str, str, str]]:
    return [(one["from"], one["to"], one["reason"]) for one in answer["fallbacks"]]


def test_the_first_search_already_answers_by_words_and_meaning(
    run: "Notewell",
) -> None:
    for _ in range(2):
        answer = run("search", "which port has the gateway?", "--json").value

        assert (answer["mode"], answer["provider"]) == ("hybrid", "static")
        assert answer["model"] == "wordllama-0.4.0.post1"
        assert (answer["degraded"], answer["fallbacks"]) == (False, [])
        assert answer["results"][0]["path"] == "MEMORY.md"
        assert answer["results"][0]["vectorScore"] > 0


def test_a_note_that_was_just_written_does_not_make_an_answer_weaker(
    run: "Notewell", notes: Path
) -> None:
    run("search", "gateway")
    (notes / "memory/new.md").write_text("A walrus came by.\n", encoding="utf-8")
    run("search", "gateway")

    answer = run("search", "walrus", "--json").value

    assert [hit["path"] for hit in answer["results"]] == ["memory/new.md"]
    assert (answer["mode"], answer["degraded"]) == ("hybrid", False)
    assert answer["results"][0]["vectorScore"] is not None


def test_an_empty_folder_lacks_no_vectors(run: "Notewell", tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()

    ran = run("search", "gateway", "--json", workspace=empty)

    assert ran.value["reason"] == "nothing-indexed"
    assert (ran.value["fallbacks"], ran.value["degraded"]) == ([], False)


def test_words_alone_are_what_they_were(run: "Notewell", tmp_path: Path) -> None:
    where = settings(tmp_path, '{memory: {search: {provider: "none"}}}')

    answer = run("search", "gateway", "--json", *where).value
    indexed = run("index", "--json", *where).value

    assert (answer["mode"], answer["provider"]) == ("keyword", None)
    assert (answer["requestedProvider"], answer["degraded"]) == ("none", False)
    assert {hit["vectorScore"] for hit in answer["results"]} == {None}
    assert indexed["embedded"] == 0


def test_it_works_without_a_network(
    environ: dict[str, str], notes: Path, tmp_path: Path
) -> None:
    apart = ("unshare", "--map-root-user", "--net")
    if subprocess.run([*apart, "true"], check=False, capture_output=True).returncode:
        apart = ()  # no such right here; that nothing is asked is seen elsewhere

    done = subprocess.run(
        [*apart, *COMMAND, "--workspace", str(notes), "search", "gateway", "--json"],
        env={**environ, "NOTEWELL_OFFLINE": "1"},
        capture_output=True,
        check=True,
        timeout=300,
    )

    answer = Ran(done.returncode, done.stdout, done.stderr).value
    assert (answer["mode"], answer["provider"]) == ("hybrid", "static")
    assert answer["degraded"] is False


@pytest.mark.parametrize(
    ("fallback", "mode", "provider"),
    [("", "hybrid", "static"), (', fallback: "none"', "keyword", None)],
)
def test_it_answers_for_one_that_has_no_vectors_unless_that_is_forbidden(
    run: "Notewell",
    tmp_path: Path,
    fallback: str,
    mode: str,
    provider: str | None,
) -> None:
    text = f'{{memory: {{search: {{provider: "openai"{fallback}}}}}}}'

    answer = run("search", "gateway", "--json", *settings(tmp_path, text)).value

    assert (answer["mode"], answer["provider"]) == (mode, provider)
    assert (answer["requestedProvider"], answer["degraded"]) == ("openai", True)
    assert steps(answer) == [("openai", provider or "none", "auth")]
    assert answer["results"][0]["path"] == "MEMORY.md"


def test_where_nothing_can_be_written_words_answer_from_the_index_that_is_there(
    run: "Notewell", environ: dict[str, str], tmp_path: Path
) -> None:
    run("index", *settings(tmp_path, '{memory: {search: {provider: "none"}}}'))
    lock = next((Path(environ["OPENCLAW_STATE_DIR"]) / "memory").glob("*.lock"))
    lock.unlink()
    lock.mkdir()  # as if the folder were read-only, also for root

    answer = run("search", "gateway", "--json").value

    assert answer["results"][0]["path"] == "MEMORY.md"
    assert (answer["mode"], answer["degraded"]) == ("keyword", True)
    assert steps(answer) == [("static", "none", "not-ready")]
    assert answer["fallbacks"][0]["message"].endswith("run `notewell index`")


def test_a_damaged_package_leaves_words_alone_and_the_remedy(
    run: "Notewell", environ: dict[str, str], tmp_path: Path
) -> None:
    found = find_spec("wordllama")
    assert found is not None
    assert found.origin is not None
    copy = tmp_path / "packages" / "wordllama"
    shutil.copytree(Path(found.origin).parent, copy)
    table = copy / "weights" / "l2_supercat_256.safetensors"
    table.write_bytes(table.read_bytes()[:1000])
    path = {"PYTHONPATH": f"{copy.parent}{os.pathsep}{environ['PYTHONPATH']}"}

    answer = run("search", "gateway", "--json", env=path).value

    assert answer["results"][0]["path"] == "MEMORY.md"
    assert steps(answer) == [("static", "none", "corrupt")]
    assert "--force-reinstall wordllama" in answer["fallbacks"][0]["message"]


@pytest.mark.parametrize(
    "query", ["zxqv blorp frobnicate", "asdfgh jkl", "🦄", "cafebabe", "مرحبا"]
)
def test_nonsense_is_like_nothing_though_there_are_but_two_notes(
    notes: Path, run: "Notewell", query: str
) -> None:
    (notes / "memory/日記.md").unlink()
    (notes / "MEMORY.md").write_text(
        "# Mem\n\nThe gateway port is 18789.\nThe dentist is on Tuesday.\n",
        encoding="utf-8",
    )
    (notes / "memory/2026-01-10.md").write_text(
        "We bought a new car, an electric Volvo.\n\nLunch was soup.\n", encoding="utf-8"
    )

    nonsense = run("search", query, "--json").value
    meant = run("search", "vehicle", "--json").value

    assert (nonsense["mode"], nonsense["reason"]) == ("hybrid", "no-match")
    assert [hit["path"] for hit in meant["results"]] == ["memory/2026-01-10.md"]


def test_logs_that_are_all_alike_hide_no_note_that_is_meant(
    notes: Path, run: "Notewell"
) -> None:
    for day in range(1, 31):
        (notes / f"memory/2025-06-{day:02}.md").write_text(
            f"# 2025-06-{day:02}\n\n## Sleep\n\n- 7 hours, woke at 6:{day + 20}.\n\n"
            f"## Work\n\n- Fixed {day % 4 + 1} bugs, met with Tomas.\n",
            encoding="utf-8",
        )
    (notes / "memory/beds.md").write_text(
        "# Beds\n\nTomatoes and beans went into the greenhouse; the courgettes wait.\n",
        encoding="utf-8",
    )
    run("index")

    answer = run("search", "growing vegetables", "--json").value

    assert (answer["mode"], answer["reason"]) == ("hybrid", None)
    assert answer["results"][0]["path"] == "memory/beds.md"
