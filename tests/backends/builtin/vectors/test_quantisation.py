"""The first stage of a search: codes, in blocks that are held and written anew."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors import code_tables, in_process, nearest
from notewell.backends.builtin.vectors.in_process import (
    CodeDistances,
    hamming_distances,
    in_words,
)
from notewell.backends.builtin.vectors.quantisation import (
    code_bits,
    encode_rows,
    encode_vector,
)
from notewell.backends.builtin.vectors.sets import VectorSet

if TYPE_CHECKING:
    from tests.backends.builtin.vectors.conftest import Concepts, Meant

NOTES = {f"memory/n{n:02}.md": f"# Note {n}\n\nword{n} text\n" for n in range(30)}
IN_PROCESS = {"store.vector.enabled": False}


@given(dimension=st.integers(1, 300), seed=st.integers(0, 2**32))
def test_distances_are_those_of_the_bits(dimension: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    vectors = chance.standard_normal((7, dimension), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

    codes = encode_rows(vectors)
    words = in_words(codes)
    far = hamming_distances(words, words[:, :1])

    assert codes.shape == (7, code_bits(dimension) // 8)
    rows = [int.from_bytes(row.tobytes()) for row in codes]
    assert far.tolist() == [(rows[0] ^ one).bit_count() for one in rows]
    assert [encode_vector(row.tolist()) for row in vectors] == [
        c.tobytes() for c in codes
    ]


def test_the_nearer_a_vector_the_nearer_its_code() -> None:
    angles = np.linspace(0, 0.8 * np.pi, 16)
    chance = np.random.default_rng(7)
    plane, _ = np.linalg.qr(chance.standard_normal((384, 2)))
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1) @ plane.T

    words = in_words(encode_rows(vectors.astype(np.float32)))

    far = hamming_distances(words, words[:, :1]).tolist()
    assert far == sorted(far)


@given(far=st.lists(st.integers(0, 20)), wanted=st.integers(0, 30))
def test_the_nearest_are_as_many_as_wanted_and_none_is_left_out_that_is_as_near(
    far: list[int], wanted: int
) -> None:
    scan = CodeDistances(np.arange(len(far)), np.array(far, dtype=np.uint16))

    taken = [far[key] for key in scan.nearest(wanted)]

    left = sorted(far)[len(taken) :]
    assert sorted(taken) == sorted(far)[: len(taken)]
    assert len(taken) >= min(wanted, len(far))
    assert not taken or not left or left[0] > max(taken)


def test_vectors_too_long_for_a_code_are_compared_without(
    meant: "Meant", concepts: "Concepts", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest, "ONE_BY_ONE", 0)
    concepts.dimension = 9_000
    meant.notebook.write({**NOTES, "memory/car.md": "my automobile\n"})

    meant.index()

    assert meant.notebook.ask("vehicle").hits[0].path == "memory/car.md"
    [kept] = meant.notebook.engine.status().vectors
    assert kept.search == "sqlite-vec"


def test_a_note_that_came_is_found_by_who_has_read_the_codes_before(
    meant: "Meant", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest, "ONE_BY_ONE", 0)
    meant.notebook.write(NOTES)
    meant.index()
    before = meant.notebook.ask("vehicle", limit=1)

    meant.notebook.write({"memory/car.md": "my automobile\n"})
    meant.index()
    came = meant.notebook.ask("vehicle", limit=1)
    (meant.notebook.root / "memory/car.md").unlink()
    meant.index()
    gone = meant.notebook.ask("vehicle", limit=1)

    assert [hit.path for hit in came.hits] == ["memory/car.md"]
    assert gone.hits == before.hits


def test_a_change_writes_the_blocks_that_it_touches_and_no_others(
    meant: "Meant", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest, "ONE_BY_ONE", 0)
    monkeypatch.setattr(code_tables, "_SPAN", 8)
    meant.has(settings=IN_PROCESS)
    meant.notebook.write(NOTES)
    meant.index()
    before = marks(meant.notebook.index)

    meant.notebook.write({"memory/n00.md": "my automobile\n"})
    meant.index()

    after = marks(meant.notebook.index)
    assert len(before) == len(after) == 4
    assert [n for n in before if after[n] != before[n]] == [0, 3]


def test_codes_that_are_not_held_are_read_again(
    meant: "Meant", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest, "ONE_BY_ONE", 0)
    monkeypatch.setattr(code_tables, "_SPAN", 8)
    meant.has(settings=IN_PROCESS)
    meant.notebook.write(NOTES)
    meant.index()
    held = [meant.notebook.ask("word7") for _ in range(2)]

    monkeypatch.setattr(in_process, "_HELD", 100)
    read = [meant.notebook.ask("word7") for _ in range(2)]

    assert held == read


def marks(index: Path) -> dict[int, bytes]:
    """Return the mark of each block of the first set."""
    with closing(Store.reader(index)) as store:
        return dict(store.rows(f"select number, mark from {VectorSet(1, 0).blocks}"))
