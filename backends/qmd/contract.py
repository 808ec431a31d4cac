"""What a version of QMD can do. Found from its version once, never by failing first."""

import re
from dataclasses import dataclass
from typing import Final

from notewell.errors import BackendFailed

BACKEND: Final = "qmd"
RECOMMENDED: Final = "2.8.3"
INSTALL: Final = (
    f"install it with `npm install -g @tobilu/qmd@{RECOMMENDED}` (Node 22 or newer), "
    "or set memory.qmd.command"
)
_OLDEST: Final = (1, 1)
_NUMBERS: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """What one version offers.

    Attributes:
        typed: `query --no-rerank` with lines such as `lex: word`, several in one call,
            without any model.
        literal_paths: Names of files come back as they are; older ones are altered, and
            two files may share one.
        named_index: Knows `--index`, and indexes of projects that it switches off.
        configured_models: Reads `models:` from its configuration.
        daemon: Its `mcp` has the tool `query` with typed searches.
        semantic: Vectors with no other model than that of the embedding.
        substrings: Finds any part of a run of Chinese, Japanese or Korean; older ones find
            its beginning.
    """

    typed: bool
    literal_paths: bool
    named_index: bool
    configured_models: bool
    daemon: bool
    semantic: bool
    substrings: bool


def abilities_of(version: str) -> Abilities:
    """Return what a version can do; unknown newer ones are taken for the newest known.

    Raises:
        BackendFailed: it is too old to be driven.
    """
    numbers = _NUMBERS.match(version)
    number = tuple(int(part) for part in numbers.groups()) if numbers else ()
    if number < _OLDEST:
        raise BackendFailed(
            BACKEND,
            f"version {version} is too old to be driven",
            reason="version",
            remedy=f"npm install -g @tobilu/qmd@{RECOMMENDED}",
        )
    recent = number >= (2, 5)
    return Abilities(
        typed=number >= (2, 1),
        literal_paths=number >= (2, 8),
        named_index=recent,
        configured_models=recent,
        daemon=recent,
        semantic=recent,
        substrings=recent,
    )
