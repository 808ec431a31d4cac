"""What a space keeps, and what it finds."""

from collections.abc import Mapping
from threading import Thread

import pytest
from tests.backends.postgres.conftest import NewStore

from notewell.backends.postgres.store import PostgresStore
from notewell.backends.postgres.writing import Writer
from notewell.backends.remote.store import (
    Among,
    NoteRecord,
    Owner,
    PassageRecord,
    TermClause,
)
from notewell.errors import BackendFailed

OWNER = Owner("laptop", "main")


def note(path: str, **fields: object) -> NoteRecord:
    return NoteRecord(path=path, signature=(1, 2, 3), digest=b"d" * 16, **fields)  # type: ignore[arg-type]


def passage(text: str, weights: Mapping[str, int] | None = None) -> PassageRecord:
    words = text.split()
    return PassageRecord(
        start_line=1,
        end_line=1,
        piece=False,
        heading="",
        length=len(words),
        row_length=len(words),
        digest=b"p" * 16,
        text=text,
        weights=weights or {word: 5 * words.count(word) for word in words},
    )


def fill(store: PostgresStore, notes: Mapping[str, str], owner: Owner = OWNER) -> None:
    """Write notes of one passage each into a new generation, and let it answer."""
    with store.writing(owner, wait=None) as writer:
        generation = writer.begin_generation("built so")
        for path, text in notes.items():
            writer.put_note(generation, note(path), [passage(text)])
        writer.publish(generation, indexed_at=1_700_000_000)


def ask(
    store: PostgresStore, *words: str, limit: int = 10, **among: object
) -> list[str]:
    wanted = [TermClause(terms=tuple(word.split())) for word in words]
    with store.snapshot() as snapshot:
        found = snapshot.candidates(wanted, limit, Among(**among))  # type: ignore[arg-type]
    return [each.path for each in found]


def live(writer: Writer) -> int:
    number = writer.holding().live
    assert number is not None
    return number


def test_rare_words_and_short_passages_come_first(store: PostgresStore) -> None:
    fill(store, {
        "a.md": "port gateway lines of a long text that tells much of other things",
        "b.md": "gateway port", "c.md": "gateway", "d.md": "heron", "e.md": "heron egret",
        "f.md": "plain words", "g.md": "more plain words",
    })  # fmt: skip

    assert ask(store, "gateway", "port") == ["b.md", "a.md", "c.md"]
    assert ask(store, "egret", "heron", limit=1) == ["e.md"]


def test_several_terms_have_to_stand_together(store: PostgresStore) -> None:
    fill(store, {"a.md": "blue heron", "b.md": "blue egret", "c.md": "grey heron"})

    assert ask(store, "blue heron") == ["a.md"]


def test_a_beginning_finds_longer_terms(store: PostgresStore) -> None:
    fill(store, {"a.md": "abc123 x", "b.md": "abd999 x", "c.md": "abc999 y"})

    with store.snapshot() as snapshot:
        found = snapshot.candidates([TermClause(terms=("abc",), beginning=True)], 5)

    assert sorted(each.path for each in found) == ["a.md", "c.md"]


def test_notes_can_be_left_out_or_asked_alone(store: PostgresStore) -> None:
    fill(store, {"a.md": "heron", "b.md": "heron", "c.md": "heron"})
    with store.snapshot() as snapshot:
        ids = {each.path: each.id for each in snapshot.notes()}

    assert ask(store, "heron", only=frozenset({ids["b.md"]})) == ["b.md"]
    assert ask(store, "heron", never=frozenset({ids["b.md"]})) == ["a.md", "c.md"]
    assert ask(store, "heron", only=frozenset[int]()) == []


def test_a_note_that_is_put_again_takes_its_own_place(store: PostgresStore) -> None:
    fill(store, {"a.md": "heron", "b.md": "egret"})
    with store.writing(OWNER, wait=0) as writer:
        number = live(writer)
        [known] = [each for each in writer.notes_of(number) if each.path == "a.md"]

        writer.put_note(number, note("a.md", id=known.id), [passage("stork")])
        writer.publish(number, indexed_at=1_700_000_001)

    with store.snapshot() as snapshot:
        [holding] = snapshot.holdings()
        assert snapshot.frequencies(["heron", "stork", "egret"]) == {
            "stork": 1,
            "egret": 1,
        }
    assert (holding.files, holding.passages, holding.indexed_at) == (
        2,
        2,
        1_700_000_001,
    )


def test_a_row_alone_keeps_the_passages(store: PostgresStore) -> None:
    fill(store, {"a.md": "heron"})
    with store.writing(OWNER, wait=0) as writer:
        [known] = writer.notes_of(live(writer))

        closed = note("a.md", id=known.id, problem="Permission denied")
        writer.put_note(live(writer), closed, None)
        assert writer.holding().files == 1  # counted when it is kept
        writer.commit()
        assert writer.holding().files == 0

    with store.snapshot() as snapshot:
        assert [each.problem for each in snapshot.notes()] == ["Permission denied"]
    assert ask(store, "heron") == ["a.md"]


def test_deleted_notes_are_gone(store: PostgresStore) -> None:
    fill(store, {"a.md": "heron", "b.md": "heron"})
    with store.writing(OWNER, wait=0) as writer:
        [first, _] = writer.notes_of(live(writer))
        writer.delete_notes(live(writer), [first.id])

    assert ask(store, "heron") == ["b.md"]


def test_what_is_not_committed_is_not_kept(store: PostgresStore) -> None:
    fill(store, {"a.md": "heron"})

    def break_off(writer: Writer) -> None:
        number = live(writer)
        writer.put_note(number, note("b.md"), [passage("egret")])
        writer.commit()
        writer.put_note(number, note("c.md"), [passage("stork")])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), store.writing(OWNER, wait=0) as writer:
        break_off(writer)

    assert ask(store, "heron", "egret", "stork") == ["a.md", "b.md"]


def test_the_live_generation_answers_until_the_next_is_published(
    store: PostgresStore,
) -> None:
    fill(store, {"a.md": "heron"})
    with store.writing(OWNER, wait=0) as writer:
        number = writer.begin_generation("built otherwise")
        writer.put_note(number, note("a.md"), [passage("egret")])
        writer.commit()
        assert ask(store, "heron", "egret") == ["a.md"]
        holding = writer.holding()
        assert (holding.building, holding.building_identity) == (
            number,
            "built otherwise",
        )
        assert holding.identity == "built so"
        writer.publish(number, indexed_at=2)

    with store.snapshot() as snapshot:
        [holding] = snapshot.holdings()
        assert (holding.live, holding.building) == (number, None)
        assert snapshot.frequencies(["heron", "egret"]) == {"egret": 1}
        assert set(snapshot.vocabulary("a", "z")) == {"egret"}


def test_a_note_is_brought_over_with_its_words(store: PostgresStore) -> None:
    fill(store, {"a.md": "heron heron", "b.md": "egret"})
    with store.writing(OWNER, wait=0) as writer:
        before = live(writer)
        [known, _] = writer.notes_of(before)
        number = writer.begin_generation("built otherwise")
        writer.copy_note(before, number, note("a.md", id=known.id, problem="closed"))
        writer.put_note(number, note("c.md"), [passage("stork")])
        writer.publish(number, indexed_at=2)

    with store.snapshot() as snapshot:
        assert set(snapshot.vocabulary("", "z")) == {"heron", "stork"}
        [found] = snapshot.candidates([TermClause(terms=("heron",))], 5)
        [holding] = snapshot.holdings()
    assert (found.text, holding.files, holding.passages) == ("heron heron", 1, 2)


def test_members_of_a_space_are_found_together_and_write_apart(
    new_store: NewStore, store: PostgresStore
) -> None:
    fill(store, {"a.md": "heron"})
    fill(new_store(), {"a.md": "heron egret"}, Owner("desktop", "main"))

    with store.snapshot() as snapshot:
        owners = [each.owner for each in snapshot.holdings()]
        assert snapshot.frequencies(["heron"]) == {"heron": 2}
    assert owners == [Owner("desktop", "main"), OWNER]
    assert len(ask(store, "heron")) == 2


def test_spaces_know_nothing_of_one_another(
    new_store: NewStore, store: PostgresStore
) -> None:
    fill(store, {"a.md": "heron"})
    other = new_store(f"{store.location}-other"[:20])
    fill(other, {"b.md": "egret"})

    assert ask(store, "heron", "egret") == ["a.md"]
    assert ask(other, "heron", "egret") == ["b.md"]


def test_a_snapshot_sees_nothing_of_what_is_written_meanwhile(
    new_store: NewStore, store: PostgresStore
) -> None:
    fill(store, {"a.md": "heron"})

    with store.snapshot() as snapshot:
        writer = Thread(target=fill, args=(new_store(), {"a.md": "egret"}))
        writer.start()
        writer.join()
        assert snapshot.frequencies(["heron", "egret"]) == {"heron": 1}
        assert [each.path for each in snapshot.notes()] == ["a.md"]

    assert ask(store, "egret") == ["a.md"]


def test_a_second_writer_is_told_that_one_writes(
    new_store: NewStore, store: PostgresStore
) -> None:
    with (
        store.writing(OWNER, wait=0),
        pytest.raises(BackendFailed) as failed,
        new_store().writing(OWNER, wait=0),
    ):
        pass

    assert failed.value.reason == "busy"


def test_words_written_and_made_are_told_apart(store: PostgresStore) -> None:
    made = PassageRecord(
        start_line=1, end_line=1, piece=False, heading="", length=1, row_length=2,
        digest=b"", text="running", weights={"running": 5, "run": 3},
        unwritten=frozenset({"run"}),
    )  # fmt: skip
    with store.writing(OWNER, wait=0) as writer:
        number = writer.begin_generation("so")
        writer.put_note(number, note("a.md"), [made])
        writer.commit()
        writer.publish(number, indexed_at=1)
    with store.snapshot() as snapshot:
        assert (snapshot.written("running"), snapshot.written("run")) == (True, False)
        assert set(snapshot.vocabulary_with("un")) == {"run", "running"}

    with store.writing(OWNER, wait=0) as writer:
        writer.put_note(live(writer), note("b.md"), [passage("run")])

    with store.snapshot() as snapshot:
        assert snapshot.written("run")
        assert [each.path for each in snapshot.notes_with("run", 1)] == ["a.md"]


def test_common_terms_are_recorded_and_counted_alike(store: PostgresStore) -> None:
    fill(store, {f"{n}.md": "heron" if n % 3 else "heron egret" for n in range(600)})

    with store.snapshot() as snapshot:
        assert snapshot.frequencies(["heron", "egret", "stork"]) == {
            "heron": 600,
            "egret": 200,
        }


def test_names_and_texts_that_are_no_utf8_come_back(store: PostgresStore) -> None:
    fill(store, {"caf\udce9.md": "heron \0 \ud83d"})

    with store.snapshot() as snapshot:
        [found] = snapshot.candidates([TermClause(terms=("heron",))], 5)
    assert (found.path, found.text) == ("caf\udce9.md", "heron \ufffd \ufffd")


def test_passages_come_in_the_order_of_the_notes_that_are_named(
    store: PostgresStore,
) -> None:
    fill(store, {"a.md": "heron", "b.md": "egret", "c.md": "stork"})

    with store.snapshot() as snapshot:
        ids = [each.id for each in snapshot.notes()]
        found = snapshot.passages_of([ids[2], ids[0]], 5)
        assert [each.path for each in found] == ["c.md", "a.md"]
        assert len(snapshot.passages_of(ids, 2)) == 2


def test_without_tables_an_index_is_not_ready(new_store: NewStore) -> None:
    store = new_store(schema="nowhere")

    with pytest.raises(BackendFailed) as failed, store.snapshot():
        pass

    assert failed.value.reason == "not-ready"
