import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.other_users import LOAD_ALL

Lay: TypeAlias = Callable[[Mapping[str, str]], Path]
AsNobody: TypeAlias = Callable[[str], str]


@pytest.fixture
def lay(tmp_path: Path) -> Lay:
    """Write files below `tmp_path`, given as path and text; return the folder `w`."""

    def write(files: Mapping[str, str]) -> Path:
        root = tmp_path / "w"
        root.mkdir(exist_ok=True)
        for name, text in files.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode("utf-8"))
        return root

    return write


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user can enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="notewell-test-")).resolve()
    folder.chmod(0o755)
    yield folder
    for path, folders, _ in os.walk(folder):
        for name in folders:
            os.chmod(os.path.join(path, name), 0o700)
    shutil.rmtree(folder)


@pytest.fixture
def as_nobody() -> AsNobody:
    """Run a script without the rights of root, and return what it printed."""

    def run(script: str) -> str:
        prelude = (
            f"{LOAD_ALL}import os\n"
            "from pathlib import Path\n"
            "from notewell.errors import *\n"
            "from notewell.workspace import *\n"
            "os.getuid() or os.setuid(65534)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", prelude + script],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run
