"""Installs a Chromium for the tests of pages, without touching the machine's own packages.

The npm package @sparticuz/chromium has a headless build for Linux on x64, with the few libraries
and the font that it needs: 65 MB to fetch, 280 MB in `.venv/browser`. Everything in it is packed
with Brotli, which Node unpacks, and npm comes with Node.
"""

import shutil
import sys
import tarfile
from pathlib import Path

from _environment import SetupFailed, environment_in, run, say
from _npm import install
from _qmd import system

PACKAGE = "@sparticuz/chromium@147.0.0"

UNPACK = """
const [from, to] = process.argv.slice(1);
const packed = require("fs").createReadStream(from);
const unpacked = require("fs").createWriteStream(to, { mode: 0o755 });
const brotli = require("zlib").createBrotliDecompress();
require("stream").pipeline(packed, brotli, unpacked, (error) => { if (error) throw error; });
"""
FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{folder}</dir><cachedir>{folder}/cache</cachedir></fontconfig>
"""
"""Without any font a tab crashes; with only these every machine shows the same."""


def install_browser() -> None:
    """Install what is missing.

    Raises:
        Offline: it is not here and cannot be fetched.
        SetupFailed: there is no npm or it failed, or no such build for this machine.
    """
    folder = Path(sys.prefix) / "browser"
    with environment_in(Path(sys.prefix)) as environment:
        if not environment.ready("test"):
            return  # an environment of somebody's own
        if system() != "linux-x64":
            raise SetupFailed(f"there is no packed Chromium for {system()}")
        install(
            folder / "npm",
            PACKAGE,
            keep=environment.lock,
            purpose="the tests in a browser",
        )
        stamp = folder / "unpacked"
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != PACKAGE:
            configure_fonts(folder / "fonts")
            unpack(folder, keep=environment.lock)
            stamp.write_text(PACKAGE, encoding="utf-8")


def configure_fonts(folder: Path) -> None:
    """Let the browser find the fonts that come with it, and no others."""
    folder.mkdir(exist_ok=True)
    written = FONTS.format(folder=folder)
    (folder / "notewell.conf").write_text(written, encoding="utf-8")


def unpack(folder: Path, *, keep: int) -> None:
    """Unpack everything beside the package.

    Raises:
        SetupFailed: there is no Node, or it cannot read the package.
    """
    node = shutil.which("node")
    if node is None:
        raise SetupFailed("the tests in a browser need Node.js")
    say("unpacking Chromium")
    source = folder / "npm" / "node_modules" / "@sparticuz" / "chromium" / "bin"
    for packed in ("al2023.tar.br", "fonts.tar.br", "chromium.br"):
        target = folder / packed.removesuffix(".br")
        command = (node, "-e", UNPACK, str(source / packed), f"{target}.part")
        done = run(command, keep=[keep])
        if done.returncode:
            raise SetupFailed(done.stdout.strip())
        Path(f"{target}.part").rename(target)
        if target.suffix == ".tar":
            with tarfile.open(target) as archive:
                # Debian 12's Python 3.11.2 has no such filter yet.
                if hasattr(tarfile, "data_filter"):
                    archive.extraction_filter = tarfile.data_filter
                archive.extractall(target.with_suffix(""))
