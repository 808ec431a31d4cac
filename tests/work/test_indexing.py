"""How much work an index is, and the run that finds little or nothing to do."""

from typing import TYPE_CHECKING

from tests.work.conftest import LARGE, SMALL, Shelf
from tests.work.counting import Work, counted, peak

if TYPE_CHECKING:
    from tests.work.conftest import NewShelf

MORE = LARGE - SMALL
OTHER = "# Note\n\nA wholly other text, about badger number {}.\n"


def grown(few: Work, many: Work) -> dict[str, float]:
    """What each further note costs."""
    return {
        name: (getattr(many, name) - getattr(few, name)) / MORE
        for name in ("statements", "scanned", "calls", "opened", "walked", "steps")
    }


def changed(shelf: Shelf, number: int) -> Work:
    """Change one note, and count the run that hears of it."""
    shelf.write(number, OTHER.format(number))
    return counted(shelf.refresh)


def test_a_run_without_a_change_asks_as_little_among_many_notes(
    shelves: tuple[Shelf, Shelf],
) -> None:
    few, many = (counted(shelf.refresh) for shelf in shelves)

    assert (many.statements, many.opened, many.walked) == (32, 6, 2)
    assert (few.statements, few.opened, few.walked) == (32, 6, 2)
    costs = grown(few, many)
    assert costs["calls"] <= 4
    assert costs["scanned"] <= 3
    assert costs["steps"] <= 26


def test_a_changed_note_costs_as_many_statements_among_many_notes(
    shelves: tuple[Shelf, Shelf],
) -> None:
    for shelf in shelves:
        changed(shelf, 3)

    few, many = (changed(shelf, 4) for shelf in shelves)

    assert few.statements == many.statements <= 59
    assert few.opened == many.opened <= 7
    assert many.inner <= 20
    costs = grown(few, many)
    assert costs["calls"] <= 8
    assert costs["scanned"] <= 5
    assert costs["steps"] <= 47


def test_a_changed_note_costs_no_more_vectors_among_many(
    meaning: tuple[Shelf, Shelf],
) -> None:
    for shelf in meaning:
        changed(shelf, 3)

    before = [len(shelf.embedded) for shelf in meaning]
    few, many = (changed(shelf, 4) for shelf in meaning)

    assert few.statements == many.statements <= 152
    assert [len(shelf.embedded) for shelf in meaning] == [n + 1 for n in before]


def test_each_note_of_a_first_index_costs_the_same(new_shelf: "NewShelf") -> None:
    for size in (SMALL, LARGE):
        new_shelf(size).refresh()  # its words are cut and stemmed, and remembered

    few, many = (counted(new_shelf(size).refresh) for size in (SMALL, LARGE))

    costs = grown(few, many)
    assert costs["statements"] <= 4.1
    assert costs["opened"] == 1
    assert costs["walked"] == 0
    assert costs["calls"] <= 65
    assert costs["steps"] <= 140


def test_a_first_index_holds_no_more_for_many_notes(new_shelf: "NewShelf") -> None:
    for size in (SMALL, LARGE):
        new_shelf(size).refresh()  # whichever test came first, its words are remembered

    few, many = (peak(new_shelf(size).refresh) for size in (SMALL, LARGE))

    assert many - few < MORE * 2_000
