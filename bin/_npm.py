"""Installs packages from npm, each set into a folder of its own."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from _environment import Offline, SetupFailed, run, say

# What npm says when it cannot reach the registry.
OFFLINE_SIGNS = ("ENOTFOUND", "ECONNREFUSED", "EAI_AGAIN", "ETIMEDOUT", "ENETUNREACH")

OPTIONS = (
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    "--omit=optional",
    "--ignore-scripts",
)


def install(
    folder: Path,
    *packages: str,
    keep: int,
    purpose: str,
    overrides: Mapping[str, str] | None = None,
) -> None:
    """Put packages into a folder, unless they are there.

    Args:
        keep: A descriptor that npm inherits: the lock of the environment.
        purpose: What needs them, for the message when there is no npm.
        overrides: Versions that packages get in place of what they ask for.

    Raises:
        Offline: npm reached no registry, or NOTEWELL_OFFLINE forbids to try.
        SetupFailed: there is no npm, or it failed.
    """
    stamp = folder / "ready.json"
    wanted = json.dumps({"packages": packages, "overrides": overrides or {}})
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    if os.environ.get("NOTEWELL_OFFLINE", "") not in ("", "0"):
        raise Offline(f"{', '.join(packages)} from npm: NOTEWELL_OFFLINE is set")
    npm = shutil.which("npm")
    if npm is None:
        raise SetupFailed(f"{purpose} need npm, which comes with Node.js")
    say(f"installing {', '.join(packages)} with npm")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    project = {"private": True, "overrides": overrides or {}}
    (folder / "package.json").write_text(json.dumps(project), encoding="utf-8")
    command = (npm, "install", "--prefix", str(folder), *OPTIONS, *packages)
    done = run(command, keep=[keep])
    if done.returncode:
        unreachable = any(sign in done.stdout for sign in OFFLINE_SIGNS)
        raise (Offline if unreachable else SetupFailed)(done.stdout.strip())
    stamp.write_text(wanted, encoding="utf-8")
