"""`notewell status`: what is indexed and what is not, counted now."""

from dataclasses import dataclass
from typing import Final

import click

from notewell.adapters.surfaces import wire
from notewell.adapters.surfaces.cli.call import CommandCall, agents_of, memory_of
from notewell.adapters.surfaces.cli.entry import error_lines
from notewell.adapters.surfaces.cli.options import Command
from notewell.adapters.surfaces.cli.overview import (
    SearchProbe,
    draw_status,
    probe_search,
)
from notewell.adapters.surfaces.cli.progress import IndexProgress, VectorProgress
from notewell.adapters.surfaces.cli.screen import Screen
from notewell.adapters.surfaces.plain_text import one_line
from notewell.errors import NotewellError
from notewell.types import ProviderProbe, StatusReport

_TEXT: Final = """Show what is indexed, and what is not.

Files and passages are counted on disk and in the index each time. Without --agent
all configured agents are shown.
"""
_EXAMPLES: Final = (
    ("notewell status", "all configured agents"),
    ("notewell status --index", "index what is pending, then show"),
    ("notewell status --deep --json", "try the index too; one JSON object"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentState:
    """One agent's report, with what was tried if anything was, or an error."""

    agent: str
    report: StatusReport | None = None
    probe: SearchProbe | None = None
    providers: tuple[ProviderProbe, ...] = ()
    error: NotewellError | None = None


@click.command("status", cls=Command, help=_TEXT, examples=_EXAMPLES)
@click.option(
    "--deep", is_flag=True, help="Run one search, and try each embedding provider."
)
@click.option("--index", is_flag=True, help="Index what is pending first.")
@click.pass_context
def status_command(context: click.Context, deep: bool, index: bool) -> int:
    """Show the state of every agent that the call names."""
    call = CommandCall.of(context)
    agents = agents_of(call)
    if len(agents) == 1:
        states = [_state(call, agents[0], deep, index)]
    else:
        states = [_guarded(call, str(agent), deep, index) for agent in agents]
    if call.output.json:
        call.output.value(wire.agents_json([_shape(state) for state in states]))
    else:
        call.output.text("\n".join(_drawn(state, call) for state in states))
    return int(any(state.error is not None for state in states))


def _state(call: CommandCall, agent: str | None, deep: bool, index: bool) -> AgentState:
    with memory_of(call, agent=agent) as memory:
        if index:
            with (
                IndexProgress(call.output) as progress,
                VectorProgress(call.output) as vectors,
            ):
                memory.refresh(
                    progress=progress, waiting=progress.wait, vectors=vectors.work
                )
        report = memory.status()
        return AgentState(
            agent=memory.agent,
            report=report,
            probe=probe_search(memory, report) if deep else None,
            providers=memory.probe_providers() if deep and report.enabled else (),
        )


def _guarded(call: CommandCall, agent: str, deep: bool, index: bool) -> AgentState:
    """One agent of several: what is wrong with it says nothing about the others."""
    try:
        return _state(call, agent, deep, index)
    except NotewellError as error:
        return AgentState(agent=agent, error=error)


def _drawn(state: AgentState, call: CommandCall) -> str:
    screen = Screen.of()
    if state.report is None:
        title = screen.paint(f"agent {one_line(state.agent)}", "bold")
        return "\n  ".join([title, *map(one_line, error_lines(state.error))]) + "\n"
    return draw_status(
        state.report,
        screen,
        everything=call.output.verbose,
        probe=state.probe,
        providers=state.providers,
    )


def _shape(state: AgentState) -> wire.Json:
    shape: wire.Json = {"agent": state.agent}
    if state.report is not None:
        shape |= wire.status_json(state.report)
    if state.probe is not None:
        shape["probe"] = wire.as_json(state.probe)
        shape["providers"] = wire.as_json(state.providers)
    if state.error is not None:
        shape |= wire.failure_json(state.error)
    return shape
