# The part of sentence-transformers that we use. It is optional, and its own types
# lead a checker through all of torch.
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

class SentenceTransformer:
    def __init__(
        self,
        model_name_or_path: str,
        *,
        backend: str = ...,
        local_files_only: bool = ...,
    ) -> None: ...
    def encode(
        self,
        sentences: Sequence[str],
        *,
        prompt: str | None = ...,
        batch_size: int = ...,
        show_progress_bar: bool | None = ...,
    ) -> NDArray[np.float32]: ...
