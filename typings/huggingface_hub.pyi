# The part of huggingface_hub that we use. It comes with sentence-transformers only.
from collections.abc import Sequence
from pathlib import Path

class RepoSibling:
    rfilename: str
    size: int | None

class ModelInfo:
    siblings: Sequence[RepoSibling] | None

class HfApi:
    def __init__(
        self, endpoint: str | None = ..., token: str | bool | None = ...
    ) -> None: ...
    def model_info(self, repo_id: str, *, files_metadata: bool = ...) -> ModelInfo: ...
    def hf_hub_download(
        self, repo_id: str, filename: str, *, cache_dir: Path = ...
    ) -> str: ...
