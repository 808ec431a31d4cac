"""QMD, an external search engine, driven over its command line and its MCP server.

`notewell.backends.qmd.engine` is where to begin to read.
"""
