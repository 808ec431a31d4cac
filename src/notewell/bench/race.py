"""The run: index, warm up, ask in turn, start anew, change a note; then the report.

Contenders are asked the same query one after the other, each round and each query
beginning with another one, so that what else the machine does hits all alike. They work
on a copy of the notes, which a benchmark may change: the notes themselves never are.
"""

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Protocol

from notewell.backends.base import Upload
from notewell.bench.contenders import Entrant, Workplace
from notewell.bench.known_items import Gap
from notewell.bench.lane import Lane, contender_folder
from notewell.bench.messages import ProgressEvent, UploadEvent, WorkerEvent
from notewell.bench.plan import BenchPlan
from notewell.bench.queries import JudgedQuery, line_reader
from notewell.bench.report import Measurements, build_report
from notewell.bench.results import BenchReport
from notewell.errors import UsageError
from notewell.files import private_lock, read_regular, take_lock
from notewell.workspace import (
    Note,
    Workspace,
    WorkspaceScan,
    read_note,
    scan,
    split_lines,
)

_WARM_UP: Final = 3
"""Queries that are asked before anything counts."""

_MARK: Final = ".notewell-bench"
"""Says of a folder that it is a benchmark's; the lock of who works in it."""

_LINE: Final = "\n- A line more, by which the benchmark changes this copy.\n"


class BenchListener(Protocol):
    """Hears how far the run is."""

    def stage(self, title: str, noun: str) -> None:
        """Another part of the run begins, counted in `noun`s."""
        ...

    def moved(self, done: int, total: int) -> None:
        """So much of it is done."""
        ...

    def embedding(self, done: int, total: int) -> None:
        """So many passages have their vector."""
        ...

    def fetching(self, have: int, total: int | None) -> None:
        """So many bytes of a model have come."""
        ...

    def uploading(self, upload: Upload) -> None:
        """Text of the notes is about to be sent to another machine."""
        ...


def run_benchmark(plan: BenchPlan, listener: BenchListener) -> BenchReport:
    """Run a benchmark. Ctrl-C ends it early: the report has what was done.

    Raises:
        UsageError: the folder for it is somebody else's, or cannot be written.
    """
    started = datetime.now(UTC)
    with ExitStack() as held:
        folder = held.enter_context(working_folder(plan.state))
        race = _Race(plan, folder, listener)
        held.callback(race.end)
        finished = False
        with suppress(KeyboardInterrupt):
            race.run()
            finished = True
        return build_report(
            Measurements(
                started_at=started,
                finished=finished,
                workspace=plan.workspace.name,
                scan=race.scan,
                origin=plan.origin,
                queries_from=plan.queries_from,
                limit=plan.limit,
                lanes=race.lanes,
                queries=plan.queries,
                read=line_reader(race.notes),
                remarks=plan.remarks,
            )
        )


class _Race:
    """All contenders, over the parts of the run."""

    def __init__(self, plan: BenchPlan, folder: Path, listener: BenchListener) -> None:
        self.notes = folder / "notes"
        self.scan: WorkspaceScan = copy_notes(plan.workspace, self.notes)
        leave_out(self.notes, plan.gaps)
        self._plan = plan
        self._listener = listener
        self.lanes = [self._lane(entrant, folder) for entrant in plan.entrants]

    def run(self) -> None:
        """Go through all parts."""
        for lane in self.lanes:
            if lane.runs:
                self._listener.stage(f"Indexing for {lane.entrant.label}", "file")
                lane.make_index(self._pass_on)
        for query in self._plan.queries[:_WARM_UP]:
            for lane in self._running():
                lane.warm_up(query.text)
        self._ask_all()
        self._start_anew()
        self._change_a_note()
        for lane in self.lanes:
            lane.finish()

    def end(self) -> None:
        """End what still runs. Harmless twice."""
        for lane in self.lanes:
            lane.end()

    def _lane(self, entrant: Entrant, folder: Path) -> Lane:
        user = self._plan.user
        workplace = Workplace(
            notes=str(self.notes),
            state=str(contender_folder(folder, entrant.label)),
            workspace=str(self._plan.workspace),
            config=user.config,
            agent=user.agent,
            overrides=dict(entrant.overrides),
            limit=self._plan.limit,
        )
        return Lane(entrant, workplace, user.environ)

    def _running(self) -> list[Lane]:
        return [lane for lane in self.lanes if lane.runs]

    def _ask_all(self) -> None:
        turns = list(self._turns())
        self._listener.stage("Asking", "question")
        for done, (lane, query) in enumerate(turns, 1):
            lane.ask(query)
            self._listener.moved(done, len(turns))

    def _turns(self) -> Iterator[tuple[Lane, JudgedQuery]]:
        """Yield who is asked what, in order."""
        lanes = self._running()
        for lap in range(self._plan.rounds):
            for turn, query in enumerate(self._plan.queries):
                first = (lap + turn) % max(1, len(lanes))
                for lane in (*lanes[first:], *lanes[:first]):
                    yield lane, query

    def _start_anew(self) -> None:
        """Measure whole processes, as a person starts them."""
        code = self._plan.cold_code
        asked = self._plan.queries[: self._plan.cold]
        lanes = self._running()
        if code is None or not asked or not lanes:
            return
        self._listener.stage("Starting anew", "question")
        for done, query in enumerate(asked, 1):
            for lane in lanes:
                lane.start_anew(code, query.text)
            self._listener.moved(done, len(asked))

    def _change_a_note(self) -> None:
        note = median_note(self.scan.notes)
        if note is None:
            return
        change = NoteChange(note)
        change.make()
        try:
            for lane in self._running():
                self._listener.stage(f"Updating {lane.entrant.label}", "file")
                lane.update(self._pass_on)
        finally:
            change.take_back()

    def _pass_on(self, event: WorkerEvent) -> None:
        match event:
            case UploadEvent(upload=upload):
                self._listener.uploading(upload)
            case ProgressEvent(what="model", done=done, total=total):
                self._listener.fetching(done, total)
            case ProgressEvent(what="vectors", done=done, total=total):
                self._listener.embedding(done, total or 0)
            case ProgressEvent(done=done, total=total):
                self._listener.moved(done, total or 0)


def copy_notes(workspace: Path, target: Path) -> WorkspaceScan:
    """Make `target` hold the notes of a folder as they are now, and nothing else.

    Notes that are there already with the same size and time are left as they are, so
    that an index of them stays good.

    Returns:
        What is in the copy.

    Raises:
        UsageError: the copy cannot be made.
    """
    wanted = {note.path: note for note in scan(Workspace(root=workspace)).notes}
    try:
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        for place in (target, *(target / path for path in wanted)):
            _check_own(place, target.parent)
        for note in scan(Workspace(root=target)).notes:
            if note.path not in wanted:
                os.unlink(note.file)
        for path, note in wanted.items():
            _copy(note, target / path)
    except OSError as exc:
        raise UsageError(
            f"the notes cannot be copied: {exc.strerror}: {exc.filename}",
            remedy="see that there is space and the permission to read and write",
        ) from exc
    return scan(Workspace(root=target))


@contextmanager
def working_folder(named: Path | None) -> Generator[Path]:
    """Give a folder to work in: a temporary one, or the one that is named and kept.

    Raises:
        UsageError: it holds something else, another benchmark is in it, or it cannot
            be written.
    """
    if named is None:
        with TemporaryDirectory(prefix="notewell-bench-") as folder:
            yield Path(folder)
        return
    mark = named / _MARK
    try:
        if named.is_dir() and not mark.exists() and any(named.iterdir()):
            raise UsageError(
                f"{named} holds something else",
                remedy="name a new folder, or an empty one",
            )
        lock = private_lock(mark)
    except OSError as exc:
        raise UsageError(
            f"{named} cannot be written: {exc.strerror or exc}",
            remedy="name another folder with --state",
        ) from exc
    if not take_lock(lock):
        raise UsageError(
            f"another benchmark works in {named}", remedy="wait for it, or name another"
        )
    try:
        yield named
    finally:
        lock.release()


def leave_out(folder: Path, gaps: Sequence[Gap]) -> None:
    """Take words out of lines of a copy; see `left_out_queries`.

    Raises:
        UsageError: the copy cannot be written.
    """
    by_note: dict[str, list[Gap]] = {}
    for gap in gaps:
        by_note.setdefault(gap.path, []).append(gap)
    for path, each in by_note.items():
        file = folder / path
        try:
            times = file.stat()
            lines = split_lines(read_note(str(file)).text)
            for gap in each:
                lines[gap.line - 1] = gap.text
            file.write_text("\n".join(lines), encoding="utf-8", newline="")
            os.utime(file, ns=(times.st_mtime_ns, times.st_mtime_ns))
        except OSError as exc:
            raise UsageError(
                f"the copy of a note cannot be changed: {exc.strerror}: {path}",
                remedy="see that there is space and the permission to write",
            ) from exc


class NoteChange:
    """One note of the copy with a line more, until it is taken back."""

    def __init__(self, note: Note) -> None:
        self._file = Path(note.file)
        self._was = self._file.read_bytes()
        self._times = (note.mtime_ns, note.mtime_ns)

    def make(self) -> None:
        """Add a line."""
        self._file.write_bytes(self._was + _LINE.encode())

    def take_back(self) -> None:
        """Make the note what it was."""
        self._file.write_bytes(self._was)
        os.utime(self._file, ns=self._times)


def median_note(notes: Sequence[Note]) -> Note | None:
    """Return the note of median size, the first by path among equals."""
    ordered = sorted(notes, key=lambda note: (note.size, note.path))
    return ordered[len(ordered) // 2] if ordered else None


def _check_own(place: Path, folder: Path) -> None:
    """Refuse a way that leads out of the folder: what is there is somebody's.

    Raises:
        UsageError: a part of it is a symbolic link.
    """
    own = os.path.join(os.path.realpath(folder), place.relative_to(folder))
    if os.path.realpath(place) != own:
        raise UsageError(
            f"{place} is a symbolic link, or behind one",
            remedy="take the link away, or name another folder with --state",
        )


def _copy(note: Note, file: Path) -> None:
    with suppress(OSError):
        there = file.stat()
        if (there.st_size, there.st_mtime_ns) == (note.size, note.mtime_ns):
            return
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        # A link that has come in the place of a note since would be followed.
        text = read_regular(note.file)
    except FileNotFoundError:
        return  # it was deleted since the folder was read
    file.unlink(missing_ok=True)  # whatever it is, it is not written through
    file.write_bytes(text)
    os.utime(file, ns=(note.mtime_ns, note.mtime_ns))
