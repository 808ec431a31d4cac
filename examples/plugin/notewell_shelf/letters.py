"""Vectors from letters: each text is the triples of letters that it has.

No model and no meaning, but a whole provider: texts that are spelled alike are near.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from zlib import crc32

from notewell.adapters.embeddings.base import (
    Embedder,
    EmbeddingIdentity,
    EmbeddingSettings,
    Provider,
    Role,
)

if TYPE_CHECKING:
    from notewell.adapters.embeddings.base import Matrix

DIMENSION = 256


def provider(settings: EmbeddingSettings) -> Provider:
    """Describe the provider. Nothing is loaded before `open`."""
    return Provider(name="letters", remote=False, host="", open=Letters)


class Letters:
    """See `notewell.adapters.embeddings.base.Embedder`."""

    model = "triples-256"
    batch_size = 256

    def identity(self) -> EmbeddingIdentity:
        """Return what the vectors depend on."""
        return EmbeddingIdentity(
            provider="letters",
            model=self.model,
            endpoint="",
            dimension=DIMENSION,
            prefixes="",
        )

    def embed(self, texts: Sequence[str], role: Role) -> "Matrix":
        """Return one unit vector per text, shape (len(texts), 256)."""
        import numpy as np

        counts = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for row, text in enumerate(texts):
            padded = f"  {text.casefold()}  "
            for at in range(len(padded) - 2):
                counts[row, crc32(padded[at : at + 3].encode()) % DIMENSION] += 1
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    def close(self) -> None:
        """Release nothing: there is nothing."""


_: type[Embedder] = Letters  # the type checker holds it against the Protocol
