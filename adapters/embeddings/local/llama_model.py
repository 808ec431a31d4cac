"""One GGUF model in memory, by llama-cpp-python.

llama.cpp ends the process when it is given more tokens than it was set up for, or a model
that is gone, so both are checked here first. A text that is too long for a model is cut
into pieces that are not.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, Final

from notewell.adapters.embeddings.local.disk import quiet
from notewell.adapters.embeddings.local.gguf import GgufHead
from notewell.errors import EmbeddingError
from notewell.foreign import well_formed
from notewell.installing import install_command, install_extra

if TYPE_CHECKING:
    from llama_cpp import Llama

LONGEST: Final = 2048
"""Tokens that are read at once at most: passages are shorter, and memory grows."""

_PACKAGE: Final = "llama-cpp-python"
_POOLINGS: Final = ("none", "mean", "cls", "last")

_CALLBACKS: Final[list[object]] = []  # C code holds them, so they must stay

MOST_PIECES: Final = 8
"""Pieces of a text that are looked at; what follows tells little more about it."""


class LlamaModel:
    """A model that is loaded. Threads take turns."""

    def __init__(self, model: "Llama", tokens: int) -> None:
        self._model: Llama | None = model
        self._tokens = tokens
        self._lock = Lock()

    def vectors(self, text: str, prefix: str) -> list[tuple[int, list[float]]]:
        """Return (tokens, vector) for each piece of a text; none for no token.

        Args:
            text: Any text, of any length.
            prefix: Stands before each piece.

        Raises:
            EmbeddingError: llama.cpp refuses it.
        """
        text = well_formed(text)
        with self._lock:
            model = self._model
            if model is None:
                raise EmbeddingError(
                    "local",
                    "the model was closed while texts were waiting",
                    reason="not-ready",
                    remedy="open it again",
                )
            most = self._tokens

            def fits(piece: str) -> bool:
                return _count(model, prefix + piece) <= most

            cut = islice(
                split_to_fit(text[: MOST_PIECES * most * 8], fits), MOST_PIECES
            )
            counted = [(_count(model, prefix + piece), piece) for piece in cut]
            return [
                (count, _embedded(model, prefix + piece))
                for count, piece in counted
                if count
            ]

    def close(self) -> None:
        """Free the memory, as soon as nobody is in the middle of a text."""
        with self._lock:
            model, self._model = self._model, None
            if model is not None:
                model.close()


def load_model(path: Path, head: GgufHead, pooling: str, *, remedy: str) -> LlamaModel:
    """Load a model into memory.

    Args:
        pooling: How the vectors of tokens become one: `mean`, `cls` or `last`.
        remedy: What to do about a file that is damaged.

    Raises:
        EmbeddingError: the package is missing, or it cannot read the model.
    """
    tokens = min(head.context, LONGEST)
    with quiet():
        llama_cpp = import_llama_cpp()
        said = _silenced(llama_cpp)
        said.clear()
        try:
            # verbose=False would send the descriptors 1 and 2 of the whole process
            # to /dev/null for a while, and with them the answers of other threads.
            model: Llama = llama_cpp.Llama(
                model_path=str(path),
                embedding=True,
                verbose=True,
                n_ctx=tokens,
                n_batch=tokens,
                n_ubatch=tokens,
                pooling_type=_POOLINGS.index(pooling),
                n_gpu_layers=-1,
                n_threads=thread_count(),
                n_threads_batch=thread_count(),
            )
        except (ValueError, RuntimeError, OSError, MemoryError) as exc:
            raise _not_loaded(path, said, remedy) from exc
    return LlamaModel(model, tokens)


def split_to_fit(text: str, fits: Callable[[str], bool]) -> Iterator[str]:
    """Yield the pieces of a text, in order; joined they are the text.

    A piece that does not fit is halved, between two words if that is possible.

    >>> list(split_to_fit("one two three", lambda piece: len(piece) <= 8))
    ['one two', ' three']
    """
    waiting = [text]
    while waiting:
        piece = waiting.pop()
        if len(piece) < 2 or fits(piece):
            yield piece
            continue
        border = _border(piece)
        waiting += [piece[border:], piece[:border]]


def _border(text: str) -> int:
    """Return where to halve: at the last blank of the first half, or in the middle."""
    middle = (len(text) + 1) // 2
    blank = max(text.rfind(sign, 1, middle + 1) for sign in " \n\t")
    return blank if blank > 0 else middle


def import_llama_cpp() -> ModuleType:
    """Return llama-cpp-python.

    Raises:
        EmbeddingError: it is not installed, or its library cannot be loaded.
    """
    try:
        import llama_cpp  # takes half a second
    except ModuleNotFoundError as exc:
        raise not_installed() from exc
    except (ImportError, OSError, RuntimeError) as exc:
        raise EmbeddingError(
            "local",
            f"llama-cpp-python cannot be loaded: {exc}",
            reason="missing",
            remedy="install it again: " + install_command(_PACKAGE, again=True),
        ) from exc
    return llama_cpp


def not_installed() -> EmbeddingError:
    """Return the error that says how to get llama-cpp-python."""
    return EmbeddingError(
        "local",
        "llama-cpp-python is not installed",
        reason="missing",
        remedy=f"install it: {install_extra('llama')}",
    )


def thread_count() -> int:
    """Return how many threads llama.cpp may use.

    One core is left alone: its threads wait for each other in busy loops, so a
    model with a thread too many is many times slower, and not a little.
    """
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    siblings = Path("/sys/devices/system/cpu/smt/active")
    try:
        shared = siblings.read_text(encoding="ascii").strip() == "1"
    except OSError:
        shared = False
    return max(1, min(8, cores // 2 if shared else cores - 1))


@cache
def _silenced(llama_cpp: ModuleType) -> deque[str]:
    """Take llama.cpp's log away from stderr; return where its last errors are put."""
    import ctypes

    said: deque[str] = deque(maxlen=20)

    def listen(_level: int, text: bytes, _data: object) -> None:
        if b"error" in text:  # the numbers of the levels have changed over time
            said.append(text.decode("utf-8", "replace").strip())

    _mend(llama_cpp)
    callback = llama_cpp.llama_log_callback(listen)
    llama_cpp.llama_log_set(callback, ctypes.c_void_p(0))
    _CALLBACKS.append(callback)
    return said


def _mend(llama_cpp: ModuleType) -> None:
    """Let a model that could not be loaded go without a traceback on stderr.

    Its destructor asks for a `sampler` that the constructor did not come to set.
    """
    wrapper = getattr(getattr(llama_cpp, "_internals", None), "LlamaModel", None)
    if wrapper is not None and not hasattr(wrapper, "sampler"):
        wrapper.sampler = None


def _not_loaded(path: Path, said: Sequence[str], remedy: str) -> EmbeddingError:
    why = next((line for line in said if "error loading model" in line), "")
    why = why.rpartition("error loading model:")[2].strip()
    if "unknown model architecture" in why:
        return EmbeddingError(
            "local",
            f"the installed llama-cpp-python is too old for {path.name}: {why}",
            reason="version",
            remedy="install a newer one: " + install_command(_PACKAGE, again=True),
        )
    return EmbeddingError(
        "local",
        f"{path} cannot be loaded{': ' if why else ''}{why}",
        reason="corrupt",
        remedy=remedy,
    )


def _count(model: "Llama", piece: str) -> int:
    return len(model.tokenize(piece.encode("utf-8")))


def _embedded(model: "Llama", piece: str) -> list[float]:
    # One text at a time: lists of texts fail in several versions.
    try:
        return model.embed(piece)
    except (RuntimeError, ValueError) as exc:
        raise EmbeddingError(
            "local",
            f"llama.cpp failed on a text of {len(piece)} characters",
            reason="exit",
            remedy="upgrade it: " + install_command(_PACKAGE, again=True),
        ) from exc
