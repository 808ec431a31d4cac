"""What an index was built with. Another identity needs another index."""

import json
import unicodedata
from dataclasses import asdict, dataclass
from pathlib import Path

import Stemmer

from notewell.backends.text.chunking import CHUNKER_VERSION
from notewell.backends.text.terms import TERMS_VERSION
from notewell.config import ChunkingSettings


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

    def encoded(self) -> str:
        """Return the form in which the index keeps it."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def decoded(cls, text: str) -> "Identity":
        """Read what `encoded` wrote."""
        return cls(**json.loads(text))
