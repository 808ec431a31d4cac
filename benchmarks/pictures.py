#!/usr/bin/env python3
"""Make the pictures of the README: an answer in a terminal, and the page of a benchmark.

    benchmarks/pictures.py [terminal] [bench]

They go to `docs/assets`. The answer is what the command prints to a terminal, drawn by
rich as SVG. The page is what `notewell bench --set example --html` writes, as Chromium
shows it; `bin/test browser` installs one. Its times are those of this machine, so make it
on a quiet one.
"""

import base64
import io
import os
import pty
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.color import Color
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.adapters.surfaces.report.browser import started

ROOT = Path(__file__).resolve().parents[1]
ASSETS = ROOT / "docs" / "assets"
QUESTION = "stale locks"
COLUMNS = 100
PAGE = (1_180, 820)
"""How much of the page is shown, in pixels."""

_INK = ["#181b21", "#ef6c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2"]
_COLOURS = [Color.parse(each).get_truecolor() for each in [*_INK, "#d6dae0"]]
THEME = TerminalTheme(_COLOURS[0], _COLOURS[7], _COLOURS)
FRAME = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-family: system-ui, sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""As rich has it, without fonts from the network."""


def main() -> int:
    """Make the pictures that are named, or both."""
    wanted = sys.argv[1:] or ["terminal", "bench"]
    with tempfile.TemporaryDirectory() as state:
        environ = {
            **os.environ,
            "COLUMNS": str(COLUMNS),
            "OPENCLAW_STATE_DIR": state,
            "PYTHONPATH": str(ROOT / "src"),
            "TERM": "xterm-256color",
        }
        if "terminal" in wanted:
            picture_of_an_answer(environ)
        if "bench" in wanted:
            picture_of_the_page(environ, Path(state))
    return 0


def picture_of_an_answer(environ: dict[str, str]) -> None:
    """Draw what a search prints; the second one, which has its index."""
    shown = ["search", QUESTION, "--workspace", "docs/example", "--max-results", "1"]
    for _ in range(2):
        printed = in_terminal([sys.executable, "-m", "notewell", *shown], environ)
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text.assemble(("$ ", "dim"), f'notewell search "{QUESTION}"'))
    console.print(Text.from_ansi(printed))
    console.save_svg(
        str(ASSETS / "answer.svg"),
        title="notewell",
        theme=THEME,
        code_format=FRAME,
        unique_id="answer",
    )


def in_terminal(command: list[str], environ: dict[str, str]) -> str:
    """Return what a command prints to a terminal, with its colours."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, cwd=ROOT, env=environ, stdout=theirs) as process:
        os.close(theirs)
        pieces: list[bytes] = []
        try:
            while piece := os.read(ours, 65_536):
                pieces.append(piece)
        except OSError:  # how Linux says that the terminal was closed
            pass
    os.close(ours)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return b"".join(pieces).decode("utf-8").replace("\r\n", "\n")


def picture_of_the_page(environ: dict[str, str], folder: Path) -> None:
    """Show a page about a benchmark in Chromium, and keep its upper part."""
    browser = Path(sys.prefix) / "browser"
    page, width, height = folder / "bench.html", *PAGE
    bench = ["bench", "--set", "example", "--html", str(page)]
    run([sys.executable, "-m", "notewell", *bench], environ)
    environ["FONTCONFIG_FILE"] = str(browser / "fonts" / "notewell.conf")
    environ["LD_LIBRARY_PATH"] = str(browser / "al2023" / "lib")
    with started(browser / "chromium", folder / "profile", environ) as tab:
        tab.narrow(width)
        tab.open(page)
        part = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        shot = tab.ask("Page.captureScreenshot", clip=part, captureBeyondViewport=True)
    (ASSETS / "bench.png").write_bytes(base64.b64decode(shot["data"]))


def run(command: list[str], environ: dict[str, str]) -> None:
    """Run a command to its end, silently."""
    subprocess.run(command, cwd=ROOT, env=environ, check=True, capture_output=True)


if __name__ == "__main__":
    raise SystemExit(main())
