"""From the documents that QMD names to passages of the notes as they are now.

QMD says which notes; the lines are looked for in the files themselves. So a citation
never leads to other lines than were shown, whatever has changed since.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256

from notewell.backends.qmd.answer import Document
from notewell.backends.qmd.collections import Collection, handles, path_in
from notewell.backends.text.analysis import forms_of, terms_of
from notewell.backends.text.chunking import cut_chunks
from notewell.backends.text.passages import Passage
from notewell.backends.text.query import QueryTerm
from notewell.config import ChunkingSettings
from notewell.errors import PathRefused
from notewell.workspace import Locator, Workspace, split_lines
from notewell.workspace.layout import decode_note, read_regular

_MOST_KEPT = 2_000
"""Notes whose passages are kept for the next question."""


class Names:
    """From QMD's names of files to paths of notes, for one question.

    Attributes:
        locator: Finds the files.
    """

    def __init__(
        self,
        workspace: Workspace,
        collections: Sequence[Collection],
        *,
        literal: bool,
        notes: Callable[[], Iterable[str]],
    ) -> None:
        """Know the collections.

        Args:
            literal: The names are those of the files; else they were altered.
            notes: Gives the paths of the notes, when altered names have to be traced.
        """
        self.locator = Locator(workspace)
        self._workspace = workspace
        self._collections = {each.name: each for each in collections}
        self._literal = literal
        self._notes = notes
        self._by_handle: dict[str, list[str]] | None = None

    def paths(self, document: Document) -> list[str]:
        """Return the notes that a document may be; none if it is nobody's we know."""
        collection = self._collections.get(document.collection)
        if collection is None:
            return []
        path = path_in(self._workspace, collection, document.path)
        if path is None:
            return []
        if self._literal:
            return [path]
        return self._traced().get(handles(path)) or self._others()

    def _traced(self) -> dict[str, list[str]]:
        if self._by_handle is None:
            found: dict[str, list[str]] = defaultdict(list)
            for path in self._notes():
                found[handles(path)].append(path)
            self._by_handle = dict(found)
        return self._by_handle

    def _others(self) -> list[str]:
        """Return the notes whose names a version may have altered in ways of its own."""
        return [path for path in self._notes() if not path.isascii()]


class Reading:
    """Reads the notes that QMD named. Keeps the passages of notes that stay as they are.

    Attributes:
        workspace: The notes.
    """

    def __init__(self, workspace: Workspace, chunking: ChunkingSettings) -> None:
        self.workspace = workspace
        self._chunking = chunking
        self._kept: dict[str, tuple[tuple[int, int, int], str, list[Passage]]] = {}

    def passages(self, document: Document, names: Names) -> tuple[list[Passage], bool]:
        """Return a document's passages, and whether it is as QMD indexed it."""
        for path in names.paths(document):
            found = self._read(path, names.locator)
            if found is None:
                continue
            digest, passages = found
            same = not document.docid or digest.startswith(document.docid)
            if same:
                return passages, True
            if len(names.paths(document)) == 1:
                return passages, False
        return [], False

    def _read(self, path: str, locator: Locator) -> tuple[str, list[Passage]] | None:
        """Return digest and passages of a note that `get` would read."""
        try:
            file = locator.locate(path, exactly=True).file
            if file is None:
                return None
            state = os.lstat(file)
            signature = (state.st_size, state.st_mtime_ns, state.st_ctime_ns)
            kept = self._kept.get(path)
            if kept and kept[0] == signature:
                return kept[1:]
            raw = read_regular(file)
        except (PathRefused, OSError, ValueError):
            return None
        passages = list(self._cut(path, raw, signature))
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[path] = (signature, digest_of(raw), passages)
        return self._kept[path][1:]

    def _cut(
        self, path: str, raw: bytes, signature: tuple[int, int, int]
    ) -> Iterator[Passage]:
        lines = split_lines(decode_note(raw))
        chunks = cut_chunks(
            lines, tokens=self._chunking.tokens, overlap=self._chunking.overlap
        )
        for chunk in chunks:
            yield Passage(
                id=0,
                path=path,
                signature=signature,
                start_line=chunk.start_line,
                end_line=chunk.end_line,
                heading=chunk.heading,
                length=sum(len(forms.body) for forms in forms_of(chunk.text)),
                text=chunk.text,
                piece=chunk.piece,
            )


def digest_of(raw: bytes) -> str:
    """Return the SHA-256 of a note's text as QMD takes it: U+FFFD for odd bytes."""
    return sha256(raw.decode("utf-8", "replace").encode()).hexdigest()


def spread_in(
    passages: Iterable[Passage],
    wants: Sequence[QueryTerm],
    documents: Mapping[str, int] = {},
) -> Mapping[str, int]:
    """Return in how many passages each term of the wants stands.

    Args:
        documents: In how many documents of the index terms stand. These passages were
            chosen for the terms, so of a common one they hold but a few.
    """
    terms = {term for want in wants for term in want.terms()}
    spread: Counter[str] = Counter()
    notes: dict[str, set[str]] = defaultdict(set)
    for passage in passages:
        found = terms & terms_of(f"{passage.beside} {passage.text}")
        spread.update(found)
        for term in found:
            notes[term].add(passage.path)
    for want in wants:
        held = max((documents.get(term, 0) for term in want.exact), default=0)
        for term in (*want.exact, want.loose):
            here = len(notes.get(term, ()))
            if held > here > 0:
                spread[term] = round(spread[term] * held / here)
    return spread
