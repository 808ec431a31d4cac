"""Writing notes into a generation of the index: one note at a time, all or nothing."""

from collections.abc import Iterable
from datetime import date

from notewell.backends.builtin.catalogue import note_entries
from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.changes import UNSETTLED, IndexedNote, Signature
from notewell.backends.text.chunking import Chunk, cut_chunks
from notewell.backends.text.filtering import note_properties
from notewell.backends.text.note_analysis import analyse_passages
from notewell.config import ChunkingSettings
from notewell.markdown import read_structure
from notewell.workspace import Note, read_note, split_lines
from notewell.workspace.decoding import NotText
from notewell.workspace.metadata import NoteMetadata, day_of_file, note_metadata

_NO_METADATA = NoteMetadata()


class Indexer:
    """Puts notes into one generation. The caller opens and commits transactions.

    Attributes:
        changed: Notes that were written or removed; those that turned out to be the
            same are not counted.
        removed: Those of them that were removed.
    """

    def __init__(
        self, store: Store, generation: Generation, chunking: ChunkingSettings
    ) -> None:
        self._store = store
        self._run = store.connection.execute
        self._many = store.connection.executemany
        self._tables = generation
        self._chunking = chunking
        self._named = (
            f"insert into {generation.names}(key, kind, file_id, name)"
            " values (?, ?, ?, ?)"
        )
        self._next = 0  # the id of the next passage, once it is known
        self.changed = 0
        self.removed = 0

    def put(self, note: Note, before: IndexedNote | None, signature: Signature) -> None:
        """Read a note and index it, replacing what the index held of it.

        A note that cannot be read is kept with its problem, and with the passages that
        it had, if it could be read before.
        """
        try:
            read = read_note(note.file)
        except NotText as error:
            self._leave_out(note, before, signature, error.why)
            return
        except OSError as error:
            problem = error.strerror or "unreadable"
            # So that it does not pass for unchanged: an answer has to read it first.
            signature = signature._replace(mtime_ns=UNSETTLED)
            if before and before.problem == problem:
                self._touch(before, signature, note.mtime_ns)
            elif before:
                self.put_row(note.path, before.id, signature, before.digest, problem)
            else:
                self._replace(note, before, signature, b"", (), problem)
            return
        if before and before.digest == read.digest and before.problem is None:
            self._touch(before, signature, note.mtime_ns)
            return
        lines = split_lines(read.text)
        structure = read_structure(lines)
        chunks = cut_chunks(
            lines,
            tokens=self._chunking.tokens,
            overlap=self._chunking.overlap,
            structure=structure,
        )
        metadata = note_metadata(note.path, lines, structure)
        key = self._replace(
            note, before, signature, read.digest, chunks, None, read.guess, metadata
        )
        if metadata.tags or metadata.values:
            self._describe(key, metadata)
        self._many(self._named, sorted(note_entries(key, note.path, lines, structure)))

    def _leave_out(
        self,
        note: Note,
        before: IndexedNote | None,
        signature: Signature,
        problem: str,
    ) -> None:
        """Write down that a file holds no text; it is not read again as it is."""
        if before and before.problem == problem:
            self._touch(before, signature, note.mtime_ns)
        else:
            self._replace(note, before, signature, b"", (), problem)

    def mark(self, before: IndexedNote, problem: str) -> None:
        """Write down why a note cannot be read now; its passages stay."""
        self.put_row(
            before.path, before.id, Signature(*before[1:4]), before.digest, problem
        )

    def bring_over(self, source: Generation, before: IndexedNote, problem: str) -> None:
        """Index a note that cannot be read now by what another generation holds of it."""
        rows = self._store.rows(
            "select start_line, end_line, text, heading, piece"
            f" from {source.chunks} where file_id = ? order by id",
            before.id,
        )
        chunks = [
            Chunk(
                start_line=start,
                end_line=end,
                text=text,
                heading=heading,
                piece=bool(piece),
            )
            for start, end, text, heading, piece in rows
        ]
        signature = Signature(*before[1:4])
        key = self.put_row(before.path, None, signature, before.digest, problem)
        self._run(
            f"update {self._tables.files} set (day, dated) ="
            f" (select day, dated from {source.files} where id = ?) where id = ?",
            (before.id, key),
        )
        self._run(
            f"insert into {self._tables.properties}(key, value, file_id)"
            f" select key, value, ? from {source.properties} where file_id = ?",
            (key, before.id),
        )
        self.add(key, before.path, chunks)
        self._run(
            f"insert into {self._tables.names}(key, kind, file_id, name)"
            f" select key, kind, ?, name from {source.names} where file_id = ?",
            (key, before.id),
        )

    def remove(self, before: Iterable[IndexedNote]) -> None:
        """Take notes out of the index."""
        for known in before:
            self.changed += 1
            self.removed += 1
            self._clear(known.id)
            self._run(f"delete from {self._tables.files} where id = ?", (known.id,))

    def _touch(self, before: IndexedNote, signature: Signature, mtime_ns: int) -> None:
        self._run(
            f"update {self._tables.files} set size = ?, mtime_ns = ?, ctime_ns = ?,"
            " day = iif(dated, day, ?) where id = ?",
            (*signature, _iso(day_of_file(mtime_ns)), before.id),
        )

    def _replace(
        self,
        note: Note,
        before: IndexedNote | None,
        signature: Signature,
        digest: bytes,
        chunks: Iterable[Chunk],
        problem: str | None,
        remark: str | None = None,
        metadata: NoteMetadata = _NO_METADATA,
    ) -> int:
        chunks = list(chunks)
        if before:
            self._clear(before.id)
        key = self.put_row(
            note.path,
            before.id if before else None,
            signature,
            digest,
            problem,
            remark,
            day=metadata.day or day_of_file(note.mtime_ns),
            dated=metadata.day is not None,
        )
        self.add(key, note.path, chunks)
        return key

    def _describe(self, key: int, metadata: NoteMetadata) -> None:
        """Write down the tags of a note and what its front matter says."""
        properties = note_properties(metadata)
        if properties:
            self._many(
                f"insert into {self._tables.properties}(key, value, file_id)"
                " values (?, ?, ?)",
                [(*each, key) for each in sorted(properties)],
            )

    def put_row(
        self,
        path: str,
        key: int | None,
        signature: Signature,
        digest: bytes,
        problem: str | None,
        remark: str | None = None,
        *,
        day: date | None = None,
        dated: bool = False,
    ) -> int:
        """Write down how a file looks; `key` is its row if it has one. Return the row.

        Args:
            day: Its day; None: the one that is known.
            dated: It says that itself.
        """
        self.changed += 1
        values = (*signature, digest, problem, remark, _iso(day), dated)
        # Never `insert or replace`: it opens a statement journal, at which FTS5 writes
        # out what it has gathered, and that makes a segment of every single note.
        if key is not None:
            self._run(
                f"update {self._tables.files} set size = ?, mtime_ns = ?, ctime_ns = ?,"
                " digest = ?, problem = ?, remark = ?, day = coalesce(?7, day),"
                " dated = iif(?7 is null, dated, ?8) where id = ?9",
                (*values, key),
            )
            return key
        self._run(
            f"insert into {self._tables.files}"
            "(size, mtime_ns, ctime_ns, digest, problem, remark, day, dated, path)"
            " values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*values, path),
        )
        return self._store.connection.last_insert_rowid()

    def add(self, file_id: int, path: str, chunks: list[Chunk]) -> int:
        """Index passages of a file; return the id of the first, the others follow."""
        first = self._next or 1 + (
            self._store.one(f"select max(id) from {self._tables.chunks}") or 0
        )
        self._next = first + len(chunks)
        rows: list[tuple[int | str | bytes, ...]] = []
        entries: list[tuple[int | str, ...]] = []
        for key, one in enumerate(analyse_passages(path, chunks), first):
            span = (one.start_line, one.end_line, one.piece)
            shown = (one.heading, one.length, one.digest, one.text)
            rows.append((key, file_id, *span, *shown))
            entries.append((key, one.body, one.extra, one.context))
        self._many(
            f"insert into {self._tables.chunks}"
            "(id, file_id, start_line, end_line, piece, heading, length, digest, text)"
            " values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
        self._many(
            f"insert into {self._tables.fts}(rowid, body, extra, context)"
            " values (?, ?, ?, ?)",
            entries,
        )
        return first

    def clear(self, chunks: Iterable[int]) -> None:
        """Take passages out of the index."""
        keys = [(chunk,) for chunk in chunks]
        self._many(f"delete from {self._tables.fts} where rowid = ?", keys)
        self._many(f"delete from {self._tables.chunks} where id = ?", keys)

    def _clear(self, file_id: int) -> None:
        chunks = self._store.rows(
            f"select id from {self._tables.chunks} where file_id = ?", file_id
        )
        self._many(f"delete from {self._tables.fts} where rowid = ?", chunks)
        self._run(f"delete from {self._tables.chunks} where file_id = ?", (file_id,))
        self._run(f"delete from {self._tables.names} where file_id = ?", (file_id,))
        self._run(
            f"delete from {self._tables.properties} where file_id = ?", (file_id,)
        )


def _iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()
