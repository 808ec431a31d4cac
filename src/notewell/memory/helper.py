"""One process that goes on when a command has answered: it brings an index up to date.

It has no terminal, no key and no network, makes no vectors, and gives way to everything
else. A lock that it inherits says that it runs, so that there is never a second one.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final, Literal

import orjson

from notewell.errors import NotewellError
from notewell.log import log
from notewell.memory.setup import Setup

_KEYS: Final = re.compile(r".*(API_KEY|_TOKEN|_SECRET|PASSWORD)$", re.IGNORECASE)
_LATE: Final = 30.0
"""Seconds after which one that should have ended is ended by the system."""

_LOWEST: Final = 19
_PROGRAM: Final = """import sys
sys.path.append(sys.argv[1])
from notewell.memory.helper import run_helper
from notewell.memory.sync import open_memory_sync
run_helper(sys.argv[2], open_memory_sync)
"""


def start_helper(setup: Setup) -> Literal["started", "running"] | None:
    """Start one for an index; see `Memory.refresh_later`."""
    if setup.environ.get("CI") or not setup.agent.search.sync.detach:
        return None
    asked: dict[str, object] = {
        "workspace": str(setup.workspace.root),
        "agent": setup.agent.id,
        "config": setup.settings.file and str(setup.settings.file),
        "backend": setup.settings.memory.backend,
    }
    said = orjson.dumps(asked, option=orjson.OPT_SORT_KEYS).decode()
    try:
        lock = _lock_of(setup.settings.state_dir, said)
    except BlockingIOError:
        return "running"
    except OSError:  # read-only
        return None
    root = Path(__file__).parents[2]
    try:
        child = subprocess.Popen(
            (sys.executable, *_flags(), "-c", _PROGRAM, str(root), said),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=os.sep,
            env=_environment(setup),
            start_new_session=True,
            pass_fds=(lock,),
        )
    except OSError:
        return None
    finally:
        os.close(lock)
    child.returncode = 0  # nobody waits for it, and subprocess need not say so
    log("memory", "info", "process %d brings the index up to date", child.pid)
    return "started"


def run_helper(
    said: str, open_memory: Callable[..., AbstractContextManager[Any]]
) -> None:
    """Bring the index up to date that a command has asked about."""
    from notewell.memory.setup import set_up

    os.nice(_LOWEST)
    asked: dict[str, Any] = {**orjson.loads(said), "environ": None}
    try:
        seconds = set_up(**asked, server=False, overrides={}).policy.refresh_seconds
        signal.alarm(int(seconds + _LATE))
        with open_memory(**asked) as memory:
            memory.refresh(within=seconds, vectors=None)
    except NotewellError as error:
        log("memory", "warning", "the index was not refreshed: %s", error.message)


def _lock_of(state: Path, said: str) -> int:
    """Return the lock of the helper for an index, held as long as it is open anywhere.

    Raises:
        BlockingIOError: somebody holds it.
        OSError: the folder cannot be written.
    """
    import fcntl  # not on every system, and only here

    from notewell.files import create_folder, short_digest

    folder = state / "helpers"
    create_folder(folder)
    name = f"{short_digest(said.encode(), size=8).hex()}.lock"
    lock = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock


def _flags() -> tuple[str, ...]:
    return ("-I",) if sys.flags.isolated else ("-P",)


def _environment(setup: Setup) -> dict[str, str]:
    kept = {
        name: value for name, value in setup.environ.items() if not _KEYS.match(name)
    }
    return {**kept, "NOTEWELL_OFFLINE": "1"}
