"""QMD's commands, run against one generation of an index; failures get their reason."""

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from notewell.backends.qmd.answer import Document, Unreadable, read_answer
from notewell.backends.qmd.contract import BACKEND, INSTALL
from notewell.backends.qmd.home import Home
from notewell.backends.qmd.program import Program
from notewell.errors import BackendError, BackendFailed, BackendTimeout
from notewell.log import log
from notewell.process import OutputTooLong, ProcessOutput, ProcessTimeout, run_program

_ERROR: Final = re.compile(r"^\s*(?:Uncaught )?(\w*Error)\b", re.MULTILINE)
_CODE: Final = re.compile(r"\b(SQLITE_[A-Z_]+|ERR_[A-Z_]+|E[A-Z]{3,12})\b")

REBUILD: Final = "run `notewell index`: the index is built anew, no note is touched"
_CAUSES: Final[tuple[tuple[re.Pattern[str], str, str, str], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), reason, said, remedy)
    for pattern, reason, said, remedy in (
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
)


class Client:
    """Runs QMD's commands. Safe to share between tasks."""

    def __init__(
        self, program: Program, home: Home, environ: Mapping[str, str], number: int
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
        """The program with what comes before each command."""
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
    ) -> list[Document]:
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
    ) -> list[Document]:
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
    ) -> list[Document]:
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
        """Run a command that has to end well.

        Raises:
            BackendError: it did not.
        """
        output = await self._run(arguments, within, grace)
        if output.code:
            raise failure(output, arguments[0])
        return output

    async def _documents(
        self, arguments: Sequence[str], within: float
    ) -> list[Document]:
        output = await self._run(arguments, within, grace=0.5)
        try:
            documents = read_answer(output.out, output.err)
        except Unreadable as exc:
            if output.code:
                raise failure(output, arguments[0]) from None
            raise BackendFailed(
                BACKEND,
                f"`{arguments[0]}` gave {exc}",
                reason="parse",
                remedy=f"{self.program.version} is not known to do so; {INSTALL}",
            ) from None
        # With all of it printed, a crash on the way out has cost nothing. An empty
        # answer proves nothing, though, when it comes with a failure.
        if output.code and not documents:
            raise failure(output, arguments[0])
        return documents

    async def _run(
        self, arguments: Sequence[str], within: float, grace: float
    ) -> ProcessOutput:
        kind = arguments[0]
        if within <= 0:
            raise timed_out(kind, within)
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
            raise timed_out(kind, within) from exc
        except OutputTooLong as exc:
            raise BackendFailed(
                BACKEND,
                f"`{kind}` printed without end",
                reason="parse",
                remedy=INSTALL,
            ) from exc


def _only(names: Sequence[str]) -> list[str]:
    return [word for name in names for word in ("-c", name)]


def timed_out(kind: str, seconds: float) -> BackendTimeout:
    """Return what is said of a command that took too long."""
    key = {"update": "update.updateTimeoutMs", "embed": "update.embedTimeoutMs"}
    return BackendTimeout(
        BACKEND,
        seconds=max(0.0, round(seconds, 1)),
        remedy=f"raise memory.qmd.{key.get(kind, 'limits.timeoutMs')}, or use "
        "memory.qmd.searchMode search, the quickest",
    )


def failure(output: ProcessOutput, command: str) -> BackendError:
    """Return the failure of a command, by its innermost cause.

    Of what it printed only names of errors are told: the rest may be text of notes.
    """
    text = output.err.decode("utf-8", "replace")
    for pattern, reason, said, remedy in _CAUSES:
        if pattern.search(text):
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
