"""What was said in sessions is found, cited by its lines, and by nobody else."""

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

import pytest

from notewell.backends.base import Query
from notewell.filters import Filter
from notewell.types import Hit, Source

if TYPE_CHECKING:
    from tests.backends.builtin.transcripts.conftest import Talks

HEAD = '{"type": "session", "id": "s1", "version": 3}\n'
TOOL = '{"type": "message", "message": {"role": "toolResult", "content": "walrus"}}\n'


def test_what_was_said_is_found_and_cited_by_its_line_of_the_jsonl(
    talks: "Talks",
) -> None:
    question = talks.said("Where is the walrus?")
    answer = talks.said("It sleeps in basin four.", "assistant")
    talks.write("s1.jsonl", HEAD, TOOL, "{broken\n", question, TOOL, answer)
    talks.refresh()

    [hit] = talks.ask("basin").hits

    assert (hit.path, hit.source) == ("sessions/s1.jsonl", "sessions")
    assert (hit.start_line, hit.end_line, hit.match_line) == (4, 6, 6)
    assert hit.heading == "2026-02-11"
    assert hit.snippet == (
        "User: Where is the walrus?\n\nAssistant: It sleeps in basin four."
    )


def test_what_the_machinery_wrote_is_not_found(talks: "Talks") -> None:
    silent = talks.said("NO_REPLY", "assistant")
    called = talks.said("<tool_call>walrus</tool_call>Done.<|im_end|>", "assistant")
    talks.write("s1.jsonl", HEAD, TOOL, silent, called)
    talks.refresh()

    assert talks.ask("walrus").reason == "no-match"
    assert talks.ask("NO_REPLY").reason == "no-match"
    assert talks.ask("im_end").reason == "no-match"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("a.jsonl", True),
        ("a.jsonl.reset.2026-01-01T04-00-00.000Z", True),
        ("a.jsonl.deleted.2026-01-01T04-00-00.000Z", False),
        ("a.jsonl.bak.1", False),
        ("a.jsonl.reset.md", False),
    ],
)
def test_archives_of_a_reset_are_searched_and_copies_are_not(
    talks: "Talks", name: str, found: bool
) -> None:
    talks.write(name, HEAD, talks.said("The walrus is called Odo."))

    report = talks.refresh()

    assert report.files == found
    assert bool(talks.ask("walrus").hits) == found


def test_a_source_is_searched_alone_however_near_the_other_one_is(
    talks: "Talks",
) -> None:
    talks.note("memory/pool.md", "A long note about basins, and a walrus in passing.\n")
    lines = [talks.said(f"walrus walrus walrus {n}\n" * 40) for n in range(200)]
    talks.write("s1.jsonl", HEAD, *lines)
    talks.refresh()

    [note] = talks.ask("walrus", limit=1, sources=frozenset({"memory"})).hits
    spoken = talks.ask("basins", sources=frozenset({"sessions"}))

    assert note.path == "memory/pool.md"
    assert spoken.reason == "no-match"


def test_a_transcript_that_is_hidden_takes_no_place_from_one_that_is_not(
    talks: "Talks",
) -> None:
    for number in range(60):
        lines = [talks.said(f"walrus {number} {n} " * 120) for n in range(40)]
        talks.write(f"other{number}.jsonl", HEAD, *lines)
    talks.write("own.jsonl", HEAD, talks.said("A long talk about one walrus. " * 3))
    talks.refresh()

    query = Query(
        text="walrus",
        limit=3,
        sources=frozenset({"memory", "sessions"}),
        hides=lambda path: path.startswith("sessions/other"),
    )
    found = talks.engine.search(query)

    assert [hit.path for hit in found.hits] == ["sessions/own.jsonl"]


def test_the_day_of_a_conversation_finds_it(talks: "Talks") -> None:
    talks.write("s1.jsonl", HEAD, talks.said("We spoke of walruses.", day=3))
    talks.refresh()

    [hit] = talks.ask("2026-02-14").hits

    assert hit.heading == "2026-02-14"


def test_a_transcript_that_holds_something_else_now_is_not_cited(
    talks: "Talks",
) -> None:
    talks.write("s1.jsonl", HEAD, talks.said("The walrus is called Odo."))
    talks.refresh()
    talks.write("s1.jsonl", HEAD, talks.said("Nothing of the kind was ever said here."))

    found = talks.ask("walrus")

    assert (found.reason, found.freshness.stale) == ("no-match", True)


def test_without_an_index_notes_are_read_and_transcripts_are_left_out(
    talks: "Talks",
) -> None:
    talks.note("MEMORY.md", "The walrus is called Odo.\n")
    talks.write("s1.jsonl", HEAD, talks.said("The walrus is called Ada."))

    found = talks.ask("walrus")

    assert [hit.path for hit in found.hits] == ["MEMORY.md"]
    assert any("Transcripts" in warning for warning in found.warnings)


def test_a_long_message_is_found_in_each_of_its_parts(talks: "Talks") -> None:
    text = "\n".join(f"Step {n}: rinse basin {n} and log its salt." for n in range(300))
    talks.write("s1.jsonl", HEAD, talks.said(text), talks.said("The walrus is fed."))
    talks.refresh()

    [first, *_] = talks.ask("Step 7:").hits
    [last, *_] = talks.ask("Step 299:").hits

    assert (first.start_line, first.match_line, first.end_line) == (2, 2, 2)
    assert last.match_line == 2


def test_what_was_said_has_the_day_on_which_it_was_said(talks: "Talks") -> None:
    talks.write("s1.jsonl", HEAD, talks.said("The walrus sleeps.", "assistant"))
    talks.refresh()
    day = date(2026, 2, 11)

    def found(text: str, chosen: Filter) -> Sequence[Hit]:
        sources: frozenset[Source] = frozenset({"sessions", "memory"})
        query = Query(text=text, limit=6, sources=sources, filter=chosen)
        return talks.engine.search(query).hits

    for text in ("walrus", ""):
        [hit] = found(text, Filter(since=day, until=day))

        assert (hit.path, hit.date) == ("sessions/s1.jsonl", day)
        assert not found(text, Filter(since=date(2026, 2, 12)))
        assert not found(text, Filter(tags=("walrus",)))
