"""The command that installs a package where this program runs.

A `pip install` that is right in a virtual environment is refused by a system's own Python,
does not reach the environments of pipx and uv, and names a distribution that no index has
where notewell was installed from a checkout. So packages are named by their own names, and the
command by what made this environment.
"""

import re
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Self

from notewell.values import dataclass

_DISTRIBUTION: Final = "notewell"
_PIPX: Final = "pipx_metadata.json"
_UV: Final = "uv-receipt.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The Python environment in which this program runs.

    Attributes:
        prefix: Its folder.
        python: Its interpreter.
        pip: Whether pip is installed in it.
        uv: Whether there is a program uv.
        managed: Whether the system keeps pip from it (PEP 668).
        reached: Whether `pip` alone, on the PATH, is that of this environment.
    """

    prefix: Path
    python: str
    pip: bool
    uv: bool = False
    managed: bool = False
    reached: bool = False

    @classmethod
    def current(cls) -> Self:
        """Look where this program runs."""
        import shutil  # these are needed where something is missing alone
        import sysconfig

        on_path = shutil.which("pip")
        beside = (
            on_path is not None and Path(on_path).parent == Path(sys.executable).parent
        )
        own = sys.prefix != sys.base_prefix
        marker = Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
        return cls(
            prefix=Path(sys.prefix),
            python=sys.executable or "python3",
            pip=find_spec("pip") is not None,
            uv=shutil.which("uv") is not None,
            managed=not own and marker.is_file(),
            reached=beside,
        )

    def install(self, packages: Sequence[str], *, again: bool = False) -> str:
        """Return the command that installs packages here.

        Args:
            again: They are there and do not work.
        """
        import shlex

        named = shlex.join(packages)
        if (self.prefix / _PIPX).is_file():
            force = " --force" if again else ""
            return f"pipx inject{force} {shlex.quote(self.prefix.name)} {named}"
        python = shlex.quote(self.python)
        reinstall = " --reinstall" if again else ""
        if (self.prefix / _UV).is_file() or (self.uv and not self.pip):
            return f"uv pip install{reinstall} --python {python} {named}"
        flags = " --force-reinstall" if again else ""
        flags += " --break-system-packages" if self.managed else ""
        if self.reached:
            return f"pip install{flags} {named}"
        ensure = "" if self.pip else f"{python} -m ensurepip && "
        return f"{ensure}{python} -m pip install{flags} {named}"


def install_command(*packages: str, again: bool = False) -> str:
    """Return the command that installs packages where this program runs.

    Args:
        packages: As pip names them, with their versions.
        again: They are there and do not work.
    """
    return Environment.current().install(packages, again=again)


def install_extra(extra: str) -> str:
    """Return the command that installs what an extra of notewell consists of."""
    return install_command(*(packages_of(extra) or [f"{_DISTRIBUTION}[{extra}]"]))


def packages_of(extra: str) -> list[str]:
    """Return the packages of an extra; none if nothing here knows it.

    Those of extras that it consists of take their place.
    """
    found: list[str] = []
    for name in _named_in(extra):
        others = re.fullmatch(rf"{_DISTRIBUTION}\[([\w,-]+)\]", name)
        if others is None:
            found.append(name)
        else:
            found += (
                part for each in others[1].split(",") for part in packages_of(each)
            )
    return found


def _named_in(extra: str) -> list[str]:
    from importlib.metadata import PackageNotFoundError, requires

    try:
        lines = requires(_DISTRIBUTION) or []
    except PackageNotFoundError:
        return _declared(extra)
    pairs = (line.partition(";") for line in lines)
    mine = (f"extra == '{extra}'", f'extra == "{extra}"')
    return [name.strip() for name, _, marker in pairs if marker.strip() in mine]


def _declared(extra: str) -> list[str]:
    """Read an extra from the checkout that this program runs from."""
    import tomllib

    try:
        text = Path(__file__).parents[2].joinpath("pyproject.toml").read_text("utf-8")
        project = tomllib.loads(text)["project"]
        return list(project["optional-dependencies"][extra])
    except (OSError, KeyError, ValueError):
        return []
