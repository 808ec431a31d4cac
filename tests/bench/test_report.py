"""What the report says of a run in words."""

from datetime import UTC, datetime
from pathlib import Path

from notewell.bench.contenders import Entrant, Workplace
from notewell.bench.known_items import LEFT_OUT
from notewell.bench.lane import Attempt, Lane
from notewell.bench.metrics import LineRange
from notewell.bench.queries import JudgedQuery
from notewell.bench.report import Measurements, build_report
from notewell.types import Hit, Mode, SearchAnswer
from notewell.workspace import Workspace, scan

QUERIES = [
    JudgedQuery(
        id=f"w{n}", text="heron", category=LEFT_OUT, right=(LineRange("a.md", 1, 1),)
    )
    for n in range(8)
]
HIT = Hit(
    path="a.md", start_line=1, end_line=1, match_line=1, snippet="heron", score=0.5
)


def lane(backend: str, mode: Mode, provider: str | None, *, finds: bool) -> Lane:
    """A contender that answered every query in one way."""
    answer = SearchAnswer(
        query="heron",
        workspace="",
        agent="main",
        results=(HIT,) if finds else (),
        reason=None if finds else "no-match",
        backend=backend,
        requested_backend=backend,
        mode=mode,
        provider=provider,
    )
    entrant = Entrant(label=f"{backend}:{mode}", backend=backend, overrides={})
    made = Lane(entrant, Workplace(notes="", state="", workspace=""), {})
    made.attempts = {query.id: Attempt(answer=answer) for query in QUERIES}
    return made


def test_meaning_is_held_against_the_words_of_the_same_engine(tmp_path: Path) -> None:
    report = build_report(
        Measurements(
            started_at=datetime.now(UTC),
            finished=True,
            workspace="notes",
            scan=scan(Workspace(root=tmp_path)),
            origin="known-item",
            queries_from="the notes",
            limit=20,
            lanes=[
                lane("shelf", "keyword", None, finds=True),
                lane("builtin", "keyword", None, finds=False),
                lane("builtin", "hybrid", "letters", finds=True),
            ],
            queries=QUERIES,
            read=lambda path: ["heron"],
        )
    )

    [remark] = report.remarks
    assert remark.startswith("builtin:hybrid (by letters) finds 8 of 8 places")
    assert remark.endswith("builtin:keyword 0: it pays.")
