"""Tells a person how the making of vectors goes, and what is sent where."""

from contextlib import ExitStack
from types import TracebackType
from typing import Self

from notewell.adapters.surfaces.cli.fetching import Fetching
from notewell.adapters.surfaces.cli.output import Output
from notewell.adapters.surfaces.cli.progress import Indexing
from notewell.adapters.surfaces.sentences import number_of
from notewell.adapters.surfaces.visible import one_line
from notewell.backends.base import Upload, VectorWork


class Vectors:
    """What an indexing run is given to make vectors with, as a context manager.

    Attributes:
        work: To be given to `refresh`.
    """

    def __init__(self, output: Output) -> None:
        self._output = output
        self._embedding = Indexing(output, "Embedding", noun="passage")
        self._fetching = Fetching(output)
        self._open = ExitStack()
        self.work = VectorWork(
            progress=self._embed, uploading=self._upload, fetching=self._fetching
        )

    @property
    def ran(self) -> bool:
        """Whether there was anything to do."""
        return self._embedding.ran or self._fetching.begun

    def stop(self) -> None:
        """Take the bars away."""
        self._open.close()

    def __enter__(self) -> Self:
        self._open.enter_context(self._embedding)
        self._open.enter_context(self._fetching)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _embed(self, done: int, total: int) -> None:
        self._fetching.stop()
        self._embedding(done, total)

    def _upload(self, upload: Upload) -> None:
        passages = number_of(upload.passages, "passage")
        self._output.note(
            f"sending {passages}, about {upload.tokens:,} tokens, to"
            f" {one_line(upload.host)} ({one_line(upload.provider)})"
        )
