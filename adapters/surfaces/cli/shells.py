"""Completion in shells, with click's own parts."""

from typing import TYPE_CHECKING, Final

from notewell.adapters.surfaces.cli.run import COMPLETION

if TYPE_CHECKING:
    import click
    from click.shell_completion import ShellComplete

SHELLS: Final = ("bash", "zsh", "fish")


def script(shell: str) -> str:
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
    if shell not in SHELLS or wanted != "complete":
        return ""
    try:
        return _completer(root(), shell).complete() + "\n"
    except (KeyError, ValueError):  # not called by our script
        return ""


def _completer(root: "click.Command", shell: str) -> "ShellComplete":
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None, "click has all three"
    return found(root, {}, "notewell", COMPLETION)
