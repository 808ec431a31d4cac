"""The reference page's table, made from the code."""

import json
from collections.abc import Iterator
from typing import Final

from notewell.config.blocks import Block, Leaf, leaves
from notewell.config.layers import DEFAULTS, WORKSPACE
from notewell.config.loading import NAME_FORM
from notewell.config.memory import (
    CompactionSettings,
    MemorySettings,
    ProviderSettings,
)
from notewell.config.search import SearchSettings

_BLOCKS: Final[tuple[tuple[str, type[Block]], ...]] = (
    ("memory", MemorySettings),
    (f"{DEFAULTS}.memorySearch", SearchSettings),
    (f"{DEFAULTS}.compaction", CompactionSettings),
    ("models.providers.<id>", ProviderSettings),
)


def reference_table() -> str:
    """Return every key with its default, what is accepted, and what it does."""
    lines = ["| key | default | accepted | |", "|---|---|---|---|"]
    for key, default, accepted, about in _rows():
        # Markdown would take <repository> for a tag.
        cells = (f"`{key}`", default, accepted.replace("<", "&lt;"), about)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _rows() -> Iterator[tuple[str, str, str, str]]:
    for at, block in _BLOCKS:
        if block is SearchSettings:
            yield _workspace_row()
        for key, leaf in leaves(block):
            yield f"{at}.{key}", _default(leaf), leaf.form.accepted, leaf.about
    yield from (
        ("agents.list[].id", "`main` without a list", NAME_FORM, "The agent's id."),
        (
            "agents.list[].default",
            "`false`",
            "true or false",
            "The agent that is meant when none is named; else the first.",
        ),
        (
            "agents.list[].workspace",
            "see above",
            WORKSPACE.form.accepted,
            "The agent's own folder of notes.",
        ),
        (
            "agents.list[].memorySearch.…",
            "the defaults",
            "as above",
            "What differs for this agent, key by key.",
        ),
        (
            f"{DEFAULTS}.userTimezone",
            "this machine's",
            "the IANA name of a zone",
            "Which day it is for the user; decides which daily log is today's.",
        ),
        (
            "plugins.slots.memory",
            "unset",
            'a name, or "none"',
            "`none` switches memory off; the rest is OpenClaw's.",
        ),
    )


def _workspace_row() -> tuple[str, str, str, str]:
    form = WORKSPACE.form.accepted
    return f"{DEFAULTS}.workspace", "`~/.openclaw/workspace`", form, WORKSPACE.about


def _default(leaf: Leaf) -> str:
    shown = leaf.form.show(leaf.default)
    if shown is None or shown == {}:
        return "unset"
    return f"`{json.dumps(shown)}`"
