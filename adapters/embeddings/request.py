"""The name under which plug-ins know the settings of a provider.

`EmbeddingSettings` was called `Request` and had a module of its own.
"""

from notewell.adapters.embeddings.base import EmbeddingSettings as Request

__all__ = ["Request"]
