"""How much work a search is: a bound for each kind, and how it grows with the notes."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from tests.work.conftest import LARGE, SMALL, Shelf
from tests.work.counting import Work, counted, peak

import notewell

if TYPE_CHECKING:
    from tests.work.conftest import NewShelf

WORDS: Final[Mapping[str, Work]] = {
    "item7": Work(
        statements=17, inner=36, steps=215, scanned=0, calls=861, opened=2, walked=2
    ),
    "heron": Work(
        statements=17, inner=36, steps=340, scanned=0, calls=1228, opened=2, walked=10
    ),
    "heron pool gateway": Work(
        statements=21, inner=537, steps=5105, scanned=0, calls=2826, opened=2, walked=12
    ),
    "common": Work(
        statements=17, inner=515, steps=5054, scanned=0, calls=2485, opened=2, walked=12
    ),
    "数据库": Work(
        statements=22, inner=84, steps=460, scanned=0, calls=1254, opened=2, walked=10
    ),
}
"""What is enough among 500 notes: for a word of one note, of five, several words, a word of
every note, and one that is not written apart."""

MEANING: Final[Mapping[str, Work]] = {
    "heron": Work(
        statements=53,
        inner=56,
        steps=113_645,
        scanned=5_489,
        calls=27_335,
        opened=2,
        walked=30,
    ),
    "heron pool gateway": Work(
        statements=43,
        inner=537,
        steps=39_276,
        scanned=2_495,
        calls=5_178,
        opened=2,
        walked=12,
    ),
    "common": Work(
        statements=39,
        inner=515,
        steps=39_043,
        scanned=2_495,
        calls=4_695,
        opened=2,
        walked=12,
    ),
}
"""The same with vectors beside the words: few vectors are compared by SQLite, so its
instructions count what numpy did before, and loading sqlite-vec and
mapping the file are three statements; candidates are
read once more to be compared by the second half of the question."""


def again(shelf: Shelf, query: str) -> Work:
    """Search twice, and count the second time."""
    search = shelf.search(query)
    search()
    return counted(search)


@pytest.mark.parametrize("query", WORDS)
def test_a_search_by_words_does_no_more_than_it_did(
    shelves: tuple[Shelf, Shelf], query: str
) -> None:
    _, large = shelves

    assert not again(large, query).more_than(WORDS[query])


@pytest.mark.parametrize("query", MEANING)
def test_a_search_by_meaning_does_no_more_than_it_did(
    meaning: tuple[Shelf, Shelf], query: str
) -> None:
    _, large = meaning

    assert not again(large, query).more_than(MEANING[query])


@pytest.mark.parametrize("query", WORDS)
def test_among_more_notes_a_search_asks_reads_and_weighs_no_more(
    shelves: tuple[Shelf, Shelf], query: str
) -> None:
    few, many = (again(shelf, query) for shelf in shelves)

    assert (many.statements, many.calls) == (few.statements, few.calls)
    assert (many.opened, many.walked) == (few.opened, few.walked)


@pytest.mark.parametrize("query", ["common", "heron pool gateway"])
def test_among_more_vectors_a_search_asks_and_reads_no_more(
    meaning: tuple[Shelf, Shelf], query: str
) -> None:
    few, many = (again(shelf, query) for shelf in meaning)

    assert (many.statements, many.opened) == (few.statements, few.opened)


@pytest.mark.parametrize("query", ["item7", "heron", "数据库"])
def test_what_few_notes_have_costs_the_same_among_many(
    shelves: tuple[Shelf, Shelf], query: str
) -> None:
    few, many = (again(shelf, query) for shelf in shelves)

    assert many.steps == few.steps


def test_a_word_of_every_note_costs_at_most_its_share_more(
    shelves: tuple[Shelf, Shelf],
) -> None:
    few, many = (again(shelf, "common") for shelf in shelves)

    assert many.steps * SMALL <= few.steps * LARGE


def test_a_search_holds_no_more_among_many_notes(
    shelves: tuple[Shelf, Shelf],
) -> None:
    few, many = (peak(shelf.search("common")) for shelf in shelves)

    assert many < 200_000
    assert many < few * 1.5


PROGRAM: Final = """
import sys
before = set(sys.modules)
from notewell.adapters.surfaces.cli import main
from notewell.adapters.surfaces.cli.output import CommandOutput

def finish(output):
    # What comes after the answer keeps nobody waiting.
    raise SystemExit(0)

CommandOutput.finish = finish
try:
    main()
finally:
    print(*sorted(set(sys.modules) - before), file=sys.stderr)
"""
MODULES: Final[Mapping[str, int]] = {"none": 110, "static": 128}
"""Of notewell, by the provider; nothing else is imported for meaning."""

OTHERS: Final = frozenset(
    {"Stemmer", "apsw", "click", "msgspec", "orjson", "pathspec", "typing_extensions"}
)


def loaded(shelf: Shelf, *words: str, program: str = PROGRAM) -> list[str]:
    """The modules that a command has imported, or what else a program says last."""
    ran = subprocess.run(
        [sys.executable, "-c", program, "--workspace", str(shelf.root), *words],
        env={
            "HOME": str(shelf.state),
            "OPENCLAW_STATE_DIR": str(shelf.state),
            "PYTHONPATH": str(Path(notewell.__file__).parents[1]),
            "LANG": "C.UTF-8",
        },
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=True,
    )
    return ran.stderr.splitlines()[-1].split()


@pytest.mark.parametrize("provider", MODULES)
def test_a_search_from_the_shell_imports_no_more_than_it_did(
    new_shelf: "NewShelf", provider: str
) -> None:
    small = new_shelf(SMALL)  # of its own: others would read its settings, too
    small.refresh()
    settings = small.state / "openclaw.json"
    settings.write_text(
        f'{{"memory": {{"search": {{"provider": "{provider}"}}}}}}', encoding="utf-8"
    )
    loaded(small, "index")

    names = loaded(small, "search", "heron", "--json")

    ours = [name for name in names if name.partition(".")[0] == "notewell"]
    others = {name.partition(".")[0] for name in names if "cython" not in name}
    assert len(ours) <= MODULES[provider], f"{len(ours)} modules of notewell: {ours}"
    assert others - sys.stdlib_module_names - {"notewell"} <= OTHERS


OPENED: Final = """
import sys
opened = []
sys.addaudithook(lambda event, args: event == "open" and opened.append(str(args[0])))
from notewell.adapters.surfaces.cli import main
from notewell.adapters.surfaces.cli.output import CommandOutput

def finish(output):
    raise SystemExit(0)

CommandOutput.finish = finish
try:
    main()
finally:
    print(sum(name.endswith(".md") for name in opened), file=sys.stderr)
"""


def test_showing_an_answer_reads_no_note_again(new_shelf: "NewShelf") -> None:
    small = new_shelf(SMALL)
    indexed = loaded(small, "index", program=OPENED)

    shown = loaded(small, "search", "common", program=OPENED)
    as_json = loaded(small, "search", "common", "--json", program=OPENED)

    assert int(indexed[0]) >= SMALL  # it is counted how often a note is opened
    assert shown == as_json
