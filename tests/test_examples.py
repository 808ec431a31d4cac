"""The examples run, and end as they say."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import notewell

ROOT = Path(__file__).resolve().parents[1]


def test_a_day_in_the_life_finds_in_the_evening_what_the_morning_wrote(
    tmp_path: Path,
) -> None:
    ran = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "day_in_the_life.py"), str(tmp_path)],
        env={"PYTHONPATH": str(Path(notewell.__file__).parents[1]), "HOME": "/"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=300,
    )

    before, after = ran.stdout.split("the agent is restarted\n")
    [log] = (tmp_path / "workspace" / "memory").iterdir()
    lines = log.read_text(encoding="utf-8").splitlines()
    assert "behind the clock. (MEMORY.md#L3)" in before
    assert before.count("tokens are expected") == 2
    assert before.count("no news") == 1
    assert lines[2:] == [
        "- the boiler is serviced on 12 March by Aldous Heating.",
        "- By the way, we decided to keep the old lease until June.",
    ]
    assert f"loaded MEMORY.md#L1-L3, memory/{log.name}#L1-L4" in after
    assert f"Aldous Heating. (memory/{log.name}#L3)" in after
    assert f"lease until June. (memory/{log.name}#L4)" in after


def test_the_example_plugin_keeps_the_promises_of_an_engine(tmp_path: Path) -> None:
    source = tmp_path / "plugin"
    shutil.copytree(ROOT / "examples" / "plugin", source)
    installed = tmp_path / "installed"
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "."]
    subprocess.run(build, cwd=source, check=True, timeout=300, capture_output=True)
    [wheel] = source.glob("*.whl")
    ZipFile(wheel).extractall(installed)
    paths = (str(installed), str(Path(notewell.__file__).parents[1]))

    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=source,
        env={"PYTHONPATH": os.pathsep.join(paths), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )

    assert ran.returncode == 0, ran.stdout
    assert "47 passed" in ran.stdout
