"""Where a folder has its daily notes: its program's settings, or the names that are there."""

import json
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.dates import day_in_name
from notewell.workspace import Workspace
from notewell.workspace.daily_format import daily_format, pattern_problem, written_day
from notewell.workspace.days import daily_note, notes_of_day

Lay: TypeAlias = Callable[[Mapping[str, str]], Path]

DAY = date(2026, 3, 1)  # a Sunday
CORE = ".obsidian/daily-notes.json"
PLUGIN = ".obsidian/plugins/periodic-notes/data.json"


def path_of(root: Path, *, daily_notes: str | None = None) -> str | None:
    form = daily_format(Workspace(root=root, daily_notes=daily_notes))
    return form and form.path_of(DAY)


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        ("memory/YYYY-MM-DD", "memory/2026-03-01"),
        ("Daily/MMMM Do, YYYY", "Daily/March 1st, 2026"),
        ("YYYY/MM/YYYY-MM-DD dddd", "2026/03/2026-03-01 Sunday"),
        ("[Day] D.M.YY", "Day 1.3.26"),
        ("YYYYMMDD", "20260301"),
        ("YYYY年M月D日", "2026年3月1日"),
        ("Diary/ddd D MMM YYYY", "Diary/Sun 1 Mar 2026"),
    ],
)
def test_a_day_is_written_as_the_pattern_says(pattern: str, written: str) -> None:
    assert written_day(pattern, DAY) == written
    assert pattern_problem(pattern) is None


@pytest.mark.parametrize(
    "pattern",
    [
        "MM-DD",
        "Daily",
        "../YYYY-MM-DD",
        "/x/YYYY-MM-DD",
        "a\x00/YYYY-MM-DD",
        "a\n/YYYY-MM-DD",
        "a\ud800/YYYY-MM-DD",
        "a//YYYY-MM-DD",
    ],
)
def test_what_is_no_place_for_daily_notes_is_told(pattern: str) -> None:
    assert pattern_problem(pattern) is not None


@pytest.mark.parametrize(
    ("files", "path"),
    [
        ({"MEMORY.md": ""}, "memory/2026-03-01.md"),
        ({CORE: json.dumps({"folder": "Daily", "format": ""})}, "Daily/2026-03-01.md"),
        ({CORE: "{}"}, "2026-03-01.md"),
        (
            {CORE: json.dumps({"folder": "/a/b/", "format": "YYYY/MMMM/Do"})},
            "a/b/2026/March/1st.md",
        ),
        (
            {PLUGIN: json.dumps({"daily": {"folder": "D", "format": "DD.MM.YYYY"}})},
            "D/01.03.2026.md",
        ),
        (
            {
                PLUGIN: json.dumps({"daily": {"enabled": False, "folder": "No"}}),
                CORE: json.dumps({"folder": "Yes"}),
            },
            "Yes/2026-03-01.md",
        ),
        ({"logseq/config.edn": "{:meta/version 1}"}, "journals/2026_03_01.md"),
        (
            {
                "logseq/config.edn": '{;; :journal/file-name-format "no"\n'
                ':journal/file-name-format "EEE, MMM do, yyyy" ; yes\n'
                ':journals-directory "diary"}'
            },
            "diary/Sun, Mar 1st, 2026.md",
        ),
        ({CORE: "no json"}, None),
        ({CORE: json.dumps({"folder": "../out"})}, None),
        ({"a.md": "", "b.md": "", "2026-01-01.md": ""}, None),
    ],
)
def test_the_folders_own_settings_say_where_daily_notes_are(
    lay: Lay, files: dict[str, str], path: str | None
) -> None:
    assert path_of(lay(files)) == path


@pytest.mark.parametrize("suffix", ["md", "MD", "markdown"])
@pytest.mark.parametrize(
    "pattern",
    [
        "YYYY-MM-DD",
        "Diary/YYYY_MM_DD",
        "Journal/YYYY/MM/DD",
        "J/YYYY/MM-MMMM/YYYY-MM-DD-dddd",
        "Daily/MMM Do, YYYY",
        "Tagebuch/DD.MM.YYYY",
        "日記/YYYY年M月D日",
    ],
)
def test_else_the_form_of_most_names_counts(
    lay: Lay, pattern: str, suffix: str
) -> None:
    days = [date(2026, 1, 28) + timedelta(days=n) for n in range(8)]
    notes = {f"{written_day(pattern, day)}.{suffix}": "x" for day in days}

    assert path_of(lay({**notes, "other/2026-01-01.md": "x"})) == (
        f"{written_day(pattern, DAY)}.md"
    )


def test_a_setting_comes_before_the_folders_own(lay: Lay) -> None:
    root = lay({CORE: json.dumps({"folder": "Daily"})})

    assert path_of(root, daily_notes="Log/YYYY-MM-DD") == "Log/2026-03-01.md"


def test_in_a_workspace_daily_notes_stay_in_memory(lay: Lay) -> None:
    root = lay({"MEMORY.md": ""})

    assert path_of(root, daily_notes="Log/YYYY-MM-DD") == "memory/2026-03-01.md"
    assert path_of(root, daily_notes="memory/log/YYYY-MM-DD") == (
        "memory/log/2026-03-01.md"
    )


def test_the_notes_of_a_day_are_found_in_any_language(lay: Lay) -> None:
    root = lay(
        {
            CORE: json.dumps({"folder": "Tag", "format": "D. MMMM YYYY"}),
            "Tag/1. März 2026.md": "x",
            "Tag/2026-03-01 call.md": "x",
            "Tag/2. März 2026.md": "x",
        }
    )

    assert notes_of_day(Workspace(root=root), DAY) == [
        "Tag/1. März 2026.md",
        "Tag/2026-03-01 call.md",
    ]


def test_a_folder_without_a_form_of_its_own_has_the_usual_one(tmp_path: Path) -> None:
    assert daily_note(Workspace(root=tmp_path), DAY) == "memory/2026-03-01.md"


@given(
    pattern=st.sampled_from(
        ["YYYY-MM-DD", "MMMM Do, YYYY", "YYYY_MM_DD", "YYYYMMDD", "D MMMM YYYY"]
    ),
    day=st.dates(min_value=date(1970, 1, 1), max_value=date(2068, 12, 31)),
)
def test_what_a_pattern_writes_is_read_back(pattern: str, day: date) -> None:
    assert day_in_name(f"x/{written_day(pattern, day)}.md") == day


@pytest.mark.parametrize("folder", ["a\x00b", "a\ud800", "a\nb"])
def test_a_folder_that_no_disk_has_is_no_place_and_stops_nothing(
    tmp_path: Path, folder: str
) -> None:
    (tmp_path / ".obsidian").mkdir()
    settings = json.dumps({"folder": folder, "format": "YYYY-MM-DD"})
    (tmp_path / CORE).write_text(settings, encoding="utf-8")

    assert notes_of_day(Workspace(root=tmp_path), DAY) == []
