"""Checks the structure of the source: sizes, importers and the meaning of names.

The limits and the exceptions, each with its reason, are in bin/structure.toml.
An exception that nothing needs any more is a finding too.
"""

import ast
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

SOURCES = ("src/notewell", "backends", "adapters")
SETTINGS = "bin/structure.toml"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One file of Python source.

    Attributes:
        name: As it is imported: `notewell.backends.base`.
        lines: How many the file has.
    """

    name: str
    is_package: bool
    lines: int
    tree: ast.Module


@dataclass(slots=True)
class Exceptions:
    """What is allowed beyond a limit, and which of it was needed."""

    reasons: Mapping[str, str]
    needed: set[str] = field(default_factory=set[str])

    def allow(self, name: str) -> bool:
        """Say whether `name` is an exception."""
        self.needed.add(name)
        return name in self.reasons

    def idle(self) -> list[str]:
        """Return the exceptions that were not asked for."""
        return sorted(set(self.reasons) - self.needed)


def structure_findings(root: Path) -> list[str]:
    """Hold the source below `root` against the limits; return what is wrong."""
    settings = tomllib.loads((root / SETTINGS).read_text(encoding="utf-8"))
    limits: Mapping[str, int] = settings["limits"]
    modules = read_modules(root)
    checks = {
        "module-size": module_sizes(modules, limits["least"], limits["most"]),
        "function-size": function_sizes(modules, limits["function"]),
        "importers": lone_importers(modules, limits["room"]),
        "names": ambiguous_names(modules),
    }
    found: list[str] = []
    for rule, findings in checks.items():
        exceptions = Exceptions(settings.get(rule, {}))
        found += [text for name, text in findings if not exceptions.allow(name)]
        found += [
            f"{SETTINGS} [{rule}] {name}: is no exception any more; delete the line"
            for name in exceptions.idle()
        ]
    return found


def read_modules(root: Path) -> dict[str, Module]:
    """Parse every module of the package, by its name."""
    found: dict[str, Module] = {}
    for source in SOURCES:
        for path in sorted((root / source).rglob("*.py")):
            parts = list(path.relative_to(root).with_suffix("").parts)
            if parts[:3] in (["src", "notewell", s] for s in SOURCES[1:]):
                continue  # the links to the two folders at the top
            parts = parts[1:] if parts[0] == "src" else ["notewell", *parts]
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            text = path.read_text(encoding="utf-8")
            found[name] = Module(
                name=name,
                is_package=is_package,
                lines=text.count("\n"),
                tree=ast.parse(text),
            )
    return found


def module_sizes(
    modules: Mapping[str, Module], least: int, most: int
) -> Iterator[tuple[str, str]]:
    """Yield the modules that are too small for a room or too large for one."""
    for module in modules.values():
        if module.lines > most:
            yield (
                module.name,
                (
                    f"{module.name}: {module.lines} lines, more than {most}; "
                    "find the second thing in it and give that a module"
                ),
            )
        elif module.lines < least and not module.is_package:
            yield (
                module.name,
                (
                    f"{module.name}: {module.lines} lines, fewer than {least}; "
                    f"merge it with its neighbour, or give a reason in {SETTINGS}"
                ),
            )


def function_sizes(
    modules: Mapping[str, Module], most: int
) -> Iterator[tuple[str, str]]:
    """Yield the functions with more lines than `most`, docstrings left out."""
    for module in modules.values():
        for node in ast.walk(module.tree):
            if isinstance(node, _FUNCTIONS) and (lines := body_lines(node)) > most:
                name = f"{module.name}.{node.name}"
                yield name, f"{name}: {lines} lines, more than {most}; divide it"


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the lines of a function from `def` to its end, without its docstring."""
    first = node.body[0]
    documented = ast.get_docstring(node, clean=False) is not None
    spoken = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
    return (node.end_lineno or 0) - node.lineno + 1 - spoken


def lone_importers(
    modules: Mapping[str, Module], room: int
) -> Iterator[tuple[str, str]]:
    """Yield the modules under `room` lines that only a neighbour imports.

    A module whose one importer is in another package is the door of its own.
    """
    importers = importers_of(modules)
    for module in modules.values():
        package = module.name.rpartition(".")[0]
        if module.lines >= room or len(importers[module.name]) != 1:
            continue
        [importer] = importers[module.name]
        if importer.rpartition(".")[0] == package:
            yield (
                module.name,
                (
                    f"{module.name}: only {importer} imports it; make them one, "
                    f"or give a reason in {SETTINGS}"
                ),
            )


def importers_of(modules: Mapping[str, Module]) -> Mapping[str, set[str]]:
    """Map each module to those that import it, or name it to load it later."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for module in modules.values():
        for node in ast.walk(module.tree):
            for name in mentioned(node, modules):
                found[name].add(module.name)
    return found


def mentioned(node: ast.AST, modules: Mapping[str, Module]) -> Iterator[str]:
    """Yield the modules that one node imports, or names in a string."""
    if isinstance(node, ast.ImportFrom) and node.module:
        full = {alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        for name in full.values():
            yield name if name in modules else node.module
    elif isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        name = node.value.partition(":")[0]
        if name in modules and "." in name:
            yield name


def ambiguous_names(modules: Mapping[str, Module]) -> Iterator[tuple[str, str]]:
    """Yield the public classes and functions whose name has several meanings."""
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for module in modules.values():
        for node in module.tree.body:
            if isinstance(node, (ast.ClassDef, *_FUNCTIONS)):
                homes[node.name].append(module.name)
    for name, places in sorted(homes.items()):
        if not name.startswith("_") and len(places) > 1:
            yield name, f"{name}: one name in {', '.join(places)}; tell them apart"


if __name__ == "__main__":
    for line in structure_findings(Path(sys.argv[1])):
        print(line)
