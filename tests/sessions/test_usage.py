"""How full a context is, by the end of a transcript."""

import json
from pathlib import Path

import pytest

from notewell.sessions import usage
from notewell.sessions.usage import context_use


def written(tmp_path: Path, *records: object) -> Path:
    file = tmp_path / "session.jsonl"
    rows = [json.dumps(each, separators=(",", ":")) for each in records]
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return file


def answer(tokens: int, **more: object) -> dict[str, object]:
    counts = {"input_tokens": 1, "cache_read_input_tokens": tokens - 3}
    usage = {**counts, "cache_creation_input_tokens": 1, "output_tokens": 1}
    return {
        "type": "assistant",
        "message": {"role": "assistant", "usage": usage},
        **more,
    }


def counted(tokens: int) -> dict[str, object]:
    total = {"total_tokens": 10**7}
    info = {"total_token_usage": total, "last_token_usage": {"total_tokens": tokens}}
    payload = {"type": "token_count", "info": {**info, "model_context_window": 272_000}}
    return {"type": "event_msg", "payload": payload}


BOUNDARY = {"type": "system", "subtype": "compact_boundary", "content": "Compacted"}
COMPACTED = {"timestamp": "x", "type": "compacted", "payload": {"message": "summary"}}
PROMPT = {"type": "user", "message": {"role": "user", "content": "go on"}}


@pytest.mark.parametrize(
    ("records", "tokens", "window", "compactions"),
    [
        ([answer(100), answer(500), PROMPT], 500, None, 0),
        ([answer(500), answer(9, isSidechain=True)], 500, None, 0),
        ([answer(500), BOUNDARY], None, None, 1),
        ([BOUNDARY, answer(500), BOUNDARY, answer(70)], 70, None, 2),
        ([counted(900), counted(1_000)], 1_000, 272_000, 0),
        ([counted(900), COMPACTED, PROMPT], None, None, 1),
        (
            [{"type": "x", "payload": {"type": "token_count", "info": None}}],
            None,
            None,
            0,
        ),
        (
            [{"type": "user", "message": {"content": json.dumps(BOUNDARY)}}],
            None,
            None,
            0,
        ),
        ([], None, None, 0),
    ],
)
def test_the_last_count_since_a_compaction_tells(
    tmp_path: Path,
    records: list[object],
    tokens: int | None,
    window: int | None,
    compactions: int,
) -> None:
    use = context_use(written(tmp_path, *records))

    assert (use.tokens, use.window, use.compactions) == (tokens, window, compactions)


@pytest.mark.parametrize("block", [1, 7, 64])
def test_compactions_are_counted_once_wherever_a_block_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    file = written(tmp_path, BOUNDARY, PROMPT, COMPACTED, BOUNDARY)
    monkeypatch.setattr(usage, "_BLOCK", block)

    assert context_use(file).compactions == 3


def test_a_torn_last_line_and_a_giant_one_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "_TAIL", 2_000)
    file = written(tmp_path, {"a": "x" * 5_000}, PROMPT, answer(500))
    with file.open("a", encoding="utf-8") as opened:
        opened.write('{"type":"assistant","message":{"usage":{"input_tok')

    use = context_use(file)

    assert use.tokens == 500
    assert use.asked is not None
    assert use.asked.text == "go on"
