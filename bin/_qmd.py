"""Installs the real QMD for the tests that drive it, and a Node that it runs on.

All of it comes from npm, into `.venv/qmd`: the packages `node-<system>-<machine>` ship
Node itself, and without optional packages QMD is 200 MB instead of 1 GB. Its parts for
vectors are optional, so they are named. Older versions get a newer better-sqlite3, which ships
what theirs would have to be compiled from.
"""

import os
import sys
from pathlib import Path

from _environment import environment_in
from _npm import install

NODE = "22"
VERSIONS: dict[str, tuple[str, ...]] = {
    "2.8.3": ("sqlite-vec-linux-x64@0.1.9", "@node-llama-cpp/linux-x64@3.20.0"),
    "2.5.3": (),
    "2.1.0": (),
}
"""The versions under test, with the optional packages that they get."""

MACHINES = {"x86_64": "x64", "aarch64": "arm64"}
OVERRIDES = {"better-sqlite3": "13.2.0"}
PURPOSE = "the tests of QMD"


def folder_of_qmd() -> Path:
    """Return where everything is: below the environment that runs this."""
    return Path(sys.prefix) / "qmd"


def install_qmd() -> None:
    """Install what is missing.

    Raises:
        Offline: it is not here and cannot be fetched.
        SetupFailed: there is no npm, or it failed.
    """
    with environment_in(Path(sys.prefix)) as environment:
        if not environment.ready("test"):
            return  # an environment of somebody's own
        node = f"node-{system()}@{NODE}"
        install(folder_of_qmd() / "node", node, keep=environment.lock, purpose=PURPOSE)
        for version, parts in VERSIONS.items():
            chosen = parts if system() == "linux-x64" else ()
            install(
                folder_of_qmd() / version,
                f"@tobilu/qmd@{version}",
                *chosen,
                keep=environment.lock,
                purpose=PURPOSE,
                overrides=OVERRIDES,
            )


def system() -> str:
    """Return this machine as npm's packages name it: `linux-x64`, `darwin-arm64`."""
    machine = os.uname().machine
    return f"{sys.platform}-{MACHINES.get(machine, machine)}"
