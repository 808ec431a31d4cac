"""The tables of an index file, and what tells our files from others'.

Everything that search reads belongs to a generation: tables that share a number.
A rebuild fills the next generation beside the live one and makes it live in one
transaction, so that searches never meet a half-built index. Beside each stands what it
was built with: another identity needs another generation.
"""

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final

import Stemmer

from notewell.backends.text.analysis import TERMS_VERSION
from notewell.backends.text.chunking import CHUNKER_VERSION
from notewell.config import ChunkingSettings
from notewell.values import dataclass

APPLICATION_ID: Final = 0x6E77_6C31
"""`nwl1`, in the header of every index file of ours."""

SCHEMA_VERSION: Final = 7

# White space alone parts terms: notewell.backends.text.analysis has done the rest.
_TOKENIZER: Final = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[]^_`{|}~\\'"

_GATHERED: Final = 16 * 1024 * 1024
"""Bytes of new terms that FTS5 holds in memory before it writes a segment."""

_MEANWHILE: Final = (
    "`notewell index` builds it anew, and until then the old one answers."
)

FILE_NAME: Final = 0
TITLE: Final = 1
LINKED: Final = 2
"""Kinds of names: of the note's file, of its title or an alias, of what it links to."""

META: Final = """
create table if not exists nw_meta(
    key text primary key,
    value any
) strict, without rowid
"""

SETTINGS: Final[Mapping[str, type]] = {
    "schema": int,
    "live": int,
    "building": int,
    "identity": str,
    "indexed_at": int,
    "checked": int,
    "last_error": str,
    "passages": int,
    "mean_length": int,
    "common_counted_at": int,
    "calibration": str,
    "vector_problems": str,
}
"""The types of what `nw_meta` holds, by key without the number of a generation."""

NEVER_NULL: Final = frozenset(
    {
        "path",
        "size",
        "mtime_ns",
        "ctime_ns",
        "file_id",
        "start_line",
        "end_line",
        "piece",
        "heading",
        "length",
        "text",
        "offset",
        "line",
        "lines",
        "mark",
        "key",
        "kind",
        "name",
        "dated",
    }
)
"""Columns that hold a value in every row."""


@dataclass(frozen=True, slots=True)
class Generation:
    """The names of one generation's tables."""

    number: int

    @property
    def tables(self) -> frozenset[str]:
        """Every table that has to be there."""
        return frozenset(
            {
                self.files,
                self.chunks,
                self.transcripts,
                self.origins,
                self.names,
                self.fts,
                self.vocabulary,
                self.common,
                self.properties,
            }
        )

    @property
    def files(self) -> str:
        """One row per note: its signature on disk, and a problem if it has one."""
        return f"nw_files_{self.number}"

    @property
    def chunks(self) -> str:
        """One row per passage, with its text and the key of its vector."""
        return f"nw_chunks_{self.number}"

    @property
    def transcripts(self) -> str:
        """One row per file that is a transcript: up to where it was read."""
        return f"nw_transcripts_{self.number}"

    @property
    def origins(self) -> str:
        """For a passage of a transcript the line of the JSONL behind each line."""
        return f"nw_origins_{self.number}"

    @property
    def names(self) -> str:
        """By the key of a name: the notes that are called so, and that link to it."""
        return f"nw_names_{self.number}"

    @property
    def fts(self) -> str:
        """The full-text index over the passages' terms; rowid is the chunk's id."""
        return f"nw_fts_{self.number}"

    @property
    def vocabulary(self) -> str:
        """FTS5's view of the terms, with the number of passages that hold each."""
        return f"nw_vocabulary_{self.number}"

    @property
    def common(self) -> str:
        """Terms that stand in a large share of the passages, with their number."""
        return f"nw_common_{self.number}"

    @property
    def properties(self) -> str:
        """The tags of each file and the values of its front matter, in every form."""
        return f"nw_properties_{self.number}"

    @property
    def identity_key(self) -> str:
        """The setting that keeps what it was built with."""
        return f"identity_{self.number}"

    def create(self) -> str:
        """Return the statements that create the tables."""
        return f"""
        create table {self.files}(
            id integer primary key,
            path text not null unique,
            size integer not null,
            mtime_ns integer not null,
            ctime_ns integer not null,
            digest blob not null,
            problem text, remark text,
            day text, dated integer not null default 0
        ) strict;
        create table {self.chunks}(
            id integer primary key,
            file_id integer not null,
            start_line integer not null,
            end_line integer not null,
            piece integer not null,
            heading text not null,
            length integer not null,
            digest blob not null,
            text text not null
        ) strict;
        create table {self.properties}(
            key text not null,
            value text not null,
            file_id integer not null,
            primary key(key, value, file_id)
        ) strict, without rowid;
        create index {self.properties}_file on {self.properties}(file_id);
        create index {self.files}_day on {self.files}(day);
        create index {self.chunks}_file on {self.chunks}(file_id, length);
        create index {self.chunks}_digest on {self.chunks}(digest);
        create virtual table {self.fts} using fts5(
            body, extra, context,
            content='', contentless_delete=1, tokenize="{_TOKENIZER}"
        );
        insert into {self.fts}({self.fts}, rank) values ('hashsize', {_GATHERED});
        create virtual table {self.vocabulary} using fts5vocab({self.fts}, row);
        create table {self.common}(
            term text primary key,
            passages integer not null
        ) strict, without rowid;
        {self._create_beside()}
        """

    def _create_beside(self) -> str:
        """Return the statements that create what stands beside the passages."""
        return f"""
        create table {self.transcripts}(
            file_id integer primary key,
            offset integer not null,
            line integer not null,
            mark blob not null
        ) strict;
        create table {self.origins}(
            chunk_id integer primary key,
            lines text not null
        ) strict;
        create table {self.names}(
            key text not null,
            kind integer not null,
            file_id integer not null,
            name text not null,
            primary key(key, kind, file_id, name)
        ) strict, without rowid;
        create index {self.names}_file on {self.names}(file_id);
        """

    def drop(self) -> str:
        """Return the statements that drop the tables, also half-made ones."""
        return f"""
        drop table if exists {self.vocabulary};
        drop table if exists {self.fts};
        drop table if exists {self.chunks};
        drop table if exists {self.transcripts};
        drop table if exists {self.origins};
        drop table if exists {self.names};
        drop table if exists {self.files};
        drop table if exists {self.common};
        drop table if exists {self.properties};
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexIdentity:
    """Everything that the passages and terms of an index depend on, but the notes."""

    workspace: str
    chunker: str
    tokenizer: str

    @classmethod
    def current(cls, root: Path, chunking: ChunkingSettings) -> "IndexIdentity":
        """Return the identity that an index built here and now has."""
        unicode, stemmer = unicodedata.unidata_version, Stemmer.version()
        return cls(
            workspace=str(root),
            chunker=f"{CHUNKER_VERSION}:{chunking.tokens}/{chunking.overlap}",
            tokenizer=f"{TERMS_VERSION}:unicode-{unicode}:snowball-{stemmer}",
        )

    def built(self, built_with: str | None) -> bool:
        """Say whether a generation was built with it; see `Store.built_with`."""
        return built_with == self.encoded()

    def reason_to_replace(self, built_with: str | None) -> str | None:
        """Say for a person why the index that answers is built anew; None if it is not.

        Args:
            built_with: What it was built with; see `Store.built_with`.

        Raises:
            ValueError, TypeError: what it was built with is damaged.
        """
        if built_with is None or self.built(built_with):
            return None
        built = self.decoded(built_with)
        here, there = _unicode_of(self.tokenizer), _unicode_of(built.tokenizer)
        if here == there:
            return f"The index was built with other settings; {_MEANWHILE}"
        return (
            f"The index was built by a Python with the Unicode data {there}, and this one"
            f" has {here}, by which some letters are told apart otherwise; {_MEANWHILE}"
            " All notes are read again for it, no vector is made again. Two Pythons that"
            " take turns do so each time: use one, or set memorySearch.store.path."
        )

    def encoded(self) -> str:
        """Return the form in which the index keeps it."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def decoded(cls, text: str) -> "IndexIdentity":
        """Read what `encoded` wrote."""
        return cls(**json.loads(text))


def _unicode_of(tokenizer: str) -> str:
    """Return the version of the Unicode data in what terms were made with.

    >>> _unicode_of("7:unicode-15.1.0:snowball-3.0.1")
    '15.1.0'
    """
    return tokenizer.partition(":unicode-")[2].partition(":")[0]
