"""Starts notewell from the checkout; bin/notewell runs this in its environment."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
PACKAGE = os.path.join(ROOT, "src", "notewell")

sys.path.insert(0, os.path.join(ROOT, "src"))
sys.argv[0] = "notewell"

if not os.path.isdir(os.path.join(PACKAGE, "backends")):
    # A checkout without symlinks: let notewell.backends be found at the top.
    import notewell

    notewell.__path__.append(ROOT)

from notewell.__main__ import run_command

raise SystemExit(run_command())
