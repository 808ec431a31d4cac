"""Texts that no other machine is sent: transcripts whose source does not allow it.

What is to be sent is chosen without them, also where another process indexes them in the
same moment. Beside that they are noted among the texts that a provider refused, so that a
set of vectors is whole without them, and what it held of them before is dropped.
"""

from collections.abc import Sequence
from typing import Final

from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.maintenance import drop_orphans
from notewell.backends.builtin.vectors.sets import VectorSet

NEVER: Final = 2**62
"""When such a text is tried again, in the place of the second in which it was refused."""


class LocalTexts:
    """Those of the passages whose paths begin with some prefixes."""

    def __init__(self, prefixes: Sequence[str]) -> None:
        self._prefixes = tuple(prefixes)

    def __bool__(self) -> bool:
        return bool(self._prefixes)

    def allowed(self, tables: Generation) -> str:
        """Return the SQL that a condition on a chunk `c` ends with: it may be sent."""
        return f" and c.file_id not in ({self._files(tables)})" if self else ""

    def mark(self, store: Store, tables: Generation, kept: VectorSet) -> None:
        """Note the texts that are in such passages alone; the caller has the lock."""
        run = store.connection.execute
        with store.connection:
            run(f"delete from {kept.refused} where at = {NEVER}")
            if not self:
                return
            here = self._files(tables)
            run(
                f"insert or replace into {kept.refused}(digest, at)"
                f" select distinct digest, {NEVER} from {tables.chunks}"
                f" where file_id in ({here}) except"
                f" select digest, {NEVER} from {tables.chunks}"
                f" where file_id not in ({here})"
            )
            run(
                f"delete from {kept.texts} where digest in"
                f" (select digest from {kept.refused} where at = {NEVER})"
            )
            if store.connection.changes():
                drop_orphans(store, kept)

    def _files(self, tables: Generation) -> str:
        # They are ours, and hold nothing that SQL would read.
        begins = " or ".join(
            f"substr(f.path, 1, {len(prefix)}) = '{prefix}'"
            for prefix in self._prefixes
        )
        return (
            f"select t.file_id from {tables.transcripts} as t"
            f" join {tables.files} as f on f.id = t.file_id where {begins}"
        )
