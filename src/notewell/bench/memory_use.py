"""How much memory this process has had, and how much there is."""

import os
import sys


def peak_memory() -> int:
    """Return the most resident memory of this process and of its largest child, in bytes.

    Only children that have ended and were waited for count.
    """
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit
    return _own_peak(unit) + children


def all_memory() -> int | None:
    """Return the memory of this machine in bytes; None where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None


def _own_peak(unit: int) -> int:
    """Return our own peak.

    Linux counts in `ru_maxrss` what the process was before it became this program,
    which is as large as who started it; `VmHWM` begins anew.
    """
    import resource

    try:
        with open("/proc/self/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
