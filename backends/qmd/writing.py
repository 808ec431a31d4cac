"""Bringing QMD's index up to date: one writer at a time, and never a repair in place.

`qmd update` must not be killed: documents can be lost from its full-text index for
good. So the record says when a run began, the index is counted afterwards, and
whatever is doubtful is built anew beside the old one, which answers meanwhile.
"""

import re
from collections.abc import Mapping
from typing import Final

from notewell.backends.base import Site
from notewell.backends.qmd.home import Home
from notewell.backends.qmd.program import Program

_GRACE: Final = 20.0
"""Seconds that a running update is given to end by itself when its time is up."""

_PENDING: Final = re.compile(r"Pending:\s+(\d+) need embedding")
_CRASHES: Final = 3
"""Times that an embedding run that crashed is taken up again."""

_QUICK: Final = 0.5
"""Share of the time at hand that the last update may have taken for a new one."""


class Writer:
    """Writes the index of one home."""

    def __init__(
        self, site: Site, home: Home, program: Program, environ: Mapping[str, str]
    ) -> None:
        self._site = site
        self._home = home
        self._program = program
        self._environ = environ

    @property
    def wants_vectors(self) -> bool:
        """Whether the mode searches by meaning, in a version that can."""
        semantic = self._program.abilities.semantic
        return semantic and self._site.memory.qmd.search_mode != "search"
