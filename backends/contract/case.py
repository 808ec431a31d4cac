"""A folder of notes for one test, and the engine that is open on it."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import ClassVar

from notewell.backends.base import Backend, Findings, Query, Site
from notewell.config import load_settings
from notewell.dates import DateRange
from notewell.types import Hit
from notewell.workspace import Workspace, get_document

NOTES: Mapping[str, str] = {
    "MEMORY.md": "# Facts\n\nThe gateway port is 18789.\nThe cat is called Bertrand.\n",
    "memory/2026-01-10.md": "# Rollout\n\n## Night\n\n"
    "The multi-agent rollout moves 4 GB/s; don't page @night-shift.\r\n"
    "Ubuntu 20.04 stays; the C++ build is frozen.\r\n",
    "memory/projects/tidepool.md": "# Tidepool\n\n"
    + "\n".join(f"Step {n}: rinse basin {n} and log the salinity." for n in range(200))
    + "\n\nThe gateway of the pool is a heron.\n",
    "memory/京都旅行.md": "京都の旅館を予約した。\n数据库部署在新加坡\n오늘 끝말잇기게임을 했다\n",
    "memory/one-line.md": "salinity "
    + "plankton drifts by " * 400
    + "and a lone narwhal",
    "memory/empty.md": "",
}
"""The notes that each test starts with: path and text."""

QUERIES: tuple[str, ...] = (
    "gateway",
    "salinity",
    "narwhal",
    "multi-agent",
    "数据库",
    "끝말잇기",
    "What is the gateway port?",
    '"a OR *',
    "",
)
"""Questions that are put to the notes where the answer itself does not matter."""


class Contract:
    """Tests of an engine, each with new notes.

    Attributes:
        engine: The engine under test.
    """

    engine: ClassVar[type[Backend]]

    def site(self, root: Path, state: Path) -> Site:
        """Return where the engine works: notes in `root`, what it writes in `state`."""
        settings = load_settings(
            config_file=None,
            environ={"OPENCLAW_STATE_DIR": str(state)},
            home=state,
            overrides={"agents.defaults.workspace": str(root)},
        )
        return Site(
            workspace=Workspace(root=root),
            agent=settings.agent(None),
            memory=settings.memory,
            state_dir=state,
        )

    @asynccontextmanager
    async def opened(
        self, folder: Path, notes: Mapping[str, str] = NOTES
    ) -> AsyncGenerator["Case"]:
        """Lay out notes below a folder and open the engine on them."""
        root, state = _places(folder)
        case = Case(root, self.site(root, state))
        case.write(notes)
        case.backend = await self.engine.open(case.site)
        try:
            yield case
        finally:
            await case.backend.close()


class Case:
    """A folder of notes and the engine that is open on it.

    Attributes:
        root: The folder.
        site: What the engine was opened with.
        backend: The engine.
    """

    backend: Backend

    def __init__(self, root: Path, site: Site) -> None:
        self.root = root
        self.site = site

    def write(self, notes: Mapping[str, str]) -> None:
        """Write notes, given as path and text."""
        (self.root / "memory").mkdir(parents=True, exist_ok=True)
        for path, text in notes.items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode("utf-8"))

    async def ask(
        self,
        text: str,
        *,
        limit: int = 6,
        min_score: float | None = None,
        dates: tuple[DateRange, ...] = (),
    ) -> Findings:
        """Put a question to the engine; every answer must say why it is empty."""
        found = await self.backend.search(
            Query(text=text, limit=limit, min_score=min_score, dates=dates)
        )
        assert len(found.hits) <= limit
        assert bool(found.hits) == (found.reason is None)
        return found

    async def paths(self, text: str) -> list[str]:
        """Return the notes in the answer to a question, best first, each once."""
        return list(dict.fromkeys(hit.path for hit in (await self.ask(text)).hits))

    def check_round_trip(self, hit: Hit) -> None:
        """Hold a hit against what `get` returns for its lines."""
        count = hit.end_line - hit.start_line + 1
        cited = get_document(
            self.site.workspace, hit.path, start=hit.start_line, lines=count
        )
        by_citation = get_document(self.site.workspace, hit.citation)

        assert cited.found
        assert (cited.start_line, cited.end_line) == (hit.start_line, hit.end_line)
        assert hit.start_line <= hit.match_line <= hit.end_line
        assert hit.snippet in cited.text
        if hit.snippet_line is not None:
            lines = cited.text.split("\n")[hit.snippet_line - hit.start_line :]
            assert 0 <= "\n".join(lines).find(hit.snippet) <= len(lines[0])
        assert by_citation.text == cited.text

    def state_of_notes(self) -> dict[str, tuple[int, int, str]]:
        """Return size, time and content of everything in the folder of notes."""
        return state_of(self.root)


def state_of(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Return size, time and content of every file in a folder, by its path."""
    return {
        str(file.relative_to(folder)): (
            file.stat().st_size,
            file.stat().st_mtime_ns,
            sha256(file.read_bytes()).hexdigest(),
        )
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def _places(folder: Path) -> tuple[Path, Path]:
    """Return where the notes lie, and where the engine may write."""
    folder = folder.resolve()
    return folder / "notes", folder / "state"
