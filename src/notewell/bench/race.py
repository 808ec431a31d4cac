"""The run: index, warm up, ask in turn, start anew, change a note; then the report.

Contenders are asked the same query one after the other, each round and each query
beginning with another one, so that what else the machine does hits all alike.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol

from notewell.backends.base import Upload
from notewell.bench.contending import Entrant, Scene
from notewell.bench.copying import (
    Change,
    copy_notes,
    leave_out,
    line_reader,
    middling,
    working_folder,
)
from notewell.bench.lane import Lane, state_of
from notewell.bench.left_out import Gap
from notewell.bench.messages import Event, Moved, Uploading
from notewell.bench.place import Place
from notewell.bench.queries import Query
from notewell.bench.reporting import Ran, report_of
from notewell.bench.results import BenchReport, Origin
from notewell.workspace import Scan

_WARM_UP: Final = 3
"""Queries that are asked before anything counts."""


class Listener(Protocol):
    """Who is told how far the run is."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be run.

    Attributes:
        scene: Whose settings, and the environment of all that is started.
        workspace: The folder of notes.
        entrants: Who takes part, at least one.
        queries: What is asked, at least one.
        origin: Who says what is right.
        queries_from: The queries' file, or how they were made.
        limit: Results that are asked for.
        rounds: How often every query is asked; the first answer is the one scored.
        cold: How many searches begin with a new process, for each contender.
        cold_code: Python that makes such a search: it reads a Place from standard input
            and has the query as its second argument.
        state: A folder to keep indexes in; None: a temporary one.
        remarks: What a reader has to know.
        gaps: Words that the copy of the notes lacks.
    """

    scene: Scene
    workspace: Path
    entrants: Sequence[Entrant]
    queries: Sequence[Query]
    origin: Origin
    queries_from: str
    limit: int = 20
    rounds: int = 3
    cold: int = 5
    cold_code: str | None = None
    state: Path | None = None
    remarks: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


def run(plan: Plan, listener: Listener) -> BenchReport:
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
        return report_of(
            Ran(
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

    def __init__(self, plan: Plan, folder: Path, listener: Listener) -> None:
        self.notes = folder / "notes"
        self.scan: Scan = copy_notes(plan.workspace, self.notes)
        leave_out(self.notes, plan.gaps)
        self._plan = plan
        self._listener = listener
        self.lanes = [self._lane(entrant, folder) for entrant in plan.entrants]

    def run(self) -> None:
        """Go through all parts."""
        for lane in self.lanes:
            if lane.runs:
                self._listener.stage(f"Indexing for {lane.entrant.label}", "file")
                lane.make_index(self._told)
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
        scene = self._plan.scene
        place = Place(
            notes=str(self.notes),
            state=str(state_of(folder, entrant.label)),
            workspace=str(self._plan.workspace),
            config=scene.config,
            agent=scene.agent,
            overrides=dict(entrant.overrides),
            limit=self._plan.limit,
        )
        return Lane(entrant, place, scene.environ)

    def _running(self) -> list[Lane]:
        return [lane for lane in self.lanes if lane.runs]

    def _ask_all(self) -> None:
        turns = list(self._turns())
        self._listener.stage("Asking", "question")
        for done, (lane, query) in enumerate(turns, 1):
            lane.ask(query.id, query.text)
            self._listener.moved(done, len(turns))

    def _turns(self) -> Iterator[tuple[Lane, Query]]:
        """Yield who is asked what, in order."""
        lanes = self._running()
        for lap in range(self._plan.rounds):
            for place, query in enumerate(self._plan.queries):
                first = (lap + place) % max(1, len(lanes))
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
        note = middling(self.scan.notes)
        if note is None:
            return
        change = Change(note)
        change.make()
        try:
            for lane in self._running():
                self._listener.stage(f"Updating {lane.entrant.label}", "file")
                lane.update(self._told)
        finally:
            change.take_back()

    def _told(self, event: Event) -> None:
        match event:
            case Uploading(upload=upload):
                self._listener.uploading(upload)
            case Moved(what="model", done=done, total=total):
                self._listener.fetching(done, total)
            case Moved(what="vectors", done=done, total=total):
                self._listener.embedding(done, total or 0)
            case Moved(done=done, total=total):
                self._listener.moved(done, total or 0)
