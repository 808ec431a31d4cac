"""The documentation site: what fails its build, and that it needs nobody else."""

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Built:
    """A site, and what `bin/test site` said of it."""

    folder: Path
    code: int
    said: str


@pytest.fixture(scope="module")
def with_faults(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The site as it is, but for two links on its first page that lead nowhere."""
    pytest.importorskip("material", reason="mkdocs-material is not installed")
    checkout = tmp_path_factory.mktemp("checkout")
    for name in ("bin", "docs"):
        shutil.copytree(ROOT / name, checkout / name)
    for name in ("mkdocs.yml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, checkout / name)
    for name in ("src", "adapters", "backends"):
        (checkout / name).symlink_to(ROOT / name)
    with (checkout / "docs" / "index.md").open("a", encoding="utf-8") as page:
        page.write("\n[a page](nowhere.md) [a chapter](cli.md#nowhere)\n")
    done = subprocess.run(
        [sys.executable, "-E", "-s", checkout / "bin" / "_checks.py", "site"],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    return Built(checkout / "site", done.returncode, done.stdout)


def test_links_to_a_page_or_a_chapter_that_does_not_exist_fail_the_check(
    with_faults: Built,
) -> None:
    assert with_faults.code == 1
    assert "contains a link 'nowhere.md'" in with_faults.said
    assert "contains a link 'cli.md#nowhere'" in with_faults.said
    assert "Aborted with 2 warnings in strict mode!" in with_faults.said
    assert "bin/test: failed: site" in with_faults.said


def test_no_page_loads_anything_from_another_host(with_faults: Built) -> None:
    pages = [
        page.read_text(encoding="utf-8") for page in with_faults.folder.rglob("*.html")
    ]
    loading = re.compile(
        r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=\"?([^\s\">]+)"
    )

    loaded = {address for page in pages for address in loading.findall(page)}

    assert len(pages) > 20
    assert any(address.endswith("assets/site.css") for address in loaded)
    assert any(address.endswith("assets/iframe-worker.js") for address in loaded)
    assert [address for address in loaded if "//" in address] == []
