"""`notewell completion`: what makes a shell complete commands and options."""

from typing import Final

import click

from notewell.adapters.surfaces.cli.options import Call, Command
from notewell.adapters.surfaces.cli.shells import SHELLS, script

_TEXT: Final = """Print what makes a shell complete commands and options.

SHELL is bash, zsh or fish. Have the shell read the output when it starts; it then
asks notewell at each press of the tabulator, which loads no engine for that.
"""
_EXAMPLES: Final = (
    ('eval "$(notewell completion bash)"', "in ~/.bashrc"),
    ('eval "$(notewell completion zsh)"', "in ~/.zshrc, after compinit"),
    (
        "notewell completion fish > ~/.config/fish/completions/notewell.fish",
        "once, for fish",
    ),
)


@click.command("completion", cls=Command, help=_TEXT, examples=_EXAMPLES)
@click.argument("shell", type=click.Choice(SHELLS), metavar="SHELL")
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script of a shell."""
    call = Call.of(context)
    if call.output.json:
        call.output.value({"shell": shell, "script": script(shell)})
    else:
        call.output.text(script(shell) + "\n")
