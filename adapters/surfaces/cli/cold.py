"""A search as the command makes it, where a benchmark says: a whole process.

What differs from `notewell search --json` is that no options are read and that no
changed notes are looked for afterwards.
"""

import os
import sys
from typing import Final

CODE: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from notewell.adapters.surfaces.cli.cold import main; sys.exit(main())"
)
"""Runs it; the folder of notewell and the query are its arguments."""


def main() -> int:
    """Answer the query of the second argument; the place comes by standard input."""
    import msgspec

    from notewell.adapters.surfaces.cli.commands.search import show
    from notewell.adapters.surfaces.cli.options import Call
    from notewell.adapters.surfaces.cli.output import Output, decoded
    from notewell.bench.contenders import Workplace, open_workplace

    place = msgspec.json.decode(sys.stdin.buffer.read(), type=Workplace)
    call = Call(output=Output(json=True))
    with open_workplace(place, os.environ) as memory:
        answer = memory.search(
            decoded(sys.argv[2]), max_results=place.limit, sources={"memory"}
        )
        show(answer, memory, call, "json")
    return 1 if answer.reason == "unavailable" else 0
