"""What a report tells of this machine: files by their name, never where they lie.

Reports are made to be shown to others, and a folder may be called as its owner is.
"""

import re
from collections.abc import Mapping
from typing import Final, cast

_WAY: Final = re.compile(r"(?<![\w.:/\\%~-])~?/(?:[^\s/:;,'\"]+/)*(?=[^\s/:;,'\"])")
"""Folders of an absolute path inside a sentence; a URL has something before each `/`."""


def without_folders(sentence: str) -> str:
    """Return a sentence with absolute paths by their last part.

    >>> without_folders("/home/ann/models/e.gguf: there is no such file")
    'e.gguf: there is no such file'
    >>> without_folders("no connection to http://localhost:11434/api/embed")
    'no connection to http://localhost:11434/api/embed'
    """
    return _WAY.sub("", sentence)


def last_part(value: str) -> str:
    """Return the last part of an absolute path; anything else as it is.

    >>> last_part("~/models/my own/e.gguf"), last_part("hf:org/models/e.gguf")
    ('e.gguf', 'hf:org/models/e.gguf')
    """
    if not value.startswith(("/", "~")):
        return value
    return value.rstrip("/").rpartition("/")[2] or value


def named_alone(value: object) -> object:
    """Return the value of a setting with the paths in it by their last part."""
    if isinstance(value, str):
        return last_part(value)
    if isinstance(value, list | tuple):
        return [named_alone(each) for each in cast("list[object]", value)]
    if isinstance(value, Mapping):
        members = cast("Mapping[str, object]", value)
        return {key: named_alone(each) for key, each in members.items()}
    return value
