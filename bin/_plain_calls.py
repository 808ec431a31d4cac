"""Shows on the site what `plain` makes of a method: the same arguments, and no await.

The site is made from the sources without running them, so it would show the assignment.
"""

from collections.abc import Iterator
from typing import Any

import griffe


class PlainCalls(griffe.Extension):
    """Puts a function in the place of each `name = plain(Class.method)`."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Look through a package that was read."""
        for owner in _classes(pkg):
            for attribute in list(owner.attributes.values()):
                call = attribute.value
                if isinstance(call, griffe.ExprCall) and str(call.function) == "plain":
                    owner.set_member(attribute.name, _function(attribute, call))


def _classes(module: griffe.Module) -> Iterator[griffe.Class]:
    yield from (each for each in module.classes.values() if not each.is_alias)
    for below in module.modules.values():
        if not below.is_alias:
            yield from _classes(below)


def _function(attribute: griffe.Attribute, call: griffe.ExprCall) -> griffe.Function:
    origin, _, name = str(call.arguments[0]).partition(".")
    path = attribute.module.resolve(origin).removeprefix(f"{attribute.package.path}.")
    method = attribute.package[path].functions[name]
    return griffe.Function(
        attribute.name,
        lineno=attribute.lineno,
        endlineno=attribute.endlineno,
        parameters=method.parameters,
        returns=method.returns,
        docstring=attribute.docstring,
    )
