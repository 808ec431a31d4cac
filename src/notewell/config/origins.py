"""Every setting as `notewell config` prints it, with where it came from."""

from collections.abc import Iterator, Mapping

from notewell.config.agents import Agent
from notewell.config.blocks import Block, Reading, leaves, value_at
from notewell.config.layers import WORKSPACE
from notewell.config.settings import ResolvedValue


def printed(
    block: Block, readings: Mapping[str, Reading], at: str
) -> Iterator[ResolvedValue]:
    """Yield every setting of a block, and whether somebody gave it."""
    for key, leaf in leaves(type(block)):
        reading = readings.get(key)
        value = value_at(block, key)
        # What refers to a variable is shown as it is written: it may be a key.
        if reading is not None and reading.written is not None:
            value = reading.written
        yield ResolvedValue(
            key=f"{at}.{key}",
            value=leaf.form.show(value),
            origin=reading.origin if reading is not None else "default",
        )


def printed_agents(
    defaults: Agent, agents: tuple[Agent, ...], profile: str | None
) -> Iterator[ResolvedValue]:
    """Yield the defaults whole, and of every entry what is its own."""
    nobody = "environment OPENCLAW_PROFILE" if profile else "default"
    yield _printed_workspace(defaults, nobody)
    yield from _printed_search(defaults)
    for agent in agents:
        if agent.settings.at == defaults.settings.at:
            continue
        at = agent.settings.at
        yield ResolvedValue(key=f"{at}.id", value=agent.settings.id, origin="file")
        yield _printed_workspace(agent, "default")
        own = {f"{at}.memorySearch.{key}" for key in (*agent.own, "store.path")}
        yield from (value for value in _printed_search(agent) if value.key in own)


def _printed_search(agent: Agent) -> Iterator[ResolvedValue]:
    at = f"{agent.settings.at}.memorySearch"
    return printed(agent.settings.search, agent.search, at)


def _printed_workspace(agent: Agent, nobody: str) -> ResolvedValue:
    named = agent.workspace
    written = named.written if named is not None else None
    return ResolvedValue(
        key=f"{agent.settings.at}.workspace",
        value=WORKSPACE.form.show(written or agent.settings.workspace),
        origin=named.origin if named is not None else nobody,
    )
