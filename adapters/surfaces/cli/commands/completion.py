"""`notewell completion`: what makes a shell complete commands and options."""

from typing import TYPE_CHECKING, Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall
from notewell.adapters.surfaces.cli.entry import COMPLETION
from notewell.adapters.surfaces.cli.options import Command

if TYPE_CHECKING:
    from click.shell_completion import ShellComplete

_SHELLS: Final = ("bash", "zsh", "fish")
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
@click.argument("shell", type=click.Choice(_SHELLS), metavar="SHELL")
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Print the script of a shell."""
    call = CommandCall.of(context)
    if call.output.json:
        call.output.value({"shell": shell, "script": completion_script(shell)})
    else:
        call.output.text(completion_script(shell) + "\n")


def completion_script(shell: str) -> str:
    """Return what a shell reads when it starts."""
    from notewell.adapters.surfaces.cli.root import root

    completer = _completer(root(), shell)
    # `source` of bash would start a bash to look at its version first.
    return (completer.source_template % completer.source_vars()).strip()


def completions(request: str) -> str:
    """Return what fits what was typed so far, in the form of the shell that asks.

    Args:
        request: The value of COMPLETION; what was typed is in the environment, too.
    """
    from notewell.adapters.surfaces.cli.root import root

    shell, _, wanted = request.partition("_")
    if shell not in _SHELLS or wanted != "complete":
        return ""
    try:
        return _completer(root(), shell).complete() + "\n"
    except (KeyError, ValueError):  # not called by our script
        return ""


def _completer(root: click.Command, shell: str) -> "ShellComplete":
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None, "click has all three"
    return found(root, {}, "notewell", COMPLETION)
