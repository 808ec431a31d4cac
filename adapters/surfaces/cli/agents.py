"""The configuration as a call sees it, and the agents that the call is about."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.adapters.surfaces.cli.options import Call

if TYPE_CHECKING:
    from notewell.config import Settings


def settings_of(call: Call) -> "Settings":
    """Resolve every setting, with the flags of this call over them.

    Raises:
        ConfigError: the file cannot be read, or a value makes no sense.
    """
    from notewell.config import load_settings  # late: `--help` needs none of it

    return load_settings(
        config_file=Path(call.config) if call.config else None,
        environ=os.environ,
        home=home_folder(),
        overrides=_overrides(call),
    )


def home_folder() -> Path:
    """Return what `~` stands for, also where nobody says who we are."""
    return Path(os.path.abspath(os.path.expanduser("~")))


def agents_of(call: Call) -> list[str | None]:
    """Return the agents that `index` and `status` cover; None is the default agent.

    A folder that is named with --workspace is one memory, not one for each agent.
    """
    if call.agent or call.workspace:
        return [call.agent]
    agents = settings_of(call).agents
    return [agent.id for agent in agents] if len(agents) > 1 else [None]


def _overrides(call: Call) -> Mapping[str, object]:
    given = {
        "memory.backend": call.backend,
        "agents.defaults.workspace": call.workspace,
    }
    return {key: value for key, value in given.items() if value is not None}
