"""The public names: what `import notewell` offers, and nothing by accident."""

import subprocess
import sys
from pathlib import Path

import notewell
from notewell.memory import open_memory, open_memory_sync

NAMES = [
    "BackendError",
    "BackendFailed",
    "BackendTimeout",
    "BackendUnavailable",
    "BackendUnknown",
    "ConfigError",
    "Document",
    "Fallback",
    "Filter",
    "FlushOutcome",
    "FlushPlan",
    "Freshness",
    "Hit",
    "IndexReport",
    "IndexStatus",
    "Memory",
    "MemoryTools",
    "NoteLink",
    "NoteLinks",
    "NoteNotWritten",
    "NotewellError",
    "PathRefused",
    "Remembered",
    "SearchAnswer",
    "SessionContext",
    "StatusReport",
    "SyncMemory",
    "ToolResult",
    "UsageError",
    "__version__",
    "open_memory",
    "open_memory_sync",
    "read_filter",
]


def test_the_public_names_are_these() -> None:
    assert sorted(notewell.__all__) == NAMES
    assert dir(notewell) == sorted(notewell.__all__)


def test_every_public_name_can_be_had() -> None:
    assert all(getattr(notewell, name) is not None for name in NAMES)


async def test_the_memory_is_the_same_with_and_without_a_loop(
    tmp_path: Path,
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "cat.md").write_text("The cat is called Bertrand.\n", encoding="utf-8")
    environ = {"OPENCLAW_STATE_DIR": str(tmp_path / "state")}

    async with open_memory(workspace=notes, environ=environ) as memory:
        with_loop = await memory.search("Bertrand")
    with open_memory_sync(workspace=notes, environ=environ) as same:
        without = same.search("Bertrand")

    [hit] = with_loop.results
    assert hit.citation == "cat.md#L1"
    assert without.results == with_loop.results


def test_a_search_without_a_loop_never_loads_asyncio(tmp_path: Path) -> None:
    (tmp_path / "cat.md").write_text("The cat is called Bertrand.\n", encoding="utf-8")
    code = (
        "import sys; from notewell import open_memory_sync\n"
        "environ = {'OPENCLAW_STATE_DIR': sys.argv[1] + '/.state'}\n"
        "with open_memory_sync(workspace=sys.argv[1], environ=environ) as memory:\n"
        "    answer = memory.search('Bertrand')\n"
        "assert (answer.mode, len(answer.results)) == ('hybrid', 1)\n"
        "heavy = ('asyncio', 'numpy', 'rich', 'httpx')\n"
        "print(*(name in sys.modules for name in heavy))"
    )
    with open_memory_sync(
        workspace=tmp_path, environ={"OPENCLAW_STATE_DIR": str(tmp_path / ".state")}
    ) as memory:
        memory.refresh()
    source = Path(notewell.__file__).parents[1]

    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={"PYTHONPATH": str(source)},
        check=True,
    )

    assert run.stdout.split() == ["False"] * 4
