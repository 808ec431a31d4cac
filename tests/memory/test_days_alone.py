"""Questions that ask for days and for nothing else."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from notewell import Filter, SyncMemory, open_memory_sync

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
NOTES = {
    "MEMORY.md": "Long-term facts.\n",
    "memory/2025-03-03.md": "- sold the boat\n",
    "memory/2026-03-03.md": "- dentist at nine\n- paid the plumber\n",
    "memory/2026-03-13.md": "- collected 3 parcels in March\n",
    "memory/2026-11-24.md": "- soup again\n",
    "memory/2026-11-30.md": "- yesterday was long\n",
    "memory/plan.md": "What we did on March 3 was a mistake.\n",
}


@pytest.fixture(scope="module", params=["static", "none"])
def memory(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SyncMemory]:
    root = tmp_path_factory.mktemp("days")
    for path, text in NOTES.items():
        file = root / "notes" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (root / "state").mkdir()
    (root / "state/openclaw.json").write_text(
        '{"agents": {"defaults": {"userTimezone": "UTC"}}}', encoding="utf-8"
    )
    with open_memory_sync(
        workspace=root / "notes",
        environ={"OPENCLAW_STATE_DIR": str(root / "state"), "CI": "1"},
        overrides={
            "agents.defaults.memorySearch.provider": request.param,
        },
    ) as memory:
        yield memory


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("2026-03-03", "memory/2026-03-03.md"),
        ("March 3rd", "memory/2026-03-03.md"),
        ("what did I do on March 3, 2026", "memory/2026-03-03.md"),
        ("3.3.2026", "memory/2026-03-03.md"),
        ("am 3. März 2025", "memory/2025-03-03.md"),
        ("What happened yesterday?", "memory/2026-11-30.md"),
        ("last Tuesday", "memory/2026-11-24.md"),
        ("notes of last week", "memory/2026-11-24.md"),
        ("3月3日", "memory/2026-03-03.md"),
    ],
)
def test_the_log_of_the_day_comes_first(
    memory: SyncMemory, question: str, first: str
) -> None:
    answer = memory.search(question, now=NOW)

    assert answer.results[0].path == first
    scores = [hit.score for hit in answer.results]
    assert scores == sorted(scores, reverse=True)
    assert len({hit.citation for hit in answer.results}) == len(scores)


def test_a_thing_that_is_asked_for_as_well_decides(memory: SyncMemory) -> None:
    answer = memory.search("the mistake of March 3", now=NOW)

    assert answer.results[0].path == "memory/plan.md"


def test_a_filter_holds_for_the_days_too(memory: SyncMemory) -> None:
    chosen = Filter(exclude=("2026-03-03.md",))

    answer = memory.search("March 3rd, 2026", now=NOW, filter=chosen)

    assert "memory/2026-03-03.md" not in {hit.path for hit in answer.results}


def test_a_word_with_a_minus_is_told_to_have_been_looked_for(
    memory: SyncMemory,
) -> None:
    told = memory.search("parcels -March").warnings
    plain = memory.search("parcels - March, 3-4 of them").warnings

    assert "'-March' was looked for as a word" in told[0]
    assert "--without March" in told[0]
    assert plain == ()
