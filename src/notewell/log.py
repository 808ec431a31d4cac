"""What a program may hear of our work: the loggers below `notewell` of the standard module.

Quiet by default, as a library should be. No record holds text of notes or of questions,
nor a key. Who has not loaded `logging` has not asked for records, and does not pay for it.
"""

import sys
from typing import Literal, TypeAlias

Level: TypeAlias = Literal["debug", "info", "warning"]


def log(part: str, level: Level, message: str, *values: object) -> None:
    """Hand a record to the logger `notewell.<part>`.

    Args:
        part: Who speaks: `memory`, `schedule`, `watching`, `qmd`.
        level: `warning` for what works less well than it was meant to, `info` for
            work that changed an index, `debug` for all else.
        message: With `%` for each of the values, as the standard module wants it.
    """
    logging = sys.modules.get("logging")
    if logging is None:
        return
    ours = logging.getLogger("notewell")
    if not ours.handlers:  # else warnings would go to stderr when nobody has asked
        ours.addHandler(logging.NullHandler())
    logger = logging.getLogger(f"notewell.{part}")
    getattr(logger, level)(message, *values, stacklevel=2)
