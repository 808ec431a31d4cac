"""What the globs of the configuration mean; QMD itself is asked in `backends/qmd`."""

import pytest

from notewell.globs import compile_globs


@pytest.mark.parametrize(
    ("glob", "meant", "others"),
    [
        ("*.md", ["a.md"], ["a/b.md", "a.txt"]),
        ("**/*.md", ["a.md", "a/b/c.md"], ["a.txt"]),
        ("a/**", ["a/b.md", "a/b/c.md"], ["b/a.md"]),
        ("a?.md", ["ab.md"], ["a.md", "a/.md", "abc.md"]),
        ("[a-c].md", ["b.md"], ["d.md", "[a-c].md"]),
        ("[!a-c].md", ["d.md"], ["b.md", "/.md"]),
        ("[[:digit:]].md", ["7.md"], ["x.md"]),
        ("{a,b/c}.md", ["a.md", "b/c.md"], ["c.md"]),
        ("{1..3}.md", ["1.md", "3.md"], ["4.md", "0.md"]),
        ("{01..10..3}.md", ["01.md", "07.md"], ["1.md", "02.md"]),
        ("@(a|b).md", ["a.md", "b.md"], ["ab.md", ".md"]),
        ("+(a|b).md", ["a.md", "abba.md"], [".md"]),
        ("!(a).md", ["b.md"], ["a.md", "ab.md"]),  # as picomatch has it
        (r"\*.md", ["*.md"], ["a.md"]),
        ("./a//b.md", ["a/b.md"], ["a//b.md"]),
    ],
)
def test_a_glob_means_these_files_and_no_others(
    glob: str, meant: list[str], others: list[str]
) -> None:
    means = compile_globs([glob])

    assert list(filter(means, [*meant, *others])) == meant


def test_a_negation_counts_only_where_it_is_allowed() -> None:
    globs = ["**/*.md", "!old/**"]

    assert [
        compile_globs(globs, negations=True)(path) for path in ("a.md", "old/a.md")
    ] == [
        True,
        False,
    ]
    assert compile_globs(globs)("old/a.md")


@pytest.mark.parametrize("glob", ["{1..9999}.md", "{1..50}{1..50}.md", "[z-a].md"])
def test_a_glob_that_makes_no_sense_means_no_file(glob: str) -> None:
    means = compile_globs([glob, "*.md"])

    assert not any(map(means, ["a.md", "1.md", glob]))
