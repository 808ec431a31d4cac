"""bin/test: what counts as passed, and what it says at the end.

Each checkout here has the real bin/ and a suite of a few tests, which the Python of
this run checks; the set-up before it is told of in test_setup.py.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PASSING = "def test_that_passes(): pass\n"
FAILING = "def test_that_fails(): assert 1 == 2\n"
SKIPPING = "import pytest\ndef test_elsewhere(): pytest.skip('needs a Mac')\n"

# What the suites here do without takes two thirds of the time in which pytest starts.
FEW_PLUGINS = {
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTEST_PLUGINS": "xdist.plugin,xdist.looponfail",
}


class Checkout:
    """A checkout whose tests a test writes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(
            ROOT / "bin", folder / "bin", ignore=shutil.ignore_patterns("__pycache__")
        )
        for part in ("adapters", "backends"):
            (folder / "src" / "notewell" / part).mkdir(parents=True)
        (folder / "tests").mkdir()
        self.write("tests/README.md", "| Reason | Why |\n|---|---|\n")

    def write(self, path: str, text: str) -> None:
        """Write one file."""
        (self.folder / path).write_text(text, encoding="utf-8")

    def check(
        self, *arguments: str, **settings: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the checks as bin/test starts them."""
        inherited = {k: v for k, v in os.environ.items() if k != "CI"}
        return subprocess.run(
            [
                sys.executable,
                "-E",
                "-s",
                self.folder / "bin" / "_checks.py",
                *arguments,
            ],
            env={**inherited, **FEW_PLUGINS, **settings},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout without tests."""
    return Checkout(tmp_path / "checkout")


def test_the_last_lines_count_tests_and_checks(checkout: Checkout) -> None:
    checkout.write("tests/test_some.py", PASSING)

    done = checkout.check("tests")

    counts, verdict = done.stdout.splitlines()[-2:]
    assert done.returncode == 0
    assert counts == "tests: 1 passed, 0 failed, 0 skipped"
    assert verdict.startswith("bin/test: 1 of 1 checks passed in")


def test_a_failing_test_fails_the_run(checkout: Checkout) -> None:
    checkout.write("tests/test_some.py", PASSING + FAILING)

    done = checkout.check("tests")

    assert done.returncode == 1
    assert "tests: 1 passed, 1 failed, 0 skipped" in done.stdout
    assert "bin/test: failed: tests" in done.stdout


def test_a_suite_without_tests_fails_the_run(checkout: Checkout) -> None:
    assert checkout.check("tests").returncode == 1


def test_in_ci_a_skip_is_a_failure(checkout: Checkout) -> None:
    checkout.write("tests/test_some.py", PASSING + SKIPPING)

    at_home = checkout.check("tests")
    in_ci = checkout.check("tests", CI="true")

    assert (at_home.returncode, in_ci.returncode) == (0, 1)
    for done in (at_home, in_ci):
        assert "not listed in tests/README.md:\nneeds a Mac" in done.stdout


def test_in_ci_a_skip_whose_reason_is_listed_is_allowed(checkout: Checkout) -> None:
    checkout.write("tests/test_some.py", PASSING + SKIPPING)
    checkout.write("tests/README.md", "| `needs a *` | CI has only Linux |\n")

    done = checkout.check("tests", CI="true")

    assert done.returncode == 0
    assert "tests: 1 passed, 0 failed, 1 skipped" in done.stdout


def test_the_suite_does_not_see_the_keys_and_settings_of_its_user(
    checkout: Checkout,
) -> None:
    names = ["OPENAI_API_KEY", "OPENCLAW_CONFIG_PATH", "NOTEWELL_OFFLINE"]
    checkout.write(
        "tests/test_some.py",
        f"import os\ndef test_it(): assert not os.environ.keys() & {set(names)}\n",
    )

    done = checkout.check("tests", **dict.fromkeys(names, "1"))

    assert done.returncode == 0, done.stdout


def test_a_test_that_forgets_the_encoding_of_a_file_fails(checkout: Checkout) -> None:
    checkout.write(
        "pyproject.toml",
        "[tool.pytest.ini_options]\nfilterwarnings=['error::EncodingWarning']",
    )
    checkout.write(
        "tests/test_some.py", "def test_it(tmp_path): open(__file__).close()"
    )

    done = checkout.check("tests")

    assert done.returncode == 1
    assert "EncodingWarning" in done.stdout


def test_links_that_git_wrote_as_text_files_are_explained(checkout: Checkout) -> None:
    link = checkout.folder / "src" / "notewell" / "backends"
    link.rmdir()
    link.write_text("../../backends", encoding="utf-8")

    done = checkout.check("tests")

    assert done.returncode == 1
    assert "git config core.symlinks true && git checkout --" in done.stdout


def test_in_ci_a_machine_may_have_one_python_alone(checkout: Checkout) -> None:
    nowhere = str(checkout.folder / "nowhere")

    done = checkout.check("pythons", CI="true", PATH=nowhere, PYENV_ROOT=nowhere)

    assert done.returncode == 0, done.stdout
    assert "no other supported Python is on this machine" in done.stdout
    assert "bin/test: not run here: pythons" in done.stdout


WITHOUT_PACKAGES = """#!/bin/sh
case "$*" in
    *version_info*) echo 3.13 ;;
    *venv*) for folder; do :; done; /bin/mkdir -p "$folder/bin" && /bin/cp "$0" "$folder/bin/python" ;;
    *pip*) echo "No matching distribution found for apsw"; exit 1 ;;
esac
"""


def test_in_ci_a_python_without_packages_is_not_tried_and_says_so(
    checkout: Checkout,
) -> None:
    project = "[project]\nname = 'notewell'\nversion = '1'\ndependencies = ['apsw']\n"
    checkout.write("pyproject.toml", f"{project}[dependency-groups]\nsuite = []\n")
    checkout.write("src/notewell/__init__.py", "")
    checkout.write("python3.13", WITHOUT_PACKAGES)
    (checkout.folder / "python3.13").chmod(0o755)
    folder = str(checkout.folder)

    done = checkout.check("pythons", CI="true", PATH=folder, PYENV_ROOT=folder)

    assert done.returncode == 0, done.stdout
    assert "No matching distribution found for apsw" in done.stdout
    assert "Python 3.13 is not tried" in done.stdout
