"""What a child process loads before it becomes another user."""

LOAD_ALL = """
import pkgutil, sys
from importlib import import_module, util
import notewell

# Who becomes another user may no longer read where notewell, Python and packages lie.
for _name in ("filelock", "hashlib", "numpy", "pathspec", "sqlite_vec", "urllib.parse"):
    if util.find_spec(_name):
        import_module(_name)
for _found in pkgutil.walk_packages(notewell.__path__, "notewell."):
    _other = (".contract", ".surfaces", ".__main__")  # need pytest, mcp or a command
    if not any(part in _found.name for part in _other):
        import_module(_found.name)
"""
"""Imports notewell as a whole, with what it loads only when that is used."""
