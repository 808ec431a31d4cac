"""Making vectors: by `qmd embed`, in modes that need them, and never in a search."""

import re
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import msgspec

from notewell.backends.base import Site
from notewell.backends.blocking import off_the_loop
from notewell.backends.qmd.audit import file_state
from notewell.backends.qmd.client import Client
from notewell.backends.qmd.contract import BACKEND
from notewell.backends.qmd.home import Home
from notewell.backends.qmd.models import borrow, embedding_model, is_here
from notewell.backends.qmd.program import Program
from notewell.errors import BackendError, BackendFailed
from notewell.types import IndexReport

_PENDING: Final = re.compile(r"Pending:\s+(\d+) need embedding")
_VECTORS: Final = re.compile(r"Vectors:\s+(\d+) embedded")
_CRASHES: Final = 3
"""Times that an embedding run that crashed is taken up again."""


class Vectors:
    """Keeps the vectors of an index. What a run that failed has made stays.

    Attributes:
        wanted: The mode searches by meaning, in a version that can.
    """

    def __init__(
        self, site: Site, home: Home, program: Program, environ: Mapping[str, str]
    ) -> None:
        self._site = site
        self._home = home
        self._program = program
        self._environ = environ
        self._model = embedding_model(environ)
        mode = site.memory.qmd.search_mode
        self.wanted = program.abilities.semantic and mode != "search"

    async def report(self, report: IndexReport) -> IndexReport:
        """Make what is missing, and add to a report what there is then."""
        warnings = report.warnings
        try:
            await self.make()
        except BackendError as error:
            warnings = (*warnings, f"{error.message}; {error.remedy}")
        record = await off_the_loop(self._home.record)
        left = record.pending_vectors
        if left:  # all of it is found by words, so nothing of it is pending
            said = f"{left:,} documents have no vector yet; `notewell index` goes on."
            warnings = (*warnings, said)
        known = record.vectors and left is not None
        return replace(
            report,
            embedded=max(0, record.documents - (left or 0)) if known else 0,
            warnings=warnings,
        )

    async def make(self) -> None:
        """Make the vectors that are missing, in bounded time.

        Raises:
            BackendError: some could not be made.
        """
        await off_the_loop(borrow, self._environ, self._home.models)
        self._check_model()
        async with self._home.only_writer(patient=False) as mine:
            record = self._home.record()
            number = record.generation
            if not mine or not number:
                return
            client = Client(self._program, self._home, self._environ, number)
            other = record.model not in ("", self._model)
            # A model may have come, or be another one, since the index was built.
            await off_the_loop(
                self._home.configure,
                number,
                record.collections,
                self._environ,
                self._program.abilities,
            )
            if record.pending_vectors == 0 and not other:
                return
            failed: BackendError | None = None
            try:
                await self._embed(client, anew=other)
            except BackendError as error:
                failed = error
            await self._count(client, failed)
        if failed is not None:
            raise failed

    def _check_model(self) -> None:
        """Refuse to fetch a model where nothing may open a connection."""
        here = is_here(self._model, self._home.models)
        if self._site.memory.offline and not here:
            raise BackendFailed(
                BACKEND,
                "its embedding model is not here, and memory.offline is on: "
                f"{self._model}",
                reason="offline",
                remedy="name a model file in QMD_EMBED_MODEL",
            )

    async def _embed(self, client: Client, *, anew: bool) -> None:
        until = time.monotonic() + self._site.memory.qmd.update.embed_timeout_ms / 1000
        for attempt in range(1, _CRASHES + 1):
            left = until - time.monotonic()
            again = ("-f",) if anew and attempt == 1 else ()
            try:
                await client.run("embed", *again, within=left)
            except BackendFailed as failed:
                # llama.cpp can abort in the middle; the next run goes on from there.
                if "signal" not in failed.message or attempt == _CRASHES:
                    raise
            else:
                return

    async def _count(self, client: Client, failed: BackendError | None) -> None:
        within = self._site.memory.qmd.update.command_timeout_ms / 1000
        try:
            out = (await client.run("status", within=within)).out
        except BackendError:
            return
        said = out.decode("utf-8", "replace")
        pending, made = _PENDING.search(said), _VECTORS.search(said)
        record = self._home.record()
        done = made is not None and pending is None
        self._home.write(
            msgspec.structs.replace(
                record,
                model=self._model,
                pending_vectors=int(pending[1]) if pending else 0,
                file=file_state(self._home.database(record.generation)),
                vectors=made is not None and made[1] != "0",
                embedded_at=time.time() if done else record.embedded_at,
                last_error=failed.message if failed else None,
            )
        )
