"""Tells a person how far long work is: a bar on a terminal, else a line on stderr."""

import time
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Self

from notewell.adapters.surfaces.cli.output import STDERR, CommandOutput
from notewell.adapters.surfaces.cli.screen import can_animate
from notewell.adapters.surfaces.plain_text import one_line
from notewell.adapters.surfaces.sentences import number_of, size_text

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from notewell.backends.base import Upload


class ProgressDisplay:
    """Long work of which a person is told: a bar on a terminal, else one line."""

    def __init__(self, output: CommandOutput) -> None:
        self._output = output
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _show(self, bar: "Progress", title: str, done: int, total: int | None) -> None:
        self._bar = bar
        self._task = bar.add_task(title, total=total, completed=done)
        bar.start()

    def _move(self, done: int, total: int | None) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, total=total)


class IndexProgress(ProgressDisplay):
    """A callback for an indexing run: a bar on a terminal, else one line.

    Attributes:
        total: Files, or passages, that there are to do; 0 until the run has begun.
    """

    def __init__(
        self, output: CommandOutput, title: str = "Indexing", *, noun: str = "file"
    ) -> None:
        super().__init__(output)
        self.total = 0
        self._title = title
        self._noun = noun
        self._began = time.monotonic()

    @property
    def ran(self) -> bool:
        """Whether there was anything to do."""
        return self.total > 0

    @property
    def seconds(self) -> float:
        """How long this has taken so far."""
        return time.monotonic() - self._began

    def __call__(self, done: int, total: int) -> None:
        """Note how far the run is."""
        begins = total > 0 and not self.ran
        if begins and self._output.host:
            self._output.host.require_complete(False)
        self.total = total  # first: Ctrl-C may come while we draw
        if begins:
            self._begin(total)
        self._move(done, total)

    def wait(self) -> None:
        """Tell that another process has to finish first."""
        if self._output.host:
            self._output.host.require_complete(False)
        self._output.note("another process is indexing; waiting for it")

    def _begin(self, total: int) -> None:
        if not can_animate(STDERR):
            self._output.note(f"{self._title} {number_of(total, self._noun)} …")
            return
        from notewell.adapters.surfaces.cli.bars import files_bar  # rich is heavy

        self._show(files_bar(), self._title, 0, total)


class DownloadProgress(ProgressDisplay):
    """A callback for a download: a bar on a terminal, else one line.

    Attributes:
        begun: Whether anything has come.
    """

    def __init__(self, output: CommandOutput) -> None:
        super().__init__(output)
        self.begun = False

    def __call__(self, have: int, total: int | None) -> None:
        """Note how far it is."""
        if not self.begun:
            self.begun = True  # first: Ctrl-C may come while we draw
            self._begin(have, total)
        self._move(have, total)

    def _begin(self, have: int, total: int | None) -> None:
        if not can_animate(STDERR):
            self._output.note(
                f"fetching {size_text(total)} …" if total else "fetching …"
            )
            return
        from notewell.adapters.surfaces.cli.bars import download_bar  # rich is heavy

        self._show(download_bar(), "Fetching", have, total)


class VectorProgress:
    """What an indexing run is given to make vectors with, as a context manager.

    Attributes:
        work: To be given to `refresh`.
    """

    def __init__(self, output: CommandOutput, *, agrees: bool = False) -> None:
        """Take where to write, and whether a person agrees to what is sent elsewhere."""
        from notewell.backends.base import VectorWork  # late: `--help` needs no engine

        self._output = output
        self._agrees = agrees
        self._embedding = IndexProgress(output, "Embedding", noun="passage")
        self._fetching = DownloadProgress(output)
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
        if self._output.verbose and done:
            self._output.note(f"batch: {done:,} of {number_of(total, 'passage')}")

    def _upload(self, upload: "Upload") -> bool:
        passages = number_of(upload.passages, "passage")
        doing = "sending" if self._agrees else "to send:"
        self._output.note(
            f"{doing} {passages}, about {upload.tokens:,} tokens, to"
            f" {one_line(upload.host)} ({one_line(upload.provider)})"
        )
        return self._agrees


class BenchProgress:
    """The listener of a run; see `notewell.bench.race.BenchListener`. To be closed."""

    def __init__(self, output: CommandOutput) -> None:
        self._output = output
        self._bars = ExitStack()
        self._bar: IndexProgress | None = None
        self._vectors: VectorProgress | None = None

    def stage(self, title: str, noun: str) -> None:
        """Begin a bar; the one before is done."""
        self._bars.close()
        self._bar = self._bars.enter_context(
            IndexProgress(self._output, one_line(title), noun=noun)
        )
        self._vectors = self._bars.enter_context(
            VectorProgress(self._output, agrees=True)
        )

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

    def uploading(self, upload: "Upload") -> None:
        """Say what is sent where, as `notewell index` does."""
        if self._vectors is not None:
            self._vectors.work.uploading(upload)

    def close(self) -> None:
        """Take the bar away."""
        self._bars.close()
