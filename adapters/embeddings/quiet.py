"""Keeps what libraries say while they load a model away from the person."""

import warnings
from collections.abc import Generator
from contextlib import contextmanager, redirect_stderr
from io import StringIO
from threading import Lock
from typing import Final

_ONE: Final = Lock()  # stderr and the filters of warnings belong to the whole process


@contextmanager
def quiet() -> Generator[None]:
    """Drop Python's warnings and what is printed to `sys.stderr`, for one at a time.

    The descriptors 1 and 2 stay as they are: other threads may be answering.
    """
    with _ONE, redirect_stderr(StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
