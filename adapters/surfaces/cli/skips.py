"""Files and folders that are left out, as lines for people."""

from collections.abc import Iterator, Sequence
from typing import Final

from notewell.adapters.surfaces.visible import one_line
from notewell.types import Skipped

_SHOWN: Final = 10


def skip_lines(skipped: Sequence[Skipped], *, everything: bool) -> Iterator[str]:
    """Return one line for each, the first ten unless everything is wanted."""
    shown = skipped if everything else skipped[:_SHOWN]
    for skip in shown:
        yield one_line(f"{skip.path} ({skip.reason}): {skip.detail}")
    left = len(skipped) - len(shown)
    if left:
        yield f"and {left:,} more; --verbose shows all"
