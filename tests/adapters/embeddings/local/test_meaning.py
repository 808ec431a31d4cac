"""A real English model, from the notes to the answers: heard, and not heard too much."""

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from notewell import SyncMemory, open_memory_sync

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("transformers")

ENGLISH = {
    "bill": "Paid the electricity bill, 84 euros, on the last possible day.",
    "dentist": "The dentist moved the appointment to Thursday at nine in the morning.",
    "tap": "Fixed the leaking tap in the kitchen with a new washer from the shop.",
    "licence": "Tom passed his driving test on the second try and was very relieved.",
    "router": "The router password is on the sticker underneath, next to the serial number.",
    "flights": "Booked flights to Lisbon for the second week of May, window seats.",
    "shoes": "Ordered new running shoes, size 43, from the outlet near the station.",
    "cat": "The cat refuses the new food, so we went back to the old brand.",
    "deploy": "Deployed version 2.3 of the billing service to production without trouble.",
    "grandma": "Grandma turned eighty and we gave her a photo book with all the cousins.",
    "gateway": "The machine running the gateway stands in the basement, behind the boiler.",
}
JAPANESE = {
    "kagi": "倉庫の鍵は三番目の引き出しにあります。予備の鍵は山田さんが持っています。",
    "kaigi": "来週の会議は水曜日の午後二時からです。議題は新しい配送料の見直しです。",
    "neko": "猫の予防接種は四月十日に済ませました。次の接種は来年の春です。",
    "ryoko": "京都への旅行は二泊三日で、宿は駅の近くの小さな旅館を予約しました。",
    "denki": "電気料金の支払いは毎月二十五日に口座から引き落とされます。",
    "gakko": "学校の面談は金曜日に変更になりました。先生に電話で確認済みです。",
    "byoin": "病院の予約は木曜日の朝九時です。保険証を忘れないようにしてください。",
    "niwa": "庭の桜の木は冬の間に枝を切りました。来年はもっと咲くはずです。",
    "kuruma": "車の点検は整備工場に頼みました。費用は三万円ぐらいの見込みです。",
    "tosho": "図書館で借りた本の返却期限は今月の末日です。延長は一度だけできます。",
}


@pytest.fixture(scope="module")
def memories(
    model_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> "Generator[Callable[[str], SyncMemory]]":
    """Opens a memory of these notes by a provider."""
    base = tmp_path_factory.mktemp("meaning")
    for name, text in (ENGLISH | JAPANESE).items():
        note = base / "notes" / "memory" / f"{name}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(f"{text}\n", encoding="utf-8")
    opened: dict[str, SyncMemory] = {}

    def open_by(provider: str) -> SyncMemory:
        if provider not in opened:
            opened[provider] = open_memory_sync(
                workspace=base / "notes",
                environ={"HOME": str(base), "OPENCLAW_STATE_DIR": str(base / provider)},
                overrides={
                    "agents.defaults.memorySearch.provider": provider,
                    "agents.defaults.memorySearch.model": str(model_folder),
                },
            ).__enter__()
            opened[provider].refresh()
        return opened[provider]

    yield open_by
    for memory in opened.values():
        memory.__exit__(None, None, None)


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("feline", "cat"),
        ("sneakers", "shoes"),
        ("wifi login", "router"),
        ("holiday in Portugal", "flights"),
        ("Mac Studio gateway host", "gateway"),
        ("what did the elderly relative receive for her birthday", "grandma"),
        ("when do I see someone about my teeth", "dentist"),
    ],
)
def test_what_shares_no_word_with_its_answer_is_found_first(
    memories: "Callable[[str], SyncMemory]", query: str, note: str
) -> None:
    found = memories("sentence-transformers").search(query)

    assert found.mode == "hybrid"
    assert found.results[0].path == f"memory/{note}.md"


@pytest.mark.parametrize("query", ["zxqv bloopty", "9f8e7d6c5b4a3f2e", "QX-5512-K"])
def test_what_means_nothing_is_not_found(
    memories: "Callable[[str], SyncMemory]", query: str
) -> None:
    assert memories("sentence-transformers").search(query).reason == "no-match"


@pytest.mark.parametrize(
    "query",
    [
        "倉庫の鍵はどこですか",
        "次の会議はいつですか",
        "猫の予防接種はいつでしたか",
        "京都の宿はどこを予約しましたか",
        "病院の予約は何時ですか",
        "本の返却期限はいつまでですか",
    ],
)
def test_an_english_model_does_not_outvote_japanese_words(
    memories: "Callable[[str], SyncMemory]", query: str
) -> None:
    words = memories("none").search(query).results
    both = memories("sentence-transformers").search(query).results

    assert both[0].path == words[0].path
