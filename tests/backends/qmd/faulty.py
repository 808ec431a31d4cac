"""A program with QMD's commands, for faults that the real one cannot be made to show.

`mood` beside it says what a search does: `well`, or Python to run instead. It knows
one document, `memory/a.md`. What it is called with is appended to `calls`.
"""

import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
HIT = {"file": "qmd://notes/memory/a.md", "docid": "", "score": 1, "line": 1}


def main(arguments: list[str]) -> None:
    """Do as the mood is."""
    if arguments == ["--version"]:
        sys.stdout.write(f"qmd {version()}\n")
        return
    if arguments[:2] == ["--index", "index"]:
        arguments = arguments[2:]
    with (HERE / "calls").open("a", encoding="utf-8") as calls:
        calls.write(json.dumps(arguments) + "\n")
    mood = (HERE / "mood").read_text(encoding="utf-8")
    if mood != "well":
        exec(mood, {"command": arguments[0], "answer": answer})  # noqa: S102
    if arguments[0] == "update":
        Path(os.environ["INDEX_PATH"]).touch()
    answer()


def version() -> str:
    """Return what it says it is."""
    file = HERE / "version"
    return file.read_text(encoding="utf-8") if file.exists() else "2.8.3"


def answer() -> None:
    """Answer well and end."""
    sys.stdout.write(json.dumps([HIT]))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
