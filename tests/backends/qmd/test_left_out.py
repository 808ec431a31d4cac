"""What QMD was told to leave out comes back from nobody: whoever answers, and however."""

import json
import random
import subprocess
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from notewell import PathRefused, open_memory_sync
from notewell.backends.base import Findings, Query
from notewell.backends.fallback import FallbackBackend
from notewell.backends.qmd.engine import QmdBackend
from notewell.backends.qmd.globs import compile_glob, portable_pattern

if TYPE_CHECKING:
    from tests.backends.qmd.conftest import Notes

NOWHERE = ["/nowhere/qmd"]
NOTES: Mapping[str, str] = {
    "MEMORY.md": "a heron in the default memory\n",
    "USER.md": "a heron of the user\n",
    "../team/public/x.md": "a heron for all\n数据库 heron/bill~1 in public\n",
    "../team/public/build/x.md": "a heron in a folder that QMD passes over\n",
    "../team/secret/x.md": "a heron in secret\n数据库部署 heron/bill~9 in secret\n",
    "../team/secret.md": "another heron in secret\n",
}
PUBLIC = ["../team/public/x.md"]
EVERYTHING: list[dict[str, str]] = [{"path": "../team"}]

Texts = tuple[str, ...]
Settings = dict[str, Any]
Way = Callable[["Notes", list[str], Texts, Settings], Awaitable[list[Findings]]]


async def answers(
    backend: QmdBackend | FallbackBackend, texts: Texts
) -> list[Findings]:
    """Put every question; close the engine."""
    found = [await backend.search(Query(text=text, limit=9)) for text in texts]
    await backend.close()
    return found


async def by_qmd(
    notes: "Notes", qmd: list[str], texts: Texts, settings: Settings
) -> list[Findings]:
    """Ask QMD alone."""
    backend = await QmdBackend.open(notes.site(qmd, extra=("../team",), **settings))
    await backend.refresh()
    return await answers(backend, texts)


async def by_an_older_index(
    notes: "Notes", qmd: list[str], texts: Texts, settings: Settings
) -> list[Findings]:
    """Ask QMD, whose index was built before anything was to be left out."""
    extra = ("../team",)
    backend = await QmdBackend.open(notes.site(qmd, extra=extra, paths=EVERYTHING))
    await backend.refresh()
    await backend.close()
    backend = await QmdBackend.open(notes.site(qmd, extra=extra, **settings))
    return await answers(backend, texts)


async def with_a_second_opinion(
    notes: "Notes", qmd: list[str], texts: Texts, settings: Settings
) -> list[Findings]:
    """Ask QMD and builtin, which adds what QMD cannot find."""
    pair = await FallbackBackend.open(notes.site(qmd, extra=("../team",), **settings))
    await pair.refresh()
    return await answers(pair, texts)


async def by_builtin_instead(
    notes: "Notes", qmd: list[str], texts: Texts, settings: Settings
) -> list[Findings]:
    """Ask builtin, since there is no QMD."""
    pair = await FallbackBackend.open(
        notes.site(NOWHERE, extra=("../team",), **settings)
    )
    await pair.refresh()
    found = await answers(pair, texts)
    assert {each.backend for each in found} == {"builtin"}
    return found


async def while_there_is_no_index(
    notes: "Notes", qmd: list[str], texts: Texts, settings: Settings
) -> list[Findings]:
    """Ask while the index is still to be built: the notes themselves are read."""
    pair = await FallbackBackend.open(notes.site(qmd, extra=("../team",), **settings))
    found = await answers(pair, texts)
    assert {each.mode for each in found} == {"scan"}
    return found


WAYS = [
    by_qmd,
    by_an_older_index,
    with_a_second_opinion,
    by_builtin_instead,
    while_there_is_no_index,
]


@pytest.mark.parametrize("ask", WAYS)
@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({"includeDefaultMemory": False, "paths": EVERYTHING}, "team"),
        (
            {"paths": [{"path": "../team", "pattern": "public/**/*.md"}]},
            "default and public",
        ),
        (
            {
                "includeDefaultMemory": False,
                "paths": [{"path": "../team", "pattern": "**/*.md,!secret{.md,/**}"}],
            },
            "public",
        ),
        ({"includeDefaultMemory": False, "paths": []}, "all of team"),
    ],
)
async def test_what_is_left_out_comes_back_from_nobody(
    ask: Way,
    settings: Settings,
    shown: str,
    qmd: list[str],
    notes: "Notes",
) -> None:
    (notes.root / "memory" / "a.md").unlink()
    notes.write(NOTES)
    secret = {"../team/secret/x.md", "../team/secret.md"}
    may = {
        "team": {*PUBLIC, *secret},
        "default and public": {"MEMORY.md", *PUBLIC},
        "public": set(PUBLIC),
        "all of team": {*PUBLIC, *secret},
    }[shown]

    asked = await ask(notes, qmd, ("heron", "heron/bill~9", "数据库部署"), settings)

    found, *more = ({hit.path for hit in each.hits} for each in asked)
    assert found == may
    assert all(each <= may for each in more)


@pytest.mark.parametrize("ask", [by_qmd, by_builtin_instead, while_there_is_no_index])
async def test_a_snippet_is_as_short_as_it_was_told_to_be(
    ask: Way,
    qmd: list[str],
    notes: "Notes",
) -> None:
    notes.write({"memory/a.md": "one line of many\n" * 9 + "the heron " * 30})

    [found] = await ask(notes, qmd, ("heron",), {"limits.maxSnippetChars": 40})

    [hit] = found.hits
    assert "heron" in hit.snippet
    assert len(hit.snippet) <= 40


async def test_few_notes_are_found_among_very_many_that_are_left_out(
    notes: "Notes", qmd: list[str]
) -> None:
    notes.write({f"memory/{n}.md": "a heron, a heron, a heron\n" for n in range(3_000)})
    notes.write({"../team/x.md": "and for once some words about a heron at the pond\n"})

    [found] = await by_builtin_instead(
        notes, qmd, ("heron",), {"includeDefaultMemory": False, "paths": EVERYTHING}
    )

    assert [hit.path for hit in found.hits] == ["../team/x.md"]


def test_relative_paths_start_at_the_workspace_wherever_the_file_is(
    tmp_path: Path, qmd: list[str], environ: Mapping[str, str]
) -> None:
    for folder in ("notes/memory", "notes/docs", "team", "state/docs"):
        (tmp_path / folder).mkdir(parents=True)
        text = f"a heron in {folder}\n"
        (tmp_path / folder / "a.md").write_text(text, encoding="utf-8")
    paths = [{"path": "../team"}, {"path": "docs"}, {"path": str(tmp_path / "nowhere")}]
    qmd_settings = {"command": qmd, "includeDefaultMemory": False, "paths": paths}
    settings = {
        "agents": {"defaults": {"workspace": str(tmp_path / "notes")}},
        "memory": {"backend": "qmd", "fallback": "none", "qmd": qmd_settings},
    }
    state = tmp_path / "state"
    (state / "openclaw.json").write_text(json.dumps(settings), encoding="utf-8")

    with open_memory_sync(
        environ={**environ, "OPENCLAW_STATE_DIR": str(state)}
    ) as memory:
        found = memory.search("heron").results

    assert sorted(hit.path for hit in found) == ["../team/a.md", "docs/a.md"]


def test_get_reads_of_a_folder_what_its_pattern_means(
    tmp_path: Path, environ: Mapping[str, str]
) -> None:
    names = ("notes/memory/a.md", "team/public/b.md", "team/secret/c.md", "all/d.md")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("heron\n", encoding="utf-8")
    paths = [{"path": "../team", "pattern": "public/*.md"}, {"path": "../all"}]
    with open_memory_sync(
        environ={**environ, "OPENCLAW_STATE_DIR": str(tmp_path / "state")},
        backend="qmd",
        overrides={
            "agents.defaults.workspace": str(tmp_path / "notes"),
            "memory.qmd.includeDefaultMemory": False,
            "memory.qmd.paths": paths,
            "memory.qmd.command": NOWHERE,
        },
    ) as memory:
        read = [
            memory.get(path).text
            for path in ("a", "../team/public/b.md", "../all/d.md")
        ]
        with pytest.raises(PathRefused, match="leaves it out"):
            memory.get("../team/secret/c.md")

    assert read == ["heron"] * 3


PATHS = [
    "MEMORY.md",
    "USER.md",
    "memory/a.md",
    "memory/b.MD",
    "memory/sub/c.md",
    "memory/build/x.md",
    ".hid/x.md",
    "memory/.d.md",
    "a(b).md",
    "ab.md",
    "x[1].md",
    "x1.md",
    "x2.md",
    "x12.md",
    "deep/er/est/z.md",
    "deep/z.md",
    "{odd}.md",
    "odd.md",
    "a,b.md",
    "日本/メモ.md",
    "memory/2026-01-01.md",
    "secret/s.md",
    "public/p.md",
    "public/private/q.md",
    "a+b.md",
    "aab.md",
    "!y.md",
    "y.md",
    "x01.md",
    "é.md",
    "memory/a.txt",
    "node_modules/m.md",
    "dist.md",
    "A.md",
    "memory-old/a.md",
    "b/memory/c.md",
]
PATTERNS = [
    "**/*.md",
    "*.md",
    "**",
    "*",
    "**/*",
    "memory/*.md",
    "memory/**",
    "{MEMORY.md,memory/**/*.md}",
    "MEMORY.md,memory/**/*.md",
    "**/*.md,!secret/**",
    "{**/*.md,!secret/**}",
    "!secret/**",
    "**/!(a).md",
    "!(secret_public)/**",
    "**/!(*2026*).md",
    "x[12].md",
    "x[!1].md",
    "x[^1].md",
    "x?.md",
    "x{1,2}.md",
    "x{01..02}.md",
    "x{1..12}.md",
    "@(a_x)*.md",
    "+(a_b).md",
    "*(a_b).md",
    "?(a)ab.md",
    "a(b).md",
    "a\\(b\\).md",
    "x\\[1\\].md",
    "\\{odd\\}.md",
    "{odd}.md",
    "(ab_x1).md",
    "deep/**/z.md",
    "deep/*/z.md",
    "./*.md",
    "memory//a.md",
    "/memory/*.md",
    "**/*.{md,txt}",
    "日本/*.md",
    "a**.md",
    "m**/a.md",
    "{a,b",
    "[x",
    "a)b",
    "[[:alpha:]].md",
    "[a-z].md",
    "a\\,b.md",
    "{memory/{a,sub/c},public/p}.md",
    "*/*",
    "**/.*",
    ".hid/*",
    "../*.md",
    "\\!y.md",
    "***",
    "**/**/*.md",
]
ATOMS = [
    "*",
    "**",
    "?",
    "/",
    "a",
    "b",
    "x",
    "memory",
    ".md",
    ".md",
    "[12]",
    "[!a]",
    "{a,b}",
    "{x,memory}",
    "!(a)",
    "@(a|x)",
    "+(a)",
    "(a|b)",
    "1",
    "sub",
    "public",
    "private",
    "-",
    "odd",
]
FAST_GLOB = """
import { createRequire } from "module";
const [store, folder, patterns] = process.argv.slice(1);
const fastGlob = createRequire(store)("fast-glob");
const { splitGlobMask } = await import(store);
const ignore = ["node_modules", ".git", ".cache", "vendor", "dist", "build"].map(
  (name) => `**/${name}/**`);
const options = { cwd: folder, onlyFiles: true, dot: false, ignore };
console.log(JSON.stringify(JSON.parse(patterns).map((pattern) =>
  fastGlob.sync(splitGlobMask(pattern), options)
    .filter((file) => !file.split("/").some((part) => part.startsWith("."))).sort())));
"""


def test_a_pattern_means_here_what_it_means_to_qmd(
    qmd: list[str], tmp_path: Path
) -> None:
    for path in PATHS:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x", encoding="utf-8")
    chance = random.Random(14)
    made = ["".join(chance.choices(ATOMS, k=chance.randint(2, 6))) for _ in range(400)]
    # What fast-glob makes of two stars beside something else is nobody's rule.
    made = [one for one in made if one[0] != "/" and "**" not in one.replace("**/", "")]
    patterns = [one.replace("_", "|") for one in PATTERNS] + made
    node, script = qmd
    store = Path(script).parents[1] / "store.js"

    out = subprocess.run(
        [
            node,
            "--input-type=module",
            "-e",
            FAST_GLOB,
            str(store),
            str(tmp_path),
            json.dumps(patterns),
        ],
        capture_output=True,
        check=True,
    ).stdout

    here = {
        one: sorted(
            filter(compile_glob(one), PATHS), key=lambda path: path.encode("utf-16be")
        )
        for one in patterns
    }
    assert here == dict(zip(patterns, json.loads(out), strict=True))


@pytest.mark.parametrize("version", ["2.8.3", "2.5.3", "2.1.0"])
async def test_patterns_with_commas_are_read_by_every_version(
    version: str, qmd_of_version: Callable[[str], list[str]], notes: "Notes"
) -> None:
    notes.write({f"../team/{it}.md": f"a heron {it}\n" for it in ("a", "b", "c/d")})
    paths = [{"path": "../team", "pattern": "a.md, ./c/*.md"}]

    [found] = await by_qmd(
        notes,
        qmd_of_version(version),
        ("heron",),
        {"includeDefaultMemory": False, "paths": paths},
    )

    assert {hit.path for hit in found.hits} == {"../team/a.md", "../team/c/d.md"}
    assert portable_pattern("a.md, ./c/*.md") == "{a.md,c/*.md}"
