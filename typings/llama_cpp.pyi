# The part of llama-cpp-python that we use. It is optional, so no checker needs it.
from collections.abc import Callable
from ctypes import c_void_p

class Llama:
    def __init__(
        self,
        model_path: str,
        *,
        embedding: bool = ...,
        verbose: bool = ...,
        n_ctx: int = ...,
        n_batch: int = ...,
        n_ubatch: int = ...,
        pooling_type: int = ...,
        n_gpu_layers: int = ...,
        n_threads: int | None = ...,
        n_threads_batch: int | None = ...,
    ) -> None: ...
    def tokenize(self, text: bytes) -> list[int]: ...
    def embed(self, input: str) -> list[float]: ...
    def close(self) -> None: ...

def llama_log_callback(
    function: Callable[[int, bytes, object], None],
) -> Callable[[int, bytes, object], None]: ...
def llama_log_set(
    callback: Callable[[int, bytes, object], None], data: c_void_p
) -> None: ...
