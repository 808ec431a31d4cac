"""The user's clock: which zone it is in, and what it shows."""

import os
from datetime import datetime, tzinfo
from typing import Final

_LISTED: Final = "/usr/share/zoneinfo"
"""Where most systems keep the zones; a name found there needs no further look."""

_USUAL: Final = {
    "pst": "America/Los_Angeles",
    "pdt": "America/Los_Angeles",
    "mst": "America/Denver",
    "mdt": "America/Denver",
    "cst": "America/Chicago",
    "cdt": "America/Chicago",
    "edt": "America/New_York",
    "bst": "Europe/London",
    "cest": "Europe/Paris",
    "ist": "Asia/Kolkata",
    "jst": "Asia/Tokyo",
    "kst": "Asia/Seoul",
    "aest": "Australia/Sydney",
    "beijing": "Asia/Shanghai",
}
"""Letters and towns that people write, and the zone that has them."""


def moment_in(zone: str | None, moment: datetime | None = None) -> datetime:
    """Return a moment, now by default, as the user's clock shows it.

    Args:
        zone: An IANA name; None, or one that this machine does not know, means the
            machine's own zone.
        moment: With its zone.
    """
    found = find_zone(zone) if zone is not None else None
    if found is None:
        return (moment or datetime.now()).astimezone()
    return moment.astimezone(found) if moment else datetime.now(found)


def find_zone(name: str) -> tzinfo | None:
    """Return a zone by its IANA name; None: this machine does not know it."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # rare

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def zone_problem(name: str) -> str | None:
    """Say what is wrong with the name of a zone, and name a right one; None: nothing."""
    plain = name.replace("/", "").replace("_", "").replace("-", "").replace("+", "")
    if plain.isalnum() and os.path.isfile(os.path.join(_LISTED, name)):
        return None
    if find_zone(name) is not None:
        return None
    right = _nearest(name)
    said = f"did you mean {right!r}?" if right else "such as 'Europe/Berlin'"
    return f"{name!r} is no zone that this machine knows; {said}"


def _nearest(name: str) -> str | None:
    """Return the zone that is meant: by its town, its letters, its hours or its spelling."""
    import warnings  # only mistakes pay for it
    from difflib import get_close_matches
    from zoneinfo import available_timezones

    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", EncodingWarning
        )  # Python's own, in reading a list
        known = sorted(available_timezones())
    wanted = "_".join(name.casefold().split())
    if (usual := _USUAL.get(wanted)) in known:
        return usual
    hours = wanted.removeprefix("utc").removeprefix("gmt").removesuffix(":00")
    if hours[:1] in {"+", "-"} and hours[1:].isdecimal():
        sign = "-" if hours[0] == "+" else "+"  # POSIX counts the other way round
        offset = f"Etc/GMT{sign}{int(hours)!s}".replace("+-", "+")
        return offset if offset in known else None
    by_town = {zone.casefold().rpartition("/")[2]: zone for zone in reversed(known)}
    spelled = {zone.casefold(): zone for zone in known}
    for names in (by_town, spelled):
        if near := get_close_matches(wanted, names, n=1, cutoff=0.8):
            return names[near[0]]
    return None
