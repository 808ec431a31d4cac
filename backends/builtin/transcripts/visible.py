"""Which passages a question may be answered from, before any are chosen."""

from notewell.backends.base import Query
from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.types import source_of


class Visible:
    """Says of paths, and to SQLite, what may be seen.

    Attributes:
        condition: Further terms of a `where` over the full-text index; may be empty.
        values: What the condition's parameters stand for.
    """

    def __init__(self, store: Store, tables: Generation, query: Query) -> None:
        self._query = query
        self.condition = ""
        self.values: tuple[str, ...] = ()
        # Without transcripts in the index, notes are searched as if there were none.
        spoken = bool(store.one(f"select 1 from {tables.transcripts} limit 1"))
        if spoken:
            self._restrict(store, tables)
        if query.hides_many or (spoken and "sessions" in query.sources):
            self._leave_out(store, tables)

    def __call__(self, path: str) -> bool:
        """Whether passages of a note or a transcript may be shown."""
        return source_of(path) in self._query.sources and not self._query.hides(path)

    def _restrict(self, store: Store, tables: Generation) -> None:
        spoken = (
            f"exists (select 1 from {tables.origins} as o"
            f" where o.chunk_id = {tables.fts}.rowid)"
        )
        if "sessions" not in self._query.sources:
            self.condition = f" and not {spoken}"
        elif "memory" not in self._query.sources:
            self.condition = f" and {spoken}"

    def _leave_out(self, store: Store, tables: Generation) -> None:
        """Leave out what the question hides: of the transcripts, or of all files."""
        rows = store.rows(
            f"select f.id, f.path from {tables.files} as f"
            if self._query.hides_many
            else f"select f.id, f.path from {tables.transcripts} as t"
            f" join {tables.files} as f on f.id = t.file_id"
        )
        hidden = [str(key) for key, path in rows if self._query.hides(path)]
        if hidden:
            self.condition += (
                f" and not exists (select 1 from {tables.chunks} as c"
                f" where c.id = {tables.fts}.rowid"
                " and c.file_id in (select value from json_each(?)))"
            )
            self.values = (f"[{','.join(hidden)}]",)
