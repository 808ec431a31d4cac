"""The forms of switches and quantities: numbers, durations, sizes."""

import math
import re
from typing import Final

from notewell.config.form import Form, Place, Unfit, seen
from notewell.config.texts import read_text

MOST: Final = 2**53
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION: Final = re.compile(r"(?:[0-9]{1,12}(?:\.[0-9]{1,6})?(?:ms|s|m|h|d))+")
_PART: Final = re.compile(r"([0-9.]+)(ms|s|m|h|d)")
_BARE: Final = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")
_SIZE: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([kmgt]?)i?b?")
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def switch() -> Form:
    """True or false, nothing else."""

    def read(value: object, place: Place) -> bool:
        if isinstance(value, bool):
            return value
        raise Unfit(f"is {seen(value)}")

    return Form(accepted="true or false", read=read)


def whole(least: int = 0, most: int = MOST) -> Form:
    """A whole number; JSON's 6.0 is 6."""
    limit = f"from {least} to {most}" if most < MOST else f"of at least {least}"

    def read(value: object, place: Place) -> int:
        number = _finite(value)
        if number != int(number):
            raise Unfit(f"is {seen(value)}, not a whole number")
        return int(_within(number, least, most))

    return Form(accepted=f"a whole number {limit}", read=read)


def number(least: float | None = None, most: float | None = None) -> Form:
    """A finite number, between the limits when there are some."""
    low, high = (
        -math.inf if least is None else least,
        math.inf if most is None else most,
    )
    accepted = "a number"
    if least is not None:
        accepted += (
            f" from {least:.10g} to {most:.10g}"
            if most
            else f" of at least {least:.10g}"
        )

    def read(value: object, place: Place) -> float:
        return float(_within(_finite(value), low, high))

    return Form(accepted=accepted, read=read, show=_show_number)


def duration() -> Form:
    """Seconds, written as "30s", "5m" or "1h"; a bare number means minutes."""

    def read(value: object, place: Place) -> float:
        if not isinstance(value, str):
            return _within(_finite(value), 0, MOST) * 60.0
        written = read_text(value, place).strip().lower()
        if _BARE.fullmatch(written):
            return float(written) * 60.0
        if not _DURATION.fullmatch(written):
            raise Unfit(f"is {seen(value)}")
        return sum(float(n) * _UNITS[unit] for n, unit in _PART.findall(written))

    accepted = 'a duration such as "30s", "5m" or "1h"; 0 is off'
    return Form(accepted=accepted, read=read, show=_show_duration)


def size() -> Form:
    """Bytes, as a number or as a text such as "2mb"; 0 is off."""

    def read(value: object, place: Place) -> int:
        if not isinstance(value, str):
            return int(_within(_finite(value), 0, MOST))
        found = _SIZE.fullmatch(read_text(value, place).strip().lower())
        if found is None:
            raise Unfit(f"is {seen(value)}")
        return int(_within(float(found[1]) * 1024 ** _POWERS[found[2]], 0, MOST))

    return Form(accepted='bytes, or a size such as "2mb"; 0 is off', read=read)


def _finite(value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unfit(f"is {seen(value)}")
    if not math.isfinite(value) if isinstance(value, float) else abs(value) > MOST:
        raise Unfit(f"is {seen(value)}")
    return value


def _within(value: float, least: float, most: float) -> float:
    if least <= value <= most:
        return value
    raise Unfit(f"is {seen(value)}")


def _show_duration(value: object) -> object:
    """Show seconds in the largest unit that divides them, as OpenClaw's defaults do."""
    if not isinstance(value, float):
        return value
    if not value:
        return 0
    for unit in ("m", "s", "ms"):
        count = value / _UNITS[unit]
        if count == int(count):
            return f"{int(count)}{unit}"
    return f"{value:g}s"


def _show_number(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value
