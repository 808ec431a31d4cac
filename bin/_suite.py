"""Runs the test suite, counts its results, and knows which skips are allowed."""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from xml.etree import ElementTree

from _environment import ROOT

# A suite must not see the settings or the keys of the person who runs it.
PRIVATE = re.compile(
    r"(OPENCLAW|NOTEWELL(?!_TEST_)|QMD)_|.*_API_KEY$|PG|PYTHON|VIRTUAL_ENV$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one run of the suite came to.

    Attributes:
        exit_code: That of pytest; 0 means that all is well.
        skipped: The reason of every test that was skipped.
    """

    exit_code: int
    passed: int = 0
    failed: int = 0
    skipped: tuple[str, ...] = ()


def run_suite(python: Path, *arguments: str, report: Path) -> Result:
    """Run pytest, its output going straight to the terminal.

    Args:
        python: The Python whose environment is tested.
        arguments: For pytest.
        report: Where pytest may write its results as XML.
    """
    environment = {**clean(os.environ), "PYTHONWARNDEFAULTENCODING": "1"}
    # -P: the checkout's own folders must not be importable by accident.
    command = [str(python), "-P", "-m", "pytest", f"--junit-xml={report}", *arguments]
    report.unlink(missing_ok=True)
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
    if not report.exists():
        return Result(exit_code=done.returncode or 1)
    return read_report(report, exit_code=done.returncode)


def clean(environment: Mapping[str, str]) -> dict[str, str]:
    """Leave out what would make the suite depend on its user."""
    return {k: v for k, v in environment.items() if not PRIVATE.match(k)}


def read_report(report: Path, *, exit_code: int) -> Result:
    """Read pytest's XML: an expected failure is no skip, an error is a failure."""
    cases = list(ElementTree.parse(report).iter("testcase"))
    skips = [skip for case in cases for skip in case.findall("skipped")]
    reasons = [s.get("message", "") for s in skips if s.get("type") == "pytest.skip"]
    failed = sum(1 for c in cases if c.find("failure") is not None)
    failed += sum(1 for c in cases if c.find("error") is not None)
    passed = len(cases) - len(reasons) - failed
    return Result(
        exit_code=exit_code, passed=passed, failed=failed, skipped=tuple(reasons)
    )


def not_allowed(reasons: Sequence[str], *, listed: Sequence[str]) -> list[str]:
    """Return the reasons that no pattern of the list covers, each once."""
    strange = [r for r in reasons if not any(fnmatchcase(r, p) for p in listed)]
    return sorted(set(strange))


def listed_skips(readme: Path) -> list[str]:
    """Read the patterns from the table of allowed skips in tests/README.md."""
    rows = re.findall(r"(?m)^\| `([^`]+)` \|", readme.read_text(encoding="utf-8"))
    return [str(row) for row in rows]
