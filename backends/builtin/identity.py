"""What an index was built with. Another identity needs another index."""

import json
import unicodedata
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import Stemmer

from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.text.analysis import TERMS_VERSION
from notewell.backends.text.chunking import CHUNKER_VERSION
from notewell.config import ChunkingSettings

_MEANWHILE: Final = (
    "`notewell index` builds it anew, and until then the old one answers."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Everything that the passages and terms of an index depend on, but the notes."""

    workspace: str
    chunker: str
    tokenizer: str

    @classmethod
    def current(cls, root: Path, chunking: ChunkingSettings) -> "Identity":
        """Return the identity that an index built here and now has."""
        unicode, stemmer = unicodedata.unidata_version, Stemmer.version()
        return cls(
            workspace=str(root),
            chunker=f"{CHUNKER_VERSION}:{chunking.tokens}/{chunking.overlap}",
            tokenizer=f"{TERMS_VERSION}:unicode-{unicode}:snowball-{stemmer}",
        )

    def built(self, store: Store, tables: Generation) -> bool:
        """Say whether a generation was built with it."""
        return bool(store.get(key_of(tables)) == self.encoded())

    def reason_to_replace(self, store: Store) -> str | None:
        """Say for a person why the index that answers is built anew; None if it is not.

        Raises:
            ValueError, TypeError: what it was built with is damaged.
        """
        live = store.live()
        text = store.get(key_of(live)) if live else None
        if text is None or text == self.encoded():
            return None
        built = self.decoded(text)
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
    def decoded(cls, text: str) -> "Identity":
        """Read what `encoded` wrote."""
        return cls(**json.loads(text))


def key_of(tables: Generation) -> str:
    """Return the setting that keeps what a generation was built with."""
    return f"identity_{tables.number}"


def _unicode_of(tokenizer: str) -> str:
    """Return the version of the Unicode data in what terms were made with.

    >>> _unicode_of("7:unicode-15.1.0:snowball-3.0.1")
    '15.1.0'
    """
    return tokenizer.partition(":unicode-")[2].partition(":")[0]
