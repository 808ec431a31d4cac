"""Judged sets that come with notewell: notes of our own, so that anybody may show them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

SETS: Final = ("example",)
"""Their names, the usual one first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledSet:
    """A workspace, and what is right in it."""

    notes: Path
    queries: Path


def bundled_set(name: str) -> BundledSet:
    """Return where a set lies."""
    folder = Path(__file__).parent
    return BundledSet(notes=folder / name, queries=folder / f"{name}.queries.jsonl")
