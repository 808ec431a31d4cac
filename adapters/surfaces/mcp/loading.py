"""Loads the SDK in two thirds of the time, because a client waits for it."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def quickly() -> Generator[None]:
    """Do nothing in here that can wait, or need not be done.

    The SDK describes three versions of the protocol in some thousand models, which
    stay. Nothing of them is garbage, and a connection uses a few: pydantic makes the
    validators of the others never, and of these when they are used.
    """
    from pydantic import BaseModel

    gc.disable()
    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]
        gc.freeze()
        gc.enable()
