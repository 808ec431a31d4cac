"""Installs the real QMD for the tests that drive it, and a Node that it runs on.

All of it comes from npm, into `.venv/qmd`: the packages `node-<system>-<machine>` ship
Node itself, and without optional packages QMD is 200 MB instead of 1 GB. Its parts for
vectors are optional, so they are named. Older versions get a newer better-sqlite3, which ships
what theirs would have to be compiled from.
"""

import json
import os
import shutil
import sys
from pathlib import Path

from _environment import Offline, SetupFailed, environment_in, run, say

NODE = "22"
VERSIONS: dict[str, tuple[str, ...]] = {
    "2.8.3": ("sqlite-vec-linux-x64@0.1.9", "@node-llama-cpp/linux-x64@3.20.0"),
    "2.5.3": (),
    "2.1.0": (),
}
"""The versions under test, with the optional packages that they get."""

MACHINES = {"x86_64": "x64", "aarch64": "arm64"}
OVERRIDES = {"better-sqlite3": "13.2.0"}

# What npm says when it cannot reach the registry.
OFFLINE_SIGNS = ("ENOTFOUND", "ECONNREFUSED", "EAI_AGAIN", "ETIMEDOUT", "ENETUNREACH")


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
        install("node", f"node-{system()}@{NODE}", keep=environment.lock)
        for version, parts in VERSIONS.items():
            chosen = parts if system() == "linux-x64" else ()
            package = f"@tobilu/qmd@{version}"
            install(version, package, *chosen, keep=environment.lock)


def system() -> str:
    """Return this machine as npm's packages name it: `linux-x64`, `darwin-arm64`."""
    machine = os.uname().machine
    return f"{sys.platform}-{MACHINES.get(machine, machine)}"


def install(name: str, *packages: str, keep: int) -> None:
    """Put packages into a folder of their own, unless they are there.

    Raises:
        Offline: npm reached no registry, or NOTEWELL_OFFLINE forbids to try.
        SetupFailed: there is no npm, or it failed.
    """
    folder = folder_of_qmd() / name
    stamp = folder / "ready.json"
    wanted = json.dumps({"packages": packages, "overrides": OVERRIDES})
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    if os.environ.get("NOTEWELL_OFFLINE", "") not in ("", "0"):
        raise Offline(f"{', '.join(packages)} from npm: NOTEWELL_OFFLINE is set")
    npm = shutil.which("npm")
    if npm is None:
        raise SetupFailed("the tests of QMD need npm, which comes with Node.js")
    say(f"installing {', '.join(packages)} with npm")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    project = {"private": True, "overrides": OVERRIDES}
    (folder / "package.json").write_text(json.dumps(project), encoding="utf-8")
    quiet = (
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
        "--omit=optional",
        "--ignore-scripts",
    )
    command = (npm, "install", "--prefix", str(folder), *quiet, *packages)
    done = run(command, keep=[keep])
    if done.returncode:
        unreachable = any(sign in done.stdout for sign in OFFLINE_SIGNS)
        raise (Offline if unreachable else SetupFailed)(done.stdout.strip())
    stamp.write_text(wanted, encoding="utf-8")
