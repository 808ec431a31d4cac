"""`notewell completion`: what makes a shell complete commands and options."""

from typing import Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall
from notewell.adapters.surfaces.cli.entry import COMPLETION
from notewell.adapters.surfaces.cli.options import Command
from notewell.adapters.surfaces.cli.root import SHELLS, completion_script

_TEXT: Final = """Print what makes a shell complete commands and options.

SHELL is bash, zsh or fish. It is to read the output when it starts, and then asks
notewell at each press of the tabulator, which loads no engine for that.
"""
_EXAMPLES: Final = (
    ("notewell completion bash >> ~/.bashrc", "once, for bash"),
    ("notewell completion zsh >> ~/.zshrc", "once, for zsh, after its compinit"),
    (
        "notewell completion fish > ~/.config/fish/completions/notewell.fish",
        "once, for fish",
    ),
)


@click.command("completion", cls=Command, help=_TEXT, examples=_EXAMPLES)
@click.argument("shell", type=click.Choice(SHELLS), metavar="SHELL")
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Print the script of a shell."""
    call = CommandCall.of(context)
    script = completion_script(shell, COMPLETION)
    if call.output.json:
        call.output.value({"shell": shell, "script": script})
    else:
        call.output.text(script + "\n")
