"""QMD, an external search engine, driven over its command line and its MCP server.

`notewell.backends.qmd.engine` is where to begin to read.
"""

from notewell.backends.qmd.backend import QmdBackend

__all__ = ["QmdBackend"]
