"""`notewell postgres`: the SQL that prepares a server, and whether one is fit."""

from typing import TYPE_CHECKING, Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall, settings_of
from notewell.adapters.surfaces.cli.options import Command
from notewell.adapters.surfaces.plain_text import one_line

if TYPE_CHECKING:
    from notewell.backends.postgres.administration import ServerCheck
    from notewell.backends.postgres.private import PrivateServer
    from notewell.config import Settings

_TEXT: Final = """Prepare a PostgreSQL server for the engine `postgres`, and check it.

init prints SQL for the owner of a database, and runs none of it: the tables, a user
with no right but to rows, with --space row-level security for one space, with
--citus what spreads the tables. check connects as configured, and changes nothing.

Where memory.postgres.dsn is not set, a private server below the state folder is
used. As root it runs as another user, and only if --allow-system-user was given once.
"""
_EXAMPLES: Final = (
    ("notewell postgres init | psql memory", "make tables and a user"),
    ("notewell postgres init --citus", "the same, for several machines"),
    ("notewell postgres check", "see whether the server is fit"),
)


@click.command("postgres", cls=Command, help=_TEXT, examples=_EXAMPLES)
@click.argument("action", type=click.Choice(["init", "check"]), metavar="init|check")
@click.option(
    "--role", default="notewell", show_default=True, help="The user to be made."
)
@click.option("--space", help="The one space that this user may see.")
@click.option("--citus", is_flag=True, help="Spread the tables over several machines.")
@click.option(
    "--allow-system-user",
    is_flag=True,
    help="As root: make the private server, run by `postgres` or `nobody`.",
)
@click.pass_context
def postgres_command(
    context: click.Context,
    action: str,
    role: str,
    space: str | None,
    citus: bool,
    allow_system_user: bool,
) -> int:
    """Print SQL, or look at the server."""
    call = CommandCall.of(context)
    settings = settings_of(call)
    from notewell.backends.postgres.engine import require_installed

    require_installed()
    if action == "check":
        return _check(call, settings, settings.agent(call.agent).id)
    if allow_system_user:
        server = _private(settings, as_system_user=True)
        server.start()
        server.close()
        call.output.note(f"a private server is at {one_line(str(server.folder))}")
    from notewell.backends.postgres.administration import setup_sql

    script = setup_sql(settings.memory.postgres, role=role, space=space, citus=citus)
    if call.output.json:
        call.output.value({"sql": script})
    else:
        call.output.text(script)
    return 0


def _private(settings: "Settings", *, as_system_user: bool = False) -> "PrivateServer":
    from notewell.backends.postgres.private import PrivateServer

    return PrivateServer(settings.state_dir, as_system_user=as_system_user)


def _check(call: CommandCall, settings: "Settings", agent: str) -> int:
    checks = _checks(settings, agent)
    well = all(check.ok for check in checks)
    if call.output.json:
        from notewell.adapters.surfaces import wire

        shapes = [wire.as_json(check) for check in checks]
        call.output.value({"ok": well, "checks": shapes})
        return 0 if well else 1
    for check in checks:
        status = "ok" if check.ok else "problem"
        call.output.text(f"{status:<8} {check.name}: {one_line(check.detail)}\n")
        if not check.ok:
            call.output.text(f"         {one_line(check.remedy)}\n")
    return 0 if well else 1


def _checks(settings: "Settings", agent: str) -> "list[ServerCheck]":
    from notewell.backends.postgres.address import require_allowed, server_address
    from notewell.backends.postgres.administration import check_server
    from notewell.backends.postgres.connections import Connections
    from notewell.backends.postgres.identity import place_of

    given = settings.memory.postgres
    place = place_of(settings.state_dir, agent)
    private = None if given.dsn else _private(settings)
    if private is not None:
        private.start()
    dsn = private.dsn if private else given.dsn
    assert dsn is not None, "one of both is there"
    address = server_address(dsn, given)
    require_allowed(address, offline=settings.memory.offline)
    connections = Connections(address, given, stays=False)
    try:
        return list(check_server(connections, given, place))
    finally:
        connections.close()
        if private is not None:
            private.close()
