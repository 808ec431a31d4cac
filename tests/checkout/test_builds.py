"""What is in the sdist and in the wheel, whichever way they are built."""

import os
import shutil
import stat
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from notewell._version import __version__

ROOT = Path(__file__).parents[2]
LINKS = ("adapters", "backends")
LEFT_OUT = shutil.ignore_patterns(".*cache*", "__pycache__", ".git", ".venv*", ".hypo*")


def build(checkout: Path, target: str, into: Path) -> Path:
    """Build one target with the project's own build backend; return the file."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target]
    subprocess.run([*command, "-d", str(into)], cwd=checkout, check=True)
    [built] = into.iterdir()
    return built


def contents(wheel: Path) -> dict[str, bytes]:
    """Return every file of a wheel with its bytes."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the checkout as it is."""
    return build(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist of the checkout as it is."""
    return build(ROOT, "sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the checkout, links and all, that a test may spoil."""
    return shutil.copytree(ROOT, tmp_path / "copy", symlinks=True, ignore=LEFT_OUT)


def test_the_wheel_has_every_file_of_the_package(wheel: Path) -> None:
    folders = {ROOT / "src" / "notewell": "notewell"}
    folders |= {ROOT / link: f"notewell/{link}" for link in LINKS}
    expected = {
        f"{place}/{path.relative_to(folder).as_posix()}"
        for folder, place in folders.items()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    found = {name for name in contents(wheel) if name.startswith("notewell/")}

    assert found == expected
    assert {"notewell/py.typed", "notewell/backends/base.py"} <= found


@pytest.fixture
def installed(wheel: Path, tmp_path: Path) -> Path:
    """The files of an environment in which the wheel is installed."""
    site = tmp_path / "lib" / "python3" / "site-packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


def differences(installed: Path) -> list[str]:
    """Return what the check `wheel` of bin/test finds wrong with an installation."""
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
        "from _wheel import differences; print(*differences(Path(sys.argv[2])), sep='\\n')"
    )
    place = (ROOT / "bin", installed.parents[2])
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, *place],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout.splitlines()


def test_an_installed_wheel_is_the_checkout(installed: Path) -> None:
    assert "".join(differences(installed)) == ""


def test_an_installation_that_is_not_the_checkout_is_told_by_its_files(
    installed: Path,
) -> None:
    [record] = installed.glob("*.dist-info/RECORD")
    (installed / "notewell" / "py.typed").unlink()
    (installed / "notewell" / "types.py").write_bytes(b"")
    (installed / "notewell" / "left.html").touch()
    with record.open("a", encoding="utf-8") as rows:
        rows.write("tests/__init__.py,,\n")

    found = differences(installed)

    assert found == [
        "missing: notewell/py.typed",
        "more: notewell/left.html",
        "more: tests/__init__.py",
        "other: notewell/types.py",
    ]


def test_the_wheel_installs_notewell_and_nothing_beside_it(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in contents(wheel)}

    assert tops == {"notewell", f"notewell-{__version__}.dist-info"}


def test_the_wheel_has_the_version_the_licence_and_the_command(wheel: Path) -> None:
    files = contents(wheel)
    record = f"notewell-{__version__}.dist-info"

    assert f"\nVersion: {__version__}\n" in files[f"{record}/METADATA"].decode()
    assert f"{record}/licenses/LICENSE" in files
    assert (
        "notewell = notewell.__main__:run_command"
        in files[f"{record}/entry_points.txt"].decode()
    )


def test_the_sdist_has_the_whole_checkout_and_no_links(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        members = {member.name.split("/", 1)[1]: member for member in archive}

    assert all(member.isfile() or member.isdir() for member in members.values())
    assert {
        "adapters/surfaces/__init__.py",
        "backends/base.py",
        "bin/notewell",
        "bin/test",
        "docs/example/MEMORY.md",
        "src/notewell/types.py",
        "tests/checkout/test_builds.py",
    } <= members.keys()
    assert not any(name.startswith("src/notewell/backends") for name in members)
    assert members["bin/notewell"].mode & stat.S_IXUSR


def test_the_sdist_builds_the_same_wheel(
    sdist: Path, wheel: Path, tmp_path: Path
) -> None:
    with tarfile.open(sdist) as archive:
        if hasattr(tarfile, "data_filter"):  # Debian 12's Python 3.11.2 has none
            archive.extraction_filter = tarfile.data_filter
        archive.extractall(tmp_path / "unpacked")
    [unpacked] = (tmp_path / "unpacked").iterdir()

    again = build(unpacked, "wheel", tmp_path / "wheel")

    assert contents(again) == contents(wheel)


def test_a_checkout_without_the_links_builds_the_same_wheel(
    copy: Path, wheel: Path, tmp_path: Path
) -> None:
    for link in LINKS:
        (copy / "src" / "notewell" / link).unlink()

    again = build(copy, "wheel", tmp_path / "wheel")

    assert contents(again) == contents(wheel)


def test_links_that_git_wrote_as_text_files_build_the_same_wheel(
    copy: Path, wheel: Path, tmp_path: Path
) -> None:
    for link in LINKS:
        path = copy / "src" / "notewell" / link
        target = os.readlink(path)
        path.unlink()
        path.write_text(target, encoding="utf-8")

    again = build(copy, "wheel", tmp_path / "wheel")

    assert contents(again) == contents(wheel)
