"""Runs all checks of this checkout, one after the other, and sums them up.

bin/test starts this in the private environment, which holds every tool. What is installed outside of
it (from npm, and the wheel under each Python) is begun at once, and goes on beside the first checks.
"""

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from _browser import install_browser
from _environment import ROOT, Offline, SetupFailed
from _models import MODULES, install_models
from _qmd import install_qmd
from _structure import structure_findings
from _suite import Result, listed_skips, not_allowed, run_suite
from _wheel import (
    EVERYTHING,
    ON_OTHER_PYTHONS,
    ON_THE_WHEEL,
    PackagesNotFetched,
    WheelBroken,
    build_wheel,
    install_wheel,
    other_pythons,
    run_on_wheel,
)

LINKS = ("src/notewell/adapters", "src/notewell/backends")
LINT_IMPORTS = str(Path(sys.executable).parent / "lint-imports")
# The machines that run this most have two cores.
WORKERS = ("--numprocesses=2", "--dist=worksteal")


class Failed(Exception):
    """A check found something; the message is what it printed."""


class Skipped(Exception):
    """A check could not run here; the message says why."""


class NotHere(Exception):
    """There is nothing to check on this machine, also in CI; the message says why."""


@dataclass(slots=True)
class Session:
    """What the checks of one run share.

    Attributes:
        begun: What is being installed for a check, by its name; one at a time, in this order.
    """

    scratch: Path
    results: list[Result] = field(default_factory=list[Result])
    begun: dict[str, Future[None]] = field(default_factory=dict[str, Future[None]])

    def wait_for(self, name: str) -> None:
        """Wait until everything is installed that a check needs, and raise what that raised."""
        self.begun[name].result()

    def add(self, result: Result) -> None:
        """Keep the counts of a run of the suite, and judge it.

        Raises:
            Failed: a test failed, or was skipped where that is not allowed.
        """
        self.results.append(result)
        if result.exit_code:
            raise Failed("pytest failed, see above")
        listed = listed_skips(ROOT / "tests" / "README.md")
        if strange := not_allowed(result.skipped, listed=listed):
            text = "\n".join(["skipped, but not listed in tests/README.md:", *strange])
            if os.environ.get("CI"):
                raise Failed(text)
            print(f"{text}\n(in CI this is a failure)", flush=True)


Check = Callable[[Session], None]


def need(*modules: str) -> None:
    """Go on only if these are installed, which without network they may not be.

    Raises:
        Skipped: one is missing.
    """
    for module in modules:
        if find_spec(module) is None:
            raise Skipped(f"{module} is not installed")


def tool(module: str, *arguments: str) -> Check:
    """Make a check from a tool that speaks by its exit code."""

    def check(_session: Session) -> None:
        need(module)
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": "src", "NO_COLOR": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        if done.returncode:
            raise Failed(done.stdout)

    return check


def structure(_session: Session) -> None:
    """Check sizes, importers and names; see bin/structure.toml."""
    if found := structure_findings(ROOT):
        raise Failed("\n".join(found))


def models(_session: Session) -> None:
    """Install the real models for the tests; without them those tests are skipped."""
    try:
        install_models()
    except SetupFailed as failure:
        raise Skipped(f"{failure}\nthe tests of local models are skipped") from failure
    importlib.invalidate_caches()  # this process has looked for them before
    need(*MODULES)


def qmd(session: Session) -> None:
    """Install the real QMD for the tests; without it those tests are skipped."""
    try:
        session.wait_for("qmd")
    except SetupFailed as failure:
        raise Skipped(f"{failure}\nthe tests of QMD are skipped") from failure


def browser(session: Session) -> None:
    """Install a browser for the tests; without it those of pages are skipped."""
    try:
        session.wait_for("browser")
    except SetupFailed as failure:
        raise Skipped(f"{failure}\nthe tests in a browser are skipped") from failure


def suite_on_checkout(session: Session) -> None:
    """Run the whole suite, and the doctests, on the sources as they are."""
    need("pytest", "xdist")
    report = session.scratch / "report.xml"
    session.add(run_suite(Path(sys.executable), *WORKERS, report=report))


def environment_of(session: Session, python: str) -> Path:
    """Say where the wheel is installed under a Python, given by its path."""
    return session.scratch / python.strip("/").replace("/", "-")


def install_under(session: Session, python: str) -> None:
    """Install the wheel under one Python, built by the first that needs it."""
    need("pytest", "hatchling")
    built = session.scratch / "built"
    wheel = next(built.glob("*.whl"), None) or build_wheel(built)
    install_wheel(environment_of(session, python), wheel, base=python)


def suite_on_wheel(session: Session) -> None:
    """Hold the built wheel against the checkout, and run there what it can break."""
    session.wait_for(f"wheel {sys.executable}")
    folder = environment_of(session, sys.executable)
    session.add(run_on_wheel(folder, *WORKERS, suite=ON_THE_WHEEL))


def other_pythons_run(suite: Sequence[str]) -> Check:
    """Make a check that runs tests on the wheel under the other Pythons here."""

    def check(session: Session) -> None:
        if not (others := other_pythons()):
            raise NotHere("no other supported Python is on this machine")
        failures: list[str] = []
        tried = 0
        for version, python in others.items():
            print(f"\nPython {version}, {python}", flush=True)
            try:
                session.wait_for(f"wheel {python}")
                folder = environment_of(session, python)
                session.add(run_on_wheel(folder, *WORKERS, suite=suite))
            except PackagesNotFetched as reason:
                print(f"{reason}\nPython {version} is not tried", flush=True)
                continue
            except (Failed, WheelBroken, SetupFailed, Offline) as failure:
                failures.append(f"Python {version}: {failure}")
            tried += 1
        if failures:
            raise Failed("\n".join(failures))
        if not tried:
            raise NotHere("no other Python gets the packages that it needs")

    return check


def soak(session: Session) -> None:
    """Run the tests with long counts, one at a time."""
    need("pytest", "xdist")
    report = session.scratch / "report.xml"
    session.add(run_suite(Path(sys.executable), "-m", "soak", report=report))


CHECKS: dict[str, Check] = {
    "format": tool(
        "ruff", "-m", "ruff", "format", "--check", "--output-format=concise", "."
    ),
    "lint": tool("ruff", "-m", "ruff", "check", "--quiet", "."),
    "mypy": tool("mypy", "-m", "mypy", "--strict", "-p", "notewell"),
    "pyright": tool("pyright", "-m", "pyright", "--pythonpath", sys.executable),
    "layers": tool("importlinter", LINT_IMPORTS),
    "structure": structure,
    "site": tool("material", "-m", "mkdocs", "build", "--strict"),
    "models": models,
    "qmd": qmd,
    "browser": browser,
    "tests": suite_on_checkout,
    "wheel": suite_on_wheel,
    "pythons": other_pythons_run(ON_OTHER_PYTHONS),
}


def installations(checks: Mapping[str, Check]) -> dict[str, Callable[[Session], None]]:
    """List what these checks need that is installed outside of our own environment."""
    found: dict[str, Callable[[Session], None]] = {}
    if "qmd" in checks:
        found["qmd"] = lambda _session: install_qmd()
    if "browser" in checks:
        found["browser"] = lambda _session: install_browser()
    pythons = [sys.executable] if "wheel" in checks else []
    pythons += other_pythons().values() if "pythons" in checks else []
    for python in pythons:
        found[f"wheel {python}"] = partial(install_under, python=python)
    return found


def chosen() -> dict[str, Check]:
    """Read from the command line which checks to run."""
    parser = argparse.ArgumentParser(
        prog="bin/test", description="Run all checks, or only the ones named."
    )
    parser.add_argument("check", nargs="*", help=", ".join(CHECKS))
    parser.add_argument(
        "--all-pythons",
        action="store_true",
        help="run the whole suite under the other Pythons 3.11 to 3.13 found here",
    )
    parser.add_argument(
        "--soak", action="store_true", help="run only the tests with long counts"
    )
    options = parser.parse_args()
    if unknown := [name for name in options.check if name not in CHECKS]:
        parser.error(f"no check is called {unknown[0]}; there are {', '.join(CHECKS)}")
    if options.soak:
        return {"soak": soak}
    checks = {n: CHECKS[n] for n in CHECKS if n in options.check or not options.check}
    if options.all_pythons:
        checks["pythons"] = other_pythons_run(EVERYTHING)
    return checks


def run_check(check: Check, session: Session) -> str:
    """Run one check and print what it has to say; return its verdict."""
    try:
        check(session)
    except (Failed, WheelBroken, SetupFailed) as failure:
        print(failure, flush=True)
        return "FAILED"
    except (Skipped, Offline) as reason:
        print(reason, flush=True)
        return "skipped"
    except NotHere as reason:
        print(reason, flush=True)
        return "nothing to check"
    return "ok"


def sum_up(session: Session, verdicts: dict[str, str], seconds: float) -> int:
    """Print the last lines of the run; return its exit code."""
    passed = sum(result.passed for result in session.results)
    failed = sum(result.failed for result in session.results)
    skipped = sum(len(result.skipped) for result in session.results)
    failures = [name for name, verdict in verdicts.items() if verdict == "FAILED"]
    gaps = [name for name, verdict in verdicts.items() if verdict == "skipped"]
    if gaps and os.environ.get("CI"):
        failures += gaps
    gaps += [n for n, verdict in verdicts.items() if verdict == "nothing to check"]
    if session.results:
        print(f"tests: {passed} passed, {failed} failed, {skipped} skipped")
    for word, names in (("failed", failures), ("not run here", gaps)):
        if names:
            print(f"bin/test: {word}: {', '.join(names)}")
    good = len(verdicts) - len({*failures, *gaps})
    print(f"bin/test: {good} of {len(verdicts)} checks passed in {seconds:.0f} s")
    return 1 if failures else 0


def main() -> int:
    """Run the chosen checks; every one runs, also after a failure."""
    checks = chosen()
    if missing := [link for link in LINKS if not (ROOT / link).is_dir()]:
        print(
            f"bin/test: {' and '.join(missing)} must be symbolic links; run\n"
            f"  git config core.symlinks true && git checkout -- {' '.join(missing)}"
        )
        return 1
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="notewell-test-") as scratch:
        # Tests start it as another user, who must find what loads only when used.
        Path(scratch).chmod(0o755)
        session = Session(Path(scratch))
        with ThreadPoolExecutor(max_workers=1) as beside:
            for name, install in installations(checks).items():
                session.begun[name] = beside.submit(install, session)
            try:
                verdicts = run_in_turn(checks, session)
            finally:
                beside.shutdown(cancel_futures=True)
    return sum_up(session, verdicts, time.monotonic() - started)


def run_in_turn(checks: Mapping[str, Check], session: Session) -> dict[str, str]:
    """Run one check after the other; return the verdict of each."""
    verdicts: dict[str, str] = {}
    for name, check in checks.items():
        print(f"{name} ...", flush=True)
        before = time.monotonic()
        verdicts[name] = run_check(check, session)
        print(f"{name}: {verdicts[name]} ({time.monotonic() - before:.1f} s)")
    return verdicts


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("bin/test: interrupted")
        sys.exit(130)
