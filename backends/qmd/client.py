"""Asking QMD about one generation of an index: by its daemon, else by its commands.

Failures get their reason here; of what QMD printed nothing but names of errors is told.
"""

import asyncio
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Final

from notewell.backends.qmd.answer import QmdHit, UnreadableAnswer, parse_answer
from notewell.backends.qmd.daemon import Daemon, DaemonFailed, DaemonLate
from notewell.backends.qmd.home import QmdHome
from notewell.backends.qmd.program import BACKEND, INSTALL, Program
from notewell.errors import BackendError, BackendFailed, BackendTimeout
from notewell.log import log
from notewell.process import OutputTooLong, ProcessOutput, ProcessTimeout, run_program

_ERROR: Final = re.compile(r"^\s*(?:Uncaught )?(\w*Error)\b", re.MULTILINE)

_CODE: Final = re.compile(r"\b(SQLITE_[A-Z_]+|ERR_[A-Z_]+|E[A-Z]{3,12})\b")

MOST_SEARCHES: Final = 10
"""Typed searches that QMD takes in one call."""

COMPLETE: Final = 20
"""Documents that QMD takes of each typed search and collection."""

_MOST_FUSED: Final = 400

_DAEMON_CHANCES: Final = 2

_DAEMON_REST: Final = 60.0
"""Seconds for which a daemon that failed twice in a row is not tried again."""

_FEW_CALLS: Final = 4
"""Searches of an older version, which takes one a call."""

REBUILD: Final = "run `notewell index`: the index is built anew, no note is touched"

_CAUSES: Final[tuple[tuple[str, str, str, str], ...]] = (
    (
        r"not a database|disk image is malformed|SQLITE_CORRUPT|SQLITE_NOTADB",
        "corrupt",
        "its index is damaged",
        REBUILD,
    ),
    (
        r"readonly database|SQLITE_READONLY|EROFS|EACCES",
        "exit",
        "it may not write to its index",
        "see the permissions of the state folder",
    ),
    (
        r"database is locked|SQLITE_BUSY",
        "busy",
        "its index is in use",
        "try again in a moment",
    ),
    (
        r"Collection not found|directory does not exist",
        "not-ready",
        "its index is not there",
        REBUILD,
    ),
    (
        r"No model file found|fetch failed|Failed to (?:download|resolve)",
        "model-missing",
        "a model is missing",
        "name a model file in QMD_EMBED_MODEL, or use memory.qmd.searchMode search",
    ),
    (
        r"ERR_DLOPEN_FAILED|NODE_MODULE_VERSION|ERR_MODULE_NOT_FOUND",
        "missing",
        "a part of it cannot be loaded by this Node",
        f"reinstall it with the Node that runs it: {INSTALL}",
    ),
)
"""Patterns of what QMD complains of, with reason, sentence and remedy."""


class Deadline:
    """The time that is left for an answer."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self._until - time.monotonic()

    def part(self, share: float) -> "Deadline":
        """Return the deadline at which a share of the time is used up."""
        return Deadline(self.left * share)


class QmdClient:
    """Runs QMD's commands. Safe to share between tasks."""

    def __init__(
        self, program: Program, home: QmdHome, environ: Mapping[str, str], number: int
    ) -> None:
        """Work on generation `number` of a home; `environ` is that of its children."""
        self._home = home
        self.program = program
        self.environ = home.environment(number, environ)

    @property
    def folder(self) -> Path:
        """Where commands run."""
        return self._home.folder

    @property
    def command(self) -> tuple[str, ...]:
        """The program, and the options that precede every command."""
        if not self.program.abilities.named_index:
            return self.program.command
        # Switches off the index of a project in a folder above, which would win.
        return (*self.program.command, "--index", "index")

    async def listed(
        self,
        query: str,
        names: Sequence[str],
        *,
        count: int,
        within: float,
    ) -> list[QmdHit]:
        """Return up to `count` documents that hold every word of the query.

        Raises:
            BackendError: QMD failed.
        """
        return await self._documents(
            ("search", "--json", "-n", str(count), *_only(names), "--", query), within
        )

    async def typed(
        self,
        searches: Sequence[tuple[str, str]],
        names: Sequence[str],
        *,
        count: int,
        within: float,
    ) -> list[QmdHit]:
        """Return up to `count` documents that several searches find, fused by rank.

        Args:
            searches: Kind (`lex`, `vec`) and query, each of one line.

        Raises:
            BackendError: QMD failed.
        """
        lines = "\n".join(f"{kind}: {query}" for kind, query in searches)
        options = ("--json", "--no-rerank", "-n", str(count), "-C", str(count))
        return await self._documents(
            ("query", *options, *_only(names), "--", lines), within
        )

    async def reranked(
        self,
        text: str,
        names: Sequence[str],
        *,
        count: int,
        within: float,
    ) -> list[QmdHit]:
        """Return what `query` finds: expanded, fused and reranked by its models.

        Raises:
            BackendError: QMD failed.
        """
        options = ("--json", "-n", str(count))
        return await self._documents(
            ("query", *options, *_only(names), "--", text), within
        )

    async def run(
        self, *arguments: str, within: float, grace: float = 0.5
    ) -> ProcessOutput:
        """Run a command, and require exit code 0.

        Raises:
            BackendError: it failed.
        """
        output = await self._run(arguments, within, grace)
        if output.code:
            raise command_failure(output, arguments[0])
        return output

    async def _documents(self, arguments: Sequence[str], within: float) -> list[QmdHit]:
        output = await self._run(arguments, within, grace=0.5)
        try:
            documents = parse_answer(output.out, output.err)
        except UnreadableAnswer as exc:
            if output.code:
                raise command_failure(output, arguments[0]) from None
            raise BackendFailed(
                BACKEND,
                f"`{arguments[0]}` gave {exc}",
                reason="parse",
                remedy=f"{self.program.version} is not known to do so; {INSTALL}",
            ) from None
        # With all of it printed, a crash on the way out has cost nothing. An empty
        # answer proves nothing, though, when it comes with a failure.
        if output.code and not documents:
            raise command_failure(output, arguments[0])
        return documents

    async def _run(
        self, arguments: Sequence[str], within: float, grace: float
    ) -> ProcessOutput:
        kind = arguments[0]
        if within <= 0:
            raise command_timeout(kind, within)
        try:
            began = time.monotonic()
            output = await run_program(
                (*self.command, *arguments),
                environ=self.environ,
                folder=self.folder,
                within=within,
                grace=grace,
            )
            took = (time.monotonic() - began) * 1000
            log("qmd", "debug", "%s: exit code %d, %.0f ms", kind, output.code, took)
            return output
        except (OSError, ValueError) as exc:
            detail = exc.strerror if isinstance(exc, OSError) else "a NUL in it"
            raise BackendFailed(
                BACKEND,
                f"`{kind}` cannot be started: {detail}",
                reason="missing",
                remedy=INSTALL,
            ) from exc
        except ProcessTimeout as exc:
            raise command_timeout(kind, within) from exc
        except OutputTooLong as exc:
            raise BackendFailed(
                BACKEND,
                f"`{kind}` printed without end",
                reason="parse",
                remedy=INSTALL,
            ) from exc


def _only(names: Sequence[str]) -> list[str]:
    return [word for name in names for word in ("-c", name)]


def command_timeout(kind: str, seconds: float) -> BackendTimeout:
    """Return the error for a command that took too long."""
    key = {"update": "update.updateTimeoutMs", "embed": "update.embedTimeoutMs"}
    return BackendTimeout(
        BACKEND,
        seconds=max(0.0, round(seconds, 1)),
        remedy=f"raise memory.qmd.{key.get(kind, 'limits.timeoutMs')}, or use "
        "memory.qmd.searchMode search, the quickest",
    )


def command_failure(output: ProcessOutput, command: str) -> BackendError:
    """Return the error for a command that failed, by its innermost cause.

    Of what it printed only names of errors are told: the rest may be text of notes.
    """
    text = output.err.decode("utf-8", "replace")
    for pattern, reason, said, remedy in _CAUSES:
        if re.search(pattern, text, re.IGNORECASE):
            return BackendFailed(
                BACKEND, f"{said} (`{command}`)", reason=reason, remedy=remedy
            )
    if output.code < 0:
        return BackendFailed(
            BACKEND,
            f"`{command}` died of signal {-output.code} without a word",
            reason="exit",
            remedy="Node older than 22 does that to it; `notewell doctor` shows which "
            "one runs it",
        )
    names = [found[1] for found in (_ERROR.search(text), _CODE.search(text)) if found]
    detail = f": {' '.join(dict.fromkeys(names))}" if names else ""
    return BackendFailed(
        BACKEND,
        f"`{command}` ended with code {output.code}{detail}",
        reason="exit",
        remedy="`notewell doctor` shows how it is run",
    )


class Searcher:
    """Searches one generation of an index. Safe to share between tasks.

    Attributes:
        daemon: The daemon, if this version and the settings allow one.
    """

    def __init__(self, client: QmdClient, *, transport: str, stays: bool) -> None:
        """Ask through `client`.

        Args:
            transport: `memory.qmd.transport`.
            stays: Our own program stays, so a daemon is worth its start at once.
        """
        self._client = client
        self._eager = stays or transport == "daemon"
        self._questions = 0
        self._failures = 0
        self._rests_until = 0.0
        self._models = asyncio.Lock()  # loaded by one process at a time
        self.daemon: Daemon | None = None
        if transport != "cli" and client.program.abilities.daemon:
            self.daemon = Daemon(
                client.command, environ=client.environ, folder=client.folder
            )

    def begin(self) -> None:
        """Count a question, which may take several searches."""
        self._questions += 1

    async def typed(
        self,
        searches: Sequence[tuple[str, str]],
        names: Sequence[str],
        deadline: Deadline,
    ) -> list[QmdHit]:
        """Return what any of the searches finds in these collections, fused by rank.

        Raises:
            BackendError: QMD failed, by the daemon and by its commands.
        """
        if not names:
            return []
        searches = searches[:MOST_SEARCHES]
        if not self._client.program.abilities.typed:
            return await self._one_by_one(
                [query for _, query in searches], names, deadline
            )
        found = await self._by_daemon(searches, names, deadline)
        if found is not None:
            return found
        async with self._models if _loads_model(searches) else nullcontext():
            return await self._client.typed(
                searches,
                names,
                count=_MOST_FUSED,
                within=deadline.left,
            )

    async def _by_daemon(
        self,
        searches: Sequence[tuple[str, str]],
        names: Sequence[str],
        deadline: Deadline,
    ) -> list[QmdHit] | None:
        """Return what the daemon finds; None if there is none, or it failed.

        Raises:
            BackendTimeout: it is there, and takes too long.
        """
        if self.daemon is None or not self._uses_daemon():
            return None
        within = deadline.left
        try:
            found = await self.daemon.typed(
                searches,
                names,
                count=_MOST_FUSED,
                within=within,
            )
        except DaemonLate as late:
            raise command_timeout("mcp", within) from late
        except DaemonFailed:
            self._failures += 1
            if self._failures >= _DAEMON_CHANCES:
                self._rests_until = time.monotonic() + _DAEMON_REST
            return None
        self._failures = 0
        return found

    async def reranked(
        self, text: str, names: Sequence[str], deadline: Deadline
    ) -> list[QmdHit]:
        """Return what QMD's own `query` finds, with all of its models.

        Raises:
            BackendError: QMD failed.
        """
        if not names:
            return []
        async with self._models:
            return await self._client.reranked(
                text,
                names,
                count=COMPLETE,
                within=deadline.left,
            )

    async def listed(
        self, query: str, names: Sequence[str], count: int, deadline: Deadline
    ) -> list[QmdHit]:
        """Return up to `count` documents that hold every word.

        Raises:
            BackendError: QMD failed.
        """
        if not names:
            return []
        return await self._client.listed(
            query, names, count=count, within=deadline.left
        )

    async def close(self) -> None:
        """Stop the daemon."""
        if self.daemon is not None:
            await self.daemon.close()

    def _uses_daemon(self) -> bool:
        """Say whether to ask the daemon: from the second question on, unless it rests.

        A command that asks once and ends would wait longer for its start.
        """
        rested = time.monotonic() >= self._rests_until
        return rested and (self._eager or self._questions > 1)

    async def _one_by_one(
        self, queries: Sequence[str], names: Sequence[str], deadline: Deadline
    ) -> list[QmdHit]:
        found: dict[tuple[str, str], QmdHit] = {}
        for query in queries[:_FEW_CALLS]:
            if found and deadline.left < 1:
                break
            for document in await self.listed(query, names, COMPLETE, deadline):
                found.setdefault((document.collection, document.path), document)
        return list(found.values())


def _loads_model(searches: Sequence[tuple[str, str]]) -> bool:
    return any(kind != "lex" for kind, _ in searches)
