"""From the bytes of a note to everything that the index holds of it, without the index.

Nothing here knows a database, a clock or a setting but how passages are cut: so it may run
anywhere, and the same bytes always come to the same rows.
"""

import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct

from notewell.backends.text.analysis import forms_of
from notewell.backends.text.chunking import Chunk, cut_chunks
from notewell.backends.text.filtering import note_properties
from notewell.backends.text.folding import number_keys
from notewell.backends.text.languages import LANGUAGE_MARK, language_of, stems_of
from notewell.backends.text.passages import names_given, note_names
from notewell.backends.text.query import name_term
from notewell.config import ChunkingSettings
from notewell.files import blake2b
from notewell.markdown import read_structure
from notewell.workspace import read_note, split_lines
from notewell.workspace.decoding import NotText
from notewell.workspace.metadata import note_metadata

_SPACED = " ".join
_SAMPLE: Final = 3
"""Passages of a note that tell its language."""


class AnalysedPassage(Struct, frozen=True, array_like=True, gc=False):
    """What the index holds of a passage: its row, and its terms in three columns.

    By `digest` the vector of a text is found again. Neither the note nor its headings count
    in it: the same text moves without being embedded again, and finds no less without them
    (`docs/ranking.md`).
    """

    start_line: int
    end_line: int
    piece: bool
    heading: str
    length: int
    digest: bytes
    text: str
    body: str
    extra: str
    context: str


class AnalysedNote(Struct, frozen=True, array_like=True, kw_only=True):
    """What the index holds of a note.

    Attributes:
        read_at: When it was read, in nanoseconds.
        digest: Of its bytes; empty if they could not be read.
        problem: Why it could not be read.
        textless: It was read, and holds no text.
        same: Its bytes are those that are known; nothing else was looked at.
        guess: The encoding that it only looks like.
        day: The day that it gives itself, in ISO 8601.
        properties: What it says of itself, sorted.
        passages: In order.
    """

    read_at: int
    digest: bytes = b""
    problem: str | None = None
    textless: bool = False
    same: bool = False
    guess: str | None = None
    day: str | None = None
    properties: list[tuple[str, str]] = []
    passages: list[AnalysedPassage] = []


def analyse_note(
    path: str, file: str, known: bytes, chunking: ChunkingSettings
) -> AnalysedNote:
    """Read a note and analyse it. That it cannot be read is an answer.

    Args:
        path: As cited.
        file: What to open.
        known: The digest of the bytes that the index has analysed; else nothing.
        chunking: How long the passages are.
    """
    read_at = time.time_ns()
    try:
        read = read_note(file)
    except NotText as error:
        return AnalysedNote(read_at=read_at, problem=error.why, textless=True)
    except OSError as error:
        problem = error.strerror or "unreadable"
        return AnalysedNote(read_at=read_at, problem=problem)
    if read.digest == known:
        return AnalysedNote(read_at=read_at, digest=known, same=True)
    lines = split_lines(read.text)
    structure = read_structure(lines)
    metadata = note_metadata(path, lines, structure)
    chunks = cut_chunks(
        lines,
        tokens=chunking.tokens,
        overlap=chunking.overlap,
        structure=structure,
    )
    return AnalysedNote(
        read_at=read_at,
        digest=read.digest,
        guess=read.guess,
        day=metadata.day.isoformat() if metadata.day else None,
        properties=sorted(note_properties(metadata)),
        passages=analyse_passages(path, chunks),
    )


def analyse_passages(path: str, chunks: Sequence[Chunk]) -> list[AnalysedPassage]:
    """Analyse the passages of one file, which tell its language together."""
    about = _terms_beside(note_names(path))
    parted = [chunk.text.split() for chunk in chunks]
    language = language_of([word for words in parted[:_SAMPLE] for word in words])
    mark = f"{LANGUAGE_MARK}{language}"  # once for each file
    hashed = blake2b()
    found: list[AnalysedPassage] = []
    for chunk, words in zip(chunks, parted, strict=True):
        text, heading = chunk.text, chunk.heading
        body, extra = indexed_terms(text, words)
        names = names_given(path, chunk.start_line, heading, text)
        keys = number_keys(text)
        if names or keys:
            extra = f"{extra} {_SPACED(map(name_term, names))} {_SPACED(keys)}"
        if language:
            extra = f"{extra} {stems_of(words, language)} {mark}"
            mark = ""
        found.append(
            AnalysedPassage(
                chunk.start_line,
                chunk.end_line,
                chunk.piece,
                heading,
                body.count(" "),  # one before each term, and none in it
                hashed(text.encode("utf-8", "surrogatepass"), digest_size=16).digest(),
                text,
                body,
                extra,
                f"{about}{_terms_beside(heading)}" if heading else about,
            )
        )
    return found


@lru_cache(maxsize=1024)
def _terms_beside(text: str) -> str:
    return "".join(indexed_terms(text, text.split()))


def indexed_terms(text: str, words: Sequence[str]) -> tuple[str, str]:
    """Return the terms of a text in order, and the further ones, a space before each."""
    forms = list(forms_of(text, words))
    return (
        "".join([f" {form.body_text}" for form in forms if form.body_text]),
        "".join([f" {form.extra_text}" for form in forms if form.extra_text]),
    )
