"""One line of `notewell doctor`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Verdict: TypeAlias = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What was looked at, what was found, and what to do about it.

    Attributes:
        name: What was looked at.
        status: `problem` when something does not work, `warning` when it works
            less well than it could.
        detail: What was found, one sentence.
        remedy: What to do; None when nothing needs doing.
    """

    name: str
    status: Verdict
    detail: str
    remedy: str | None = None


def guarded(name: str, look: Callable[[], Check]) -> Check:
    """Make a check; one that breaks is a problem, and the next is made all the same."""
    try:
        return look()
    except Exception as error:  # noqa: BLE001 - whatever it is, the rest goes on
        return Check(
            name=name,
            status="problem",
            detail=f"could not be looked at: {type(error).__name__}: {error}",
            remedy="this is a fault of notewell: report it",
        )
