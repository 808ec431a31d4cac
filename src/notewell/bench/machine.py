"""Where a benchmark runs, and with which versions."""

import os
import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Final

import apsw

from notewell._version import __version__
from notewell.bench.memory_use import all_memory
from notewell.bench.results import Machine

_PACKAGES: Final = ("numpy", "sentence-transformers", "llama-cpp-python")


def this_machine() -> Machine:
    """Describe where we are, without its name."""
    return Machine(
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        processor=_processor(),
        cores=os.cpu_count() or 1,
        memory_bytes=all_memory(),
        python=platform.python_version(),
    )


def versions() -> dict[str, str]:
    """Return the versions of what answers here."""
    found = {"notewell": __version__, "SQLite": apsw.sqlite_lib_version()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _processor() -> str:
    """Return the model of the processor; Linux tells it in a file, others at once."""
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
