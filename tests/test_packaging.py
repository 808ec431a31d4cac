"""What installing and importing notewell promises, in a checkout and in a wheel."""

import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import notewell
import notewell.types
from notewell._version import __version__

OF_OTHER_FRAMEWORKS = ("retrievers.langchain", "retrievers.llama_index")
"""Their packages need not be here, and take seconds to load; their own tests load them."""

IMPORTED_FROM = Path(notewell.types.__file__).parents[1]
HEAVY = (
    "apsw asyncio click filelock httpx jinja2 json5 langchain_core llama_index logging "
    "numpy pathspec rich Stemmer socket sqlite3 ssl subprocess urllib.request watchfiles"
)


def python(code: str) -> list[str]:
    """Run code in a new Python that can import notewell; return the words it prints."""
    start = f"import sys; sys.path.insert(0, {str(IMPORTED_FROM)!r})\n"
    command = [sys.executable, "-I", "-c", start + code]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    return done.stdout.split()


def test_importing_notewell_imports_nothing_heavy() -> None:
    before = set(python("print(*sys.modules)"))

    after = set(python("import notewell\nprint(*sys.modules)"))

    assert "notewell" in after
    assert (after - before).isdisjoint(HEAVY.split())


def test_importing_notewell_opens_no_connection() -> None:
    events = python(
        "sys.addaudithook(lambda event, _: event.startswith('socket.') and print(event))"
        "\nimport notewell"
    )

    assert events == []


def modules_on_disk() -> list[str]:
    """Name every module of the package, by its file."""
    package = IMPORTED_FROM / "notewell"
    found: list[str] = []
    for folder, _, names in os.walk(package, followlinks=True):
        place = ".".join(["notewell", *Path(folder).relative_to(package).parts])
        found += [f"{place}.{Path(n).stem}" for n in names if n.endswith(".py")]
    return [name.removesuffix(".__init__") for name in sorted(found)]


def test_every_folder_of_modules_is_a_package() -> None:
    modules = modules_on_disk()

    parents = {name.rpartition(".")[0] for name in modules} - {""}

    assert parents <= set(modules)


def test_every_module_is_imported_below_notewell_and_nowhere_else() -> None:
    modules = [
        name
        for name in modules_on_disk()
        if not name.endswith(("__main__", *OF_OTHER_FRAMEWORKS))
    ]

    imported = python(
        "import importlib\n"
        f"for module in {modules}: importlib.import_module(module)\n"
        "print(*sys.modules)"
    )

    assert {"notewell.backends.base", "notewell.types"} <= set(imported)
    assert not {"adapters", "backends", "src"} & set(imported)


def test_type_checkers_are_told_that_notewell_is_typed() -> None:
    assert (files("notewell") / "py.typed").is_file()


def test_the_version_is_one_and_the_same_everywhere() -> None:
    assert notewell.__version__ == __version__
