"""`notewell models pull`: fetch the embedding model, once."""

import os
from typing import TYPE_CHECKING, Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall, settings_of
from notewell.adapters.surfaces.cli.options import Command
from notewell.adapters.surfaces.cli.progress import DownloadProgress
from notewell.adapters.surfaces.plain_text import one_line
from notewell.adapters.surfaces.sentences import size_text

if TYPE_CHECKING:
    from notewell.adapters.embeddings.local.disk import ModelOnDisk
    from notewell.adapters.embeddings.local.pull import ModelPull

_TEXT: Final = """Fetch the embedding model, once.

Without MODEL it is that of the configured provider, `local` if there is none.
MODEL is a GGUF file on the Hugging Face hub, hf:<owner>/<repository>/<file>.gguf,
or the name of a model for sentence-transformers.

No search ever fetches a model. What has come is kept when this is interrupted or
the connection breaks; run it again to go on. A model that is there is left alone.
"""
_EXAMPLES: Final = (
    ("notewell models pull", "the model of the configured provider"),
    ("notewell models pull hf:owner/repository/model.gguf", "one GGUF file"),
    ("notewell models pull --json", "one JSON object, for programs"),
)


@click.command("models", cls=Command, help=_TEXT, examples=_EXAMPLES)
@click.argument("action", type=click.Choice(["pull"]), metavar="pull")
@click.argument("model", required=False, metavar="[MODEL]")
@click.pass_context
def models_command(context: click.Context, action: str, model: str | None) -> int:
    """Fetch what the words name; `pull` is the one action there is."""
    from notewell.adapters.embeddings.local.pull import pull_for  # late, for `--help`

    call = CommandCall.of(context)
    settings = settings_of(call)
    agent = settings.agent(call.agent)
    fetched = _fetched(call, pull_for(settings, agent, os.environ, named=model))
    if call.output.json:
        call.output.value(
            {
                "model": fetched.model,
                "path": str(fetched.path),
                "bytes": fetched.size,
                "licence": fetched.licence,
            }
        )
    else:
        call.output.text(
            f"{one_line(str(fetched.path))}\n"
            f"{one_line(fetched.model)}, {size_text(fetched.size)}\n"
        )
    return 0


def _fetched(call: CommandCall, pull: "ModelPull") -> "ModelOnDisk":
    model = pull.model()
    call.output.note(f"{one_line(model.model)}")
    if model.licence is not None:
        call.output.note(f"its terms: {model.licence}")
    with DownloadProgress(call.output) as progress:
        try:
            return pull.run(progress)
        except BaseException:
            progress.stop()
            if progress.begun:
                call.output.note("what has come is kept; run it again to go on")
            raise
