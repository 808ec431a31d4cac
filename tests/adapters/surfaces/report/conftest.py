"""The real browser, in which pages are tried."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from tests.adapters.surfaces.report.browser import Browser, started

_FOLDER = Path(
    os.environ.get("NOTEWELL_TEST_BROWSER")
    or Path(__file__).parents[4] / ".venv" / "browser"
)
"""Where bin/test puts a Chromium with the libraries and fonts that it needs."""


@pytest.fixture(scope="session")
def running_browser(tmp_path_factory: pytest.TempPathFactory) -> Generator[Browser]:
    """One browser for all tests of a process; skips them without one."""
    program = _FOLDER / "chromium"
    if not program.exists():
        pytest.skip("no browser here")
    environment = {
        "FONTCONFIG_FILE": str(_FOLDER / "fonts" / "notewell.conf"),
        "LD_LIBRARY_PATH": str(_FOLDER / "al2023" / "lib"),
        "HOME": str(tmp_path_factory.mktemp("home")),
        "PATH": os.environ["PATH"],
    }
    with started(program, tmp_path_factory.mktemp("profile"), environment) as browser:
        yield browser


@pytest.fixture
def browser(running_browser: Browser) -> Browser:
    """The browser, as wide as a desk's and allowed to run scripts."""
    running_browser.scripts(allowed=True)
    running_browser.narrow(1280)
    return running_browser
