"""`notewell recent`: what was written last, with no question asked."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall
from notewell.adapters.surfaces.cli.commands.search import (
    answer_form,
    answer_query,
    format_option,
    max_results_option,
    source_option,
)
from notewell.adapters.surfaces.cli.filters import filter_options
from notewell.adapters.surfaces.cli.options import (
    Command,
    CommandUsageError,
    whole_number,
)
from notewell.types import Source

_MOST_DAYS: Final = 100_000
_TEXT: Final = """Show what was written last, the newest first.

A note's day is the one in its name, else `date` or `created` at its top, else the last
change of its file; what was said has its own. Days to come are left out unless --until or
--on names them.
"""
_EXAMPLES: Final = (
    ("notewell recent", "the newest passages of all"),
    ("notewell recent --days 7 --max-results 20", "those of the last week and today"),
    ("notewell recent --tag project/tidepool", "the newest with a tag"),
    ('notewell recent --phrase "port 9000"', "the newest in which this stands"),
)


@click.command("recent", cls=Command, help=_TEXT, examples=_EXAMPLES)
@click.option(
    "--days",
    callback=whole_number(_MOST_DAYS),
    metavar="N",
    help="Only those of the last N days, and of today.",
)
@max_results_option
@source_option
@filter_options
@format_option
@click.pass_context
def recent_command(
    context: click.Context,
    /,
    days: int | None,
    max_results: int | None,
    sources: Sequence[Source],
    form: str | None,
    **filters: object,
) -> int:
    """Show the newest passages, then bring the index up to date."""
    call = CommandCall.of(context)
    form = answer_form(call, form)
    filters = dict(_of_days(filters, days))
    return answer_query(
        call,
        "",
        form,
        max_results=max_results,
        sources=sources,
        filters=filters,
        up_to_now=not (filters["until"] or filters["on"]),
    )


def _of_days(filters: Mapping[str, Any], days: int | None) -> Mapping[str, Any]:
    """Return the filter's options, with the first day that --days means."""
    given = dict(filters)
    if days is not None:
        if given["since"] or given["on"]:
            raise CommandUsageError(
                "the first day is given twice", remedy="use either --days or --since"
            )
        given["since"] = f"{days}d"
    return given
