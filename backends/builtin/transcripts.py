"""Writing transcripts into a generation of the index, and on from where one stopped.

Their passages are cut from the cleaned text, whose lines are counted on their own;
beside each passage stands the line of the JSONL behind each of its lines.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from notewell.backends.builtin.changes import IndexedTranscript
from notewell.backends.builtin.indexer import Indexer
from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.changes import Signature
from notewell.backends.text.chunking import Chunk, cut_chunks
from notewell.config import ChunkingSettings
from notewell.sessions.files import Transcript
from notewell.sessions.passages import TranscriptText, transcript_text
from notewell.sessions.reading import (
    START,
    Position,
    TranscriptMessage,
    read_transcript,
)
from notewell.workspace.metadata import day_of_file


class _Kept(NamedTuple):
    """What stays of the passage with which the indexed part of a transcript ends.

    Attributes:
        before: Lines of the text that stand before it.
        text: Its lines, and the lines of the JSONL behind them.
        heading: Its heading.
    """

    before: int = 0
    text: TranscriptText = TranscriptText((), ())
    heading: str = ""


class TranscriptIndexer:
    """Puts transcripts into one generation. The caller opens and commits transactions."""

    def __init__(
        self,
        store: Store,
        tables: Generation,
        indexer: Indexer,
        chunking: ChunkingSettings,
    ) -> None:
        self._store = store
        self._tables = tables
        self._indexer = indexer
        self._chunking = chunking

    def put(self, transcript: Transcript, before: IndexedTranscript | None) -> None:
        """Read a transcript, or what is new in it, and index that.

        A transcript that cannot be read is kept with its problem, and with the passages
        that it had.
        """
        since = before.read if before and before.problem is None else START
        try:
            news = read_transcript(transcript.file, since)
        except OSError as error:
            problem = error.strerror or "unreadable"
            if before is None or before[1:5] != _looks(transcript, before, problem):
                self._row(transcript, before, before.read if before else START, problem)
            return
        goes_on = before is not None and news.first_line > 1
        key = self._row(transcript, before, news.next, None)
        if goes_on and not news.messages:
            return
        kept = _Kept()
        if goes_on:
            kept = self._reopened(key, news.first_line)
        else:
            self._forget(self._chunks_of(key))
        self._add(key, transcript.path, kept, news.messages)

    def remove(self, indexed: IndexedTranscript) -> None:
        """Take a transcript out of the index."""
        self._forget(self._chunks_of(indexed.id))
        self._run(
            f"delete from {self._tables.transcripts} where file_id = ?", indexed.id
        )
        self._run(f"delete from {self._tables.files} where id = ?", indexed.id)
        self._indexer.changed += 1
        self._indexer.removed += 1

    def _row(
        self,
        transcript: Transcript,
        before: IndexedTranscript | None,
        read: Position,
        problem: str | None,
    ) -> int:
        """Write down how the transcript looks and how far it was read."""
        signature = Signature(transcript.size, transcript.mtime_ns, 0)
        key = self._indexer.put_row(
            transcript.path,
            before.id if before else None,
            signature,
            b"",
            problem,
            day=day_of_file(
                transcript.mtime_ns
            ),  # of what does not say when it was said
        )
        table = self._tables.transcripts
        if before:
            self._run(
                f"update {table} set offset = ?, line = ?, mark = ? where file_id = ?",
                *read,
                key,
            )
        else:
            self._run(
                f"insert into {table}(offset, line, mark, file_id) values (?, ?, ?, ?)",
                *read,
                key,
            )
        return key

    def _reopened(self, key: int, first_line: int) -> _Kept:
        """Take out what ends at or after a line of the JSONL, and the last passage.

        Returns:
            What of it stays before that line, to be cut anew with what follows.
        """
        kept = _Kept()
        for chunk in reversed(self._chunks_of(key)):
            start, end, piece, heading, text, lines = self._row_of(chunk)
            origins = tuple(map(int, lines.split()))
            old = origins[-1] < first_line
            if old and (kept.before or piece):
                # It stays as it is; what was taken out after it begins anew.
                return kept if kept.before else _Kept(before=end + 1)
            self._forget([chunk])
            whole = zip(text.split("\n") if not piece else (), origins, strict=False)
            stays = [(line, at) for line, at in whole if at < first_line]
            text_left = TranscriptText(
                tuple(line for line, _ in stays), tuple(at for _, at in stays)
            )
            kept = _Kept(start - 1, text_left, heading)
            if old:
                return kept
        return kept

    def _add(
        self, key: int, path: str, kept: _Kept, messages: Sequence[TranscriptMessage]
    ) -> None:
        new = transcript_text(messages)
        text = _joined(kept.text, new)
        days = {said.line: f"{said.at:%Y-%m-%d}" for said in messages if said.at}
        chunks = [
            _placed(chunk, text, kept, days)
            for chunk in cut_chunks(
                text.lines, tokens=self._chunking.tokens, overlap=self._chunking.overlap
            )
        ]
        first = self._indexer.add(key, path, chunks)
        rows = [
            (number, " ".join(map(str, _behind(chunk, text, kept.before))))
            for number, chunk in enumerate(chunks, first)
        ]
        self._store.connection.executemany(
            f"insert into {self._tables.origins}(chunk_id, lines) values (?, ?)", rows
        )

    def _chunks_of(self, key: int) -> list[int]:
        rows = self._store.rows(
            f"select id from {self._tables.chunks} where file_id = ? order by id", key
        )
        return [row[0] for row in rows]

    def _row_of(self, chunk: int) -> tuple[int, int, int, str, str, str]:
        [row] = self._store.rows(
            "select c.start_line, c.end_line, c.piece, c.heading, c.text, o.lines"
            f" from {self._tables.chunks} as c"
            f" join {self._tables.origins} as o on o.chunk_id = c.id where c.id = ?",
            chunk,
        )
        start, end, piece, heading, text, lines = row
        return start, end, piece, heading, text, lines

    def _forget(self, chunks: Sequence[int]) -> None:
        keys = [(chunk,) for chunk in chunks]
        self._indexer.clear(chunks)
        self._store.connection.executemany(
            f"delete from {self._tables.origins} where chunk_id = ?", keys
        )

    def _run(self, sql: str, *values: object) -> None:
        self._store.one(sql, *values)


def _looks(
    transcript: Transcript, before: IndexedTranscript, problem: str
) -> tuple[int, int, int, str]:
    return (transcript.size, transcript.mtime_ns, before.id, problem)


def _joined(left: TranscriptText, right: TranscriptText) -> TranscriptText:
    """Write one text below another, an empty line between them."""
    if not left.lines or not right.lines:
        return left if left.lines else right
    gap = ((), ()) if not left.lines[-1] else (("",), (left.origins[-1],))
    return TranscriptText(
        (*left.lines, *gap[0], *right.lines), (*left.origins, *gap[1], *right.origins)
    )


def _placed(
    chunk: Chunk, text: TranscriptText, kept: _Kept, days: Mapping[int, str]
) -> Chunk:
    """Count a passage's lines from the start of the text; head it with its day."""
    day = days.get(text.origins[chunk.start_line - 1])
    if day is None and chunk.start_line <= len(kept.text.lines):
        day = kept.heading
    return replace(
        chunk,
        start_line=chunk.start_line + kept.before,
        end_line=chunk.end_line + kept.before,
        heading=day or "",
    )


def _behind(chunk: Chunk, text: TranscriptText, before: int) -> Sequence[int]:
    return text.origins[chunk.start_line - 1 - before : chunk.end_line - before]
