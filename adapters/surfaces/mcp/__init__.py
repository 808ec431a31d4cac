"""The MCP server: the tools, the notes as resources, and a prompt for the flush.

`server` says what there is, `conversations` who may see it; `stdio` and `http` are how
it is reached, with `startup` before the SDK and `web` behind `http`. The package `mcp`,
which the extra `mcp` installs, is needed by `server` and `web`.
"""

from typing import NamedTuple


class Offer(NamedTuple):
    """What a server gives its clients.

    Attributes:
        write: The tool memory_write, too.
        structured: Results as JSON beside their text, with the schemas of that.
    """

    write: bool = False
    structured: bool = False
