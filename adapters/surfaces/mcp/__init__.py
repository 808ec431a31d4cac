"""The MCP server: the tools, the notes as resources, and a prompt for the flush.

`server` says what there is, `conversations` who may see it, `stdio` and `http` how
it is reached. All but `token` need the package `mcp`, which the extra `mcp` installs.
"""

from typing import Final

INSTALL: Final = "pip install 'notewell[mcp]'"
"""What installs the package `mcp`."""
