"""The value of a filter: its words, its days, its globs."""

from collections.abc import Mapping
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.errors import UsageError
from notewell.filters import Filter, glob_key, glob_pattern, literal_runs, read_filter

TODAY = date(2026, 12, 1)


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("memory/*.md", "memory/a.md", True),
        ("memory/*.md", "memory/x/a.md", False),
        ("*.md", "memory/x/a.md", True),
        ("memory/**/b.md", "memory/b.md", True),
        ("memory/**/b.md", "memory/x/y/b.md", True),
        ("**/c", "a/b/c/x.md", True),
        ("/x", "y/x", False),
        ("/x", "x/a.md", True),
        ("memory/projects/", "memory/projects/a.md", True),
        ("memory/projects/", "memory/projects", False),
        ("projects", "a/PROJECTS/b.md", True),
        ("projects", "a/projects2/b.md", False),
        ("**", "a.md", True),
        ("[ab].md", "x/b.md", True),
        ("[!ab].md", "x/b.md", False),
        (r"a\*.md", "a*.md", True),
        (r"a\*.md", "ab.md", False),
        ("2026-0?-*", "memory/2026-03-01-x.md", True),
        ("*a*b*", "xxaxxbxx", True),
        ("*ab", "xabab", True),
        ("../team/**", "../team/x.md", True),
        ("[", "a/[", True),
        ("Café*", "x/cafe\u0301-x.md", True),
        ("./memory/a.md", "memory/a.md", True),
        ("People/Rosa Diaz", "people/rosa diaz.md", True),
        ("rosa diaz", "people/Rosa Diaz.markdown", True),
        ("People/Rosa", "people/rosa diaz.md", False),
    ],
)
def test_a_glob_means_what_it_means_in_a_gitignore(
    glob: str, path: str, matches: bool
) -> None:
    assert (glob_pattern(glob).match(glob_key(path)) is not None) == matches


@given(st.text("ab*?[]/\\.!", min_size=1, max_size=12), st.text("ab/.", max_size=12))
def test_what_a_glob_matches_holds_its_plain_signs_in_order(
    glob: str, path: str
) -> None:
    try:
        Filter(paths=(glob,))
    except UsageError:
        return
    if not glob_pattern(glob).match(glob_key(path)):
        return

    at = 0
    for run in literal_runs(glob):
        at = glob_key(path).index(run, at) + len(run)


def test_a_glob_of_many_stars_takes_no_longer_than_its_path() -> None:
    pattern = glob_pattern("*a" * 40 + "b")

    assert pattern.match("a" * 4000) is None


@pytest.mark.parametrize(
    ("words", "since", "until"),
    [
        ({"on": "2026-03-03"}, date(2026, 3, 3), date(2026, 3, 3)),
        ({"on": "2026-03"}, date(2026, 3, 1), date(2026, 3, 31)),
        ({"on": "yesterday"}, date(2026, 11, 30), date(2026, 11, 30)),
        ({"since": "7d"}, date(2026, 11, 24), None),
        ({"since": "2026-02", "until": "2026-02"}, date(2026, 2, 1), date(2026, 2, 28)),
        ({"since": "2026", "on": "2026-03"}, date(2026, 3, 1), date(2026, 3, 31)),
        ({"until": date(2026, 5, 1)}, None, date(2026, 5, 1)),
    ],
)
def test_days_are_read_in_every_form(
    words: Mapping[str, object], since: date | None, until: date | None
) -> None:
    chosen = read_filter(words, TODAY)

    assert (chosen.since, chosen.until) == (since, until)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"since": "bogus"}, "2026-03-03, 2026-03"),
        ({"on": 3}, "a text"),
        ({"since": "2026-04", "until": "2026-03-01"}, "`since` comes before `until`"),
        ({"where": "status"}, "KEY=VALUE"),
        ({"where": {"status": [1, ("x",)]}}, "a text"),
        ({"path": "!x"}, "`exclude`"),
        ({"path": "  "}, "not empty"),
        ({"path": "**/**/**/**/**/x"}, "a glob"),
        ({"tag": ["#"]}, "a tag"),
        ({"phrase": ["x" * 2000]}, "at most 1,000"),
        ({"source": "notes"}, "memory or sessions"),
        ({"sinse": "7d"}, "it has path, exclude, since"),
        ({"tag": {"a": 1}}, "a list of texts"),
    ],
)
def test_a_value_that_makes_no_sense_names_what_is_accepted(
    words: Mapping[str, object], said: str
) -> None:
    with pytest.raises(UsageError) as refused:
        read_filter(words, TODAY)

    assert said in refused.value.with_remedy


def test_json_and_options_say_the_same() -> None:
    of_json = read_filter(
        {"path": ["a"], "where": {"status": "open", "n": 5, "done": True}, "tags": "x"},
        TODAY,
    )
    of_options = read_filter(
        {"path": "a", "where": ["status=open", "n=5", "done=true"], "tag": ["x"]}, TODAY
    )

    assert of_json == of_options
    assert not read_filter({"path": None, "tag": []}, TODAY).narrows
