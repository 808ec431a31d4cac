"""What agents have in hand leads to the note that they mean, and never out."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import TypeAlias

import pytest

from notewell.errors import PathRefused
from notewell.types import Document
from notewell.workspace import NameAids, NamedNote, Workspace, get_document
from notewell.workspace.finding import NO_AIDS
from notewell.workspace.names import GivenNames, linked_notes, nearest_names

Lay: TypeAlias = Callable[[Mapping[str, str]], Path]

PERSONAL = frozenset({"MEMORY.md", "USER.md", "DREAMS.md"})
FORMS: Sequence[str] = (
    "{}",
    "{}.md",
    "{}.MD",
    "[[{}]]",
    "![[{}|shown]]",
    "[[{}#Heading]]",
    "{}#Heading",
    "{}.md#L1-L2",
    "{}.md:1",
    "{}.md, lines 1 to 2, score 0.50",
    "[shown]({}.md)",
    "[shown](<{}.md> 'title')",
    "`{}.md`",
    "Source: {}.md#L1",
    "memory:{}.md",
    " {}.md ",
)
"""How an agent may name a note, around its path without the suffix."""


@pytest.fixture
def notes(lay: Lay) -> Workspace:
    root = lay(
        {
            "MEMORY.md": "---\ntitle: Private facts\n---\n# Heading\nsecret\n",
            "USER.md": "secret\n",
            "DREAMS.md": "secret\n",
            "memory/2026-03-03.md": "# Day\nlog\n",
            "memory/2026-03-04-call.md": "call\n",
            "memory/Tide pool.md": "# One\nintro\n## Two\nbody\n",
            "memory/area/pump.md": "pump\n",
            "memory/other/pump.md": "pump\n",
            "memory/v1.2.md": "version\n",
        }
    )
    return Workspace(root=root)


def in_group(notes: Workspace, path: str, aids: NameAids = NO_AIDS) -> Document:
    return get_document(notes, path, hidden=PERSONAL.__contains__, aids=aids)


def outcome(got: Callable[[], Document]) -> tuple[str, tuple[str, ...]]:
    """Return what a document or its refusal says, and the names in it."""
    try:
        document = got()
    except PathRefused as refused:
        return refused.message, ()
    assert document.found is False
    return document.text, (*document.nearest, *document.candidates)


@pytest.mark.parametrize(
    ("given", "path", "lines"),
    [
        ("[[Tide pool]]", "memory/Tide pool.md", (1, 4)),
        ("[[tide pool|it]]", "memory/Tide pool.md", (1, 4)),
        ("[[Tide pool#Two]]", "memory/Tide pool.md", (3, 4)),
        ("tide pool#two", "memory/Tide pool.md", (3, 4)),
        ("memory/tide%20pool.md", "memory/Tide pool.md", (1, 4)),
        ("memory/Tide%20pool.md:2-3", "memory/Tide pool.md", (2, 3)),
        ("TIDE POOL.MD:2", "memory/Tide pool.md", (2, 2)),
        ("[it](memory/Tide%20pool.md#two)", "memory/Tide pool.md", (3, 4)),
        ("area/pump", "memory/area/pump.md", (1, 1)),
        ("Area/Pump.md", "memory/area/pump.md", (1, 1)),
        ("v1.2", "memory/v1.2.md", (1, 1)),
        ("[[v1.2]]", "memory/v1.2.md", (1, 1)),
        ("Memory/V1.2.md", "memory/v1.2.md", (1, 1)),
        ("dreams", "DREAMS.md", (1, 1)),
    ],
)
def test_a_note_is_found_by_what_an_agent_has_in_hand(
    notes: Workspace, given: str, path: str, lines: tuple[int, int]
) -> None:
    document = get_document(notes, given)

    assert document.found, document.reason
    assert document.path == path
    assert (document.start_line, document.end_line) == lines


@pytest.mark.parametrize(
    "given",
    [
        *("2026-03-03", "3.3.2026", "2026_03_03", "20260303", "2026/03/03"),
        *("March 3rd, 2026", "Mar 3rd, 2026", "3 March", "2026-03-03 Tuesday"),
        *("[[2026-03-03]]", "[[March 3rd, 2026]]", "yesterday", "1d", "2026年3月3日"),
    ],
)
def test_a_day_means_its_log(notes: Workspace, given: str) -> None:
    aids = NameAids(today=lambda: date(2026, 3, 4))

    document = get_document(notes, given, aids=aids)

    assert document.path == "memory/2026-03-03.md"


def test_a_day_without_a_log_means_its_other_note(notes: Workspace) -> None:
    assert get_document(notes, "4.3.2026").path == "memory/2026-03-04-call.md"


def test_in_a_vault_a_day_means_the_note_that_is_called_so(lay: Lay) -> None:
    root = lay({"journals/2026_03_03.md": "log", "2026-03-03 call.md": "call"})

    for given in ("2026-03-03", "March 3rd, 2026", "[[Mar 3rd, 2026]]"):
        assert get_document(Workspace(root=root), given).text == "log", given


@pytest.mark.parametrize("suffix", ["md", "Md", "markdown"])
def test_a_day_means_its_log_whatever_the_suffix(lay: Lay, suffix: str) -> None:
    log, call = f"logs/March 3rd, 2026.{suffix}", f"2026-03-03 call.{suffix}"
    root = lay({log: "log", call: "call"})

    assert get_document(Workspace(root=root), "3.3.2026").path == log


@pytest.mark.parametrize("suffix", ["md", "Md", "markdown"])
def test_a_name_in_the_same_case_is_taken_whatever_the_suffix(
    lay: Lay, suffix: str
) -> None:
    root = lay({f"a/Pump.{suffix}": "as asked", f"b/pump.{suffix}": "other"})

    assert get_document(Workspace(root=root), "Pump").text == "as asked"


@pytest.mark.parametrize(
    "given", ["report of 2026-03-03", "March 2026", "2026", "last May"]
)
def test_what_is_more_or_less_than_a_day_means_no_log(
    notes: Workspace, given: str
) -> None:
    assert get_document(notes, given).found is False


def test_an_exact_path_wins_over_every_other_reading(lay: Lay) -> None:
    root = lay(
        {
            "a#b.md": "literal",
            "a.md": "# b\nother",
            "c%20d.md": "literal",
            "c d.md": "other",
            "E.md": "upper",
            "e.md": "literal",
            "[[f]].md": "literal",
            "f.md": "other",
            "2026-03-03.md": "literal",
            "sub/2026-03-03.md": "other",
            "g.md": "literal",
            "h.md": "---\ntitle: g\n---\n",
        }
    )
    if len(list(root.iterdir())) != 12:
        pytest.skip("this disk takes names in two cases for one")
    workspace = Workspace(root=root)
    aids = NameAids(titles=lambda: [NamedNote("h.md", "g")])

    for given in ("a#b", "c%20d.md", "e", "[[f]]", "2026-03-03", "g"):
        assert get_document(workspace, given, aids=aids).text == "literal", given


def test_of_several_notes_with_the_name_none_is_taken(notes: Workspace) -> None:
    for given in ("pump", "[[Pump]]", "pump.md#L1", "PUMP#x"):
        document = get_document(notes, given)

        assert (document.found, document.text) == (False, "")
        assert document.candidates == ("memory/area/pump.md", "memory/other/pump.md")
        assert "several notes" in (document.reason or "")


def test_a_title_or_an_alias_is_a_name(notes: Workspace) -> None:
    titles = [
        NamedNote("memory/v1.2.md", "The Release"),
        NamedNote("memory/area/pump.md", "AC/DC: back"),
    ]
    indexed = NameAids(indexed=lambda: GivenNames(titles))
    read = NameAids(titles=lambda: titles)

    for aids in (indexed, read):
        for given in ("the release", "[[The Release]]", "The  Release#x"):
            assert get_document(notes, given, aids=aids).path in (
                "memory/v1.2.md",
                "The  Release.md",
            )
        assert get_document(notes, "AC/DC: back", aids=aids).text == "pump"


def test_a_name_that_only_the_disk_knows_is_found_beside_an_index(
    notes: Workspace,
) -> None:
    aids = NameAids(indexed=lambda: GivenNames([NamedNote("memory/gone.md")]))

    assert get_document(notes, "[[v1.2]]", aids=aids).found
    assert get_document(notes, "[[gone]]", aids=aids).found is False


def test_an_index_is_not_asked_for_a_path_that_is_there(notes: Workspace) -> None:
    def fail() -> None:
        raise AssertionError

    aids = NameAids(indexed=fail, titles=fail, today=fail)  # type: ignore[arg-type]

    for given in ("memory/v1.2.md", "memory/v1.2", "memory/Tide pool#Two", "MEMORY.md"):
        assert get_document(notes, given, aids=aids).found


def test_of_a_name_that_is_not_there_the_nearest_are_told(notes: Workspace) -> None:
    document = get_document(notes, "memory/Tide poll.md")

    assert (document.found, document.text, document.reason) == (False, "", "not-found")
    assert document.nearest[0] == "memory/Tide pool.md"
    assert get_document(notes, "quite something else").nearest == ()
    assert len(get_document(notes, "pum").nearest) <= 3


def test_the_nearest_names_are_found_among_many() -> None:
    many = [NamedNote(f"memory/topic-{n:05}.md") for n in range(20_000)]

    assert nearest_names("memory/topc-00042", many)[0] == "memory/topic-00042.md"
    assert nearest_names("x" * 100_000, many) == []


# What is closed, by every form


@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret",
        "memory/../../outside/secret",
        "..%2foutside%2fsecret",
        "%2e%2e/outside/secret",
        "memory/link/secret",
        "memory/bad",
        "{outside}/secret",
        "file://{outside}/secret",
        "~/secret",
        "..\\outside\\secret",
        "C:\\outside\\secret",
        ".git/secret",
        "memory/.hidden",
    ],
)
def test_no_form_leads_out_of_the_workspace(
    notes: Workspace, tmp_path: Path, path: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for folder in (outside, notes.root / ".git"):
        folder.mkdir(exist_ok=True)
        (folder / "secret.md").write_text("SECRET\nSECRET\n", encoding="utf-8")
    (notes.root / "memory" / ".hidden.md").write_text("SECRET", encoding="utf-8")
    (notes.root / "memory" / "link").symlink_to(outside)
    (notes.root / "memory" / "bad.md").symlink_to(outside / "secret.md")

    for form in FORMS:
        given = form.format(path.replace("{outside}", str(outside)))
        said, named = outcome(partial(get_document, notes, given))

        assert "SECRET" not in said, given
        assert not {"secret", "bad", ".hidden"} & {
            name.rpartition("/")[2].removesuffix(".md") for name in named
        }, given


@pytest.mark.parametrize("name", ["MEMORY", "memory", "USER", "User", "DREAMS"])
def test_in_a_group_nobody_gets_the_personal_notes_by_any_form(
    notes: Workspace, name: str
) -> None:
    for form in FORMS:
        said, named = outcome(partial(in_group, notes, form.format(name)))

        assert "secret" not in said, form
        assert not PERSONAL & {*named}, form


def test_in_a_group_the_titles_of_personal_notes_lead_nowhere(
    notes: Workspace,
) -> None:
    titles = [NamedNote("MEMORY.md", "Private facts"), NamedNote("MEMORY.md")]
    for aids in (
        NameAids(titles=lambda: titles),
        NameAids(indexed=lambda: GivenNames(titles)),
    ):
        for given in ("Private facts", "[[private facts]]", "Private fact", "MEMORIES"):
            document = in_group(notes, given, aids)

            assert (document.found, document.text) == (False, "")
            assert not PERSONAL & {*document.nearest, *document.candidates}
            assert "Private" not in (document.reason or "")


def test_what_the_settings_leave_out_is_never_suggested(notes: Workspace) -> None:
    def left_out(path: str) -> str | None:
        return "left out" if path.startswith("memory/area/") else None

    pump = get_document(notes, "pump", left_out=left_out)
    near = get_document(notes, "pumq", left_out=left_out)

    assert pump.path == "memory/other/pump.md"
    assert near.nearest == ("memory/other/pump.md",)


def test_a_name_never_means_a_note_in_place_of_one_that_is_closed(lay: Lay) -> None:
    root = lay({"a/x.md": "", "deep/a/x.md": "", ".notewellignore": "/a/\n"})

    with pytest.raises(PathRefused, match="notewellignore"):
        get_document(Workspace(root=root), "a/x.md")


# Which note a link means


@pytest.mark.parametrize(
    ("note", "target", "wiki", "found"),
    [
        ("a.md", "b", True, ["b.md"]),
        ("deep/a.md", "b", True, ["b.md"]),
        ("deep/a.md", "er/c", True, ["deep/er/c.md"]),
        ("deep/a.md", "/b", True, ["b.md"]),
        ("deep/er/a.md", "b", True, ["b.md"]),
        ("deep/er/a.md", "../b", True, ["deep/b.md"]),
        ("a.md", "deep/b.md", False, ["deep/b.md"]),
        ("deep/a.md", "b.md", False, ["deep/b.md"]),
        ("deep/a.md", "../b.md", False, ["b.md"]),
        ("deep/a.md", "../c.md", False, []),
        ("deep/a.md", "er/c", False, ["deep/er/c.md"]),
        ("a.md", "er/c", True, ["deep/er/c.md"]),
        ("a.md", "C", True, ["deep/er/c.md"]),
        ("a.md", "one", True, ["x/one.md", "y/one.md"]),
        ("y/a.md", "one", True, ["y/one.md"]),
        ("y/a.md", "One.md", True, ["y/one.md"]),
        ("a.md", "The Bee", True, ["b.md"]),
        ("a.md", "the bee", False, []),
        ("a.md", "Area/Pump", True, ["pages/Area___Pump.md"]),
        ("a.md", "nothing", True, []),
    ],
)
def test_a_link_means_the_nearest_note_of_its_name(
    note: str, target: str, wiki: bool, found: list[str]
) -> None:
    paths = ["a", "b", "deep/b", "deep/er/c", "x/one", "y/one", "pages/Area___Pump"]
    names = GivenNames(
        [*(NamedNote(f"{path}.md") for path in paths), NamedNote("b.md", "The Bee")]
    )

    assert linked_notes(names, note, target, wiki=wiki) == found
