"""The command line: `notewell search`, `get`, `index`, `status`, `config`, `doctor`.

One module per command; `root` finds them by name, so that a command loads only
what it needs. `entry` is the frame around all of them: it owns the exit codes and
the promise of one JSON object on stdout. `call` is what a command is called with,
`output` and `screen` are where it writes.
"""

from notewell.adapters.surfaces.cli.entry import lost_answer, main, run

__all__ = ["lost_answer", "main", "run"]
