"""Tells a person how far a benchmark is: one bar at a time."""

from contextlib import ExitStack

from notewell.adapters.surfaces.cli.output import Output
from notewell.adapters.surfaces.cli.progress import Indexing
from notewell.adapters.surfaces.cli.vectorwork import Vectors
from notewell.adapters.surfaces.visible import one_line
from notewell.backends.base import Upload


class Benching:
    """The listener of a run; see `notewell.bench.race.BenchListener`. To be closed."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._bars = ExitStack()
        self._bar: Indexing | None = None
        self._vectors: Vectors | None = None

    def stage(self, title: str, noun: str) -> None:
        """Begin a bar; the one before is done."""
        self._bars.close()
        self._bar = self._bars.enter_context(
            Indexing(self._output, one_line(title), noun=noun)
        )
        self._vectors = self._bars.enter_context(Vectors(self._output))

    def moved(self, done: int, total: int) -> None:
        """Move the bar."""
        if self._bar is not None:
            self._bar(done, total)

    def embedding(self, done: int, total: int) -> None:
        """Move the bar of the vectors, which follow the notes."""
        if self._vectors is not None:
            if self._bar is not None:
                self._bar.stop()
            self._vectors.work.progress(done, total)

    def fetching(self, have: int, total: int | None) -> None:
        """Move the bar of a model that is being fetched."""
        if self._vectors is not None:
            self._vectors.work.fetching(have, total)

    def uploading(self, upload: Upload) -> None:
        """Say what is sent where, as `notewell index` does."""
        if self._vectors is not None:
            self._vectors.work.uploading(upload)

    def close(self) -> None:
        """Take the bar away."""
        self._bars.close()
