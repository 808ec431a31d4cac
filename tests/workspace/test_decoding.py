"""From bytes to text: what is read, and what is left alone."""

import codecs
import random
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.workspace import read_note
from notewell.workspace.decoding import NotText, decode, encoding_name

pytest.importorskip("chardetng_py", reason="chardetng_py is not installed")

SENTENCES = {
    "cp1252": "Müller hat Größe, und Jörg überweist am Montag.\n",
    "iso8859_15": "Prix : 5 €, un cœur et une sœur.\n",
    "cp1250": "Zażółć gęślą jaźń, poszły na łąkę.\n",
    "iso8859_2": "Zażółć gęślą jaźń, poszły na łąkę.\n",
    "cp1251": "Встреча в пятницу, пароль лежит в сейфе.\n",
    "koi8_r": "Встреча в пятницу, пароль лежит в сейфе.\n",
    "cp866": "Встреча в пятницу, пароль лежит в сейфе.\n",
    "iso8859_7": "Η συνάντηση είναι την Παρασκευή.\n",
    "cp1254": "Toplantı cuma günü şirkette, çok iyi değil.\n",
    "cp1255": "הפגישה ביום שישי בשעה שלוש\n",
    "cp1256": "الاجتماع يوم الجمعة في الساعة الثالثة\n",
    "cp874": "การประชุมวันศุกร์ที่บ้าน\n",
    "cp932": "京都の旅館の予約は金曜日まで\n",
    "euc_jp": "京都の旅館の予約は金曜日まで\n",
    "iso2022_jp": "京都の旅館の予約は金曜日まで\n",
    "gb18030": "数据库端口分配给芒果\n会议改到周五下午三点\n",
    "big5": "資料庫部署在新加坡\n會議改到週五下午三點\n",
    "cp949": "회의는 금요일로 옮겼다\n오늘 끝말잇기 게임을 했다\n",
    "mac_roman": "Müller hat Größe, und Jörg überweist am Montag.\n",
}


@pytest.mark.parametrize("codec", SENTENCES)
def test_an_older_encoding_is_read_where_it_is_sure(codec: str) -> None:
    text = SENTENCES[codec]

    read = decode(text.encode(codec))

    assert read.text == text
    assert read.guess is not None
    assert read.guess in (read.odd or "")
    assert text.encode(read.codec).decode(codec) == text


@given(st.text(max_size=40))
def test_utf8_is_read_as_it_is(text: str) -> None:
    # Zero bytes, escapes and many control characters may be those of another encoding.
    raw = text.replace("\0", "").encode("utf-8")
    text = text.replace("\0", "").removeprefix("\ufeff")
    if b"\x1b$" not in raw:
        assert decode(raw).text == text


def test_a_byte_order_mark_is_dropped() -> None:
    assert decode(codecs.BOM_UTF8 + "日本".encode()).text == "日本"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize(
    "text",
    ["kiwi\r\n数", "mango plan\n", "数据库 一\n部署\n", "Привет, мир\n", "가나다 라\n"],
)
def test_wide_encodings_are_read_by_their_mark_or_their_zeros(
    codec: str, marked: bool, text: str
) -> None:
    read = decode(("\ufeff" * marked + text).encode(codec))

    assert (read.text, read.guess is None) == (text, marked)
    assert (read.odd or "").startswith(f"read as {codec[:6].upper()}")


@pytest.mark.parametrize("text", ["", "kiwi\r\n数", "\U0001f389", "é"])
def test_utf32_is_not_taken_for_utf16(text: str, tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(f"\ufeff{text}".encode("utf-32-le"))

    note = read_note(file)

    assert (note.text, note.odd) == (text, "read as UTF-32")


@pytest.mark.parametrize(
    "raw",
    [
        random.Random(1).randbytes(4_000),
        random.Random(2).randbytes(64),
        zlib.compress(b"a text that was packed " * 50),
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\x08\6\0\0\0",
        b"\0" * 4_096,
        bytes(range(32)) * 3,
        b"\xff\xfe" + random.Random(3).randbytes(2_000),
        b"\x81\x8d\x8f\x90\x9d" * 20,
    ],
    ids=["random", "short", "zlib", "png", "zeros", "controls", "marked", "unassigned"],
)
def test_what_is_no_text_is_refused_and_never_read_as_rubbish(raw: bytes) -> None:
    with pytest.raises(NotText, match="not text: "):
        decode(raw)


def test_a_note_with_a_damaged_letter_keeps_its_other_words() -> None:
    raw = "Grüße aus Köln, schöne Tage für alle".encode().replace(
        "ö".encode(), b"\xc3", 1
    )

    read = decode(raw)

    assert read.text == "Grüße aus K\ufffdln, schöne Tage für alle"
    assert "UTF-8" in (read.odd or "")


def test_a_long_note_with_a_few_unknown_bytes_is_read() -> None:
    read = decode(b"All of this is plain. " * 40 + b"But \x81 for this \x8d.\n")

    assert read.text.startswith("All of this is plain. ")
    assert read.text.count("\ufffd") == 2


def test_zeros_that_a_crash_left_at_the_end_of_a_note_do_no_harm() -> None:
    assert decode("kiwi and käse\n".encode() + b"\0" * 300).text.startswith(
        "kiwi and käse\n"
    )


def test_a_file_that_is_no_text_says_why_like_any_that_cannot_be_read(
    tmp_path: Path,
) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"\0" * 512)

    with pytest.raises(OSError, match="only zero bytes") as caught:
        read_note(file)

    assert (caught.value.strerror or "").startswith("not text: ")


def test_encodings_have_the_names_that_people_know() -> None:
    assert [encoding_name(each) for each in ("cp932", "koi8_r", "mac_roman")] == [
        "Shift_JIS",
        "KOI8-R",
        "Mac Roman",
    ]
