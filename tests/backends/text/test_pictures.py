"""Pictures that are written into notes as letters."""

import base64
import random
import string
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.backends.text.chunking import cut_chunks
from notewell.backends.text.pictures import PICTURE_MARK, without_pictures

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook

    from notewell.backends.text.chunking import Chunk

_BYTES = base64.b64encode(random.Random(1).randbytes(3_000)).decode()
_PNG = f"data:image/png;base64,{_BYTES}"
_ROWS = [_BYTES[at : at + 76] for at in range(0, len(_BYTES), 76)]
_DRAWING = (
    "data:image/svg+xml,%3Csvg%20transform='rotate(45)'%3E" + "%3Cpath%20d=''/%3E" * 9
)
_RAW_DRAWING = (
    "data:image/svg+xml;utf8,<svg xmlns='x'>" + "<path d='M 1 2'/>" * 9 + "</svg>"
)


@pytest.mark.parametrize(
    ("note", "left"),
    [
        (f"a ![b]({_PNG}) c", f"a ![b]({PICTURE_MARK}) c"),
        (f'a ![b]({_PNG} "title") c', f'a ![b]({PICTURE_MARK} "title") c'),
        (f'<img alt="b" src="{_PNG}"> c', f'<img alt="b" src="{PICTURE_MARK}"> c'),
        (f"<img src='{_PNG}'>", f"<img src='{PICTURE_MARK}'>"),
        (f"[b]: {_PNG}\nc", f"[b]: {PICTURE_MARK}\nc"),
        (f"[b]: <{_PNG}>", f"[b]: <{PICTURE_MARK}>"),
        (_PNG, PICTURE_MARK),
        (
            _PNG.replace("data:image", "DATA:IMAGE").replace("DATA:", "data:"),
            PICTURE_MARK,
        ),
        (f"{_PNG} and {_PNG}", f"{PICTURE_MARK} and {PICTURE_MARK}"),
        (f'<img src="{_RAW_DRAWING}"> c', f'<img src="{PICTURE_MARK}"> c'),
        (f"![b]({_DRAWING.replace(chr(39), '')})c", f"![b]({PICTURE_MARK})c"),
        (f"key {_BYTES} end", f"key {PICTURE_MARK} end"),
        (f"dump {_BYTES.encode().hex()}", f"dump {PICTURE_MARK}"),
        (
            "\n".join(["see", *_ROWS, "end"]),
            "\n".join(["see", *[PICTURE_MARK] * len(_ROWS), "end"]),
        ),
        (
            "\n".join(
                [f'<img src="data:image/png;base64,{_ROWS[0]}', *_ROWS[1:3], 'Ab=">c']
            ),
            "\n".join(
                [
                    f'<img src="{PICTURE_MARK}',
                    PICTURE_MARK,
                    PICTURE_MARK,
                    f'{PICTURE_MARK}">c',
                ]
            ),
        ),
        (
            "\n".join(
                ["-----BEGIN CERTIFICATE-----", *_ROWS[:3], "-----END CERTIFICATE-----"]
            ),
            "\n".join(
                [
                    "-----BEGIN CERTIFICATE-----",
                    *[PICTURE_MARK] * 3,
                    "-----END CERTIFICATE-----",
                ]
            ),
        ),
    ],
)
def test_a_mark_stands_for_a_picture_and_the_lines_stay(note: str, left: str) -> None:
    shown = without_pictures(note.split("\n"))

    assert "\n".join(shown) == left


@pytest.mark.parametrize(
    "line",
    [
        "data:image/png;base64,iVBORw0KGgo",
        "Write the data: it matters, base64 or not.",
        "x" * 2_000,
        "-" * 700,
        "word " * 400,
        "https://example.org/" + "/".join(f"part{n}" for n in range(300)),
        "eyJhbGciOiJIUzI1NiJ9." * 3 + "a" * 43,
        "数据库" * 500,
        " ".join(f"{n:064x}" for n in range(40)),
    ],
)
def test_what_people_write_stays(line: str) -> None:
    assert without_pictures([line]) == [line]


def test_a_list_of_hashes_or_keys_stays() -> None:
    hashes = ["%064x" % (n * 7**70) for n in range(40)]
    keys = [
        "".join(random.Random(n).choices(string.ascii_letters, k=40)) for n in range(12)
    ]

    assert without_pictures(hashes) == hashes
    assert without_pictures(keys) == keys


@given(st.lists(st.sampled_from(["", "kiwi", _PNG, f"a {_PNG} b", "# c", *_ROWS[:2]])))
def test_there_are_as_many_lines_as_before_and_every_word_stays(
    lines: list[str],
) -> None:
    shown = without_pictures(lines)

    assert len(shown) == len(lines)
    for line, left in zip(lines, shown, strict=True):
        if len(line) < 40:
            assert left == line
    assert not any(_BYTES[:70] in chunk.text for chunk in _chunks(lines))


def _chunks(lines: list[str]) -> "list[Chunk]":
    return cut_chunks(
        [line for line in lines if line not in _ROWS], tokens=40, overlap=8
    )


def test_a_note_of_pictures_alone_has_no_chunk() -> None:
    assert cut_chunks([_PNG, "", _PNG], tokens=400, overlap=80) == []


@pytest.mark.parametrize("word", ["north", "photo", "lake", "sunset"])
def test_a_hit_beside_a_picture_shows_the_note_as_it_is(
    notebook: "Notebook", word: str
) -> None:
    note = f"# Trip\n\nWe drove north.\n\n![photo]({_PNG}) of the sunset\n\nLunch by the lake.\n"
    notebook.write({"memory/trip.md": note, "memory/other.md": "ip\n"})

    report = notebook.refresh()

    [hit] = notebook.ask(word).hits  # which holds the snippet against the file
    assert word in hit.snippet
    assert hit.snippet_line is not None
    assert (
        note.split("\n")[hit.snippet_line - 1] in f"{hit.snippet}\n" or word == "sunset"
    )
    assert (report.chunks, hit.start_line, hit.end_line) == (2, 1, 7)
    (notebook.root / "memory/trip.md").write_text(f"new\n{note}", encoding="utf-8")
    [moved] = notebook.ask(word).hits  # before it is indexed again
    assert (moved.start_line, moved.match_line) == (2, hit.match_line + 1)
