"""Whole runs with real engines, each in a process of its own."""

import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from notewell.bench.contenders import UserSettings, Workplace, read_entrants
from notewell.bench.handle import Handle, WorkerLost, python_program
from notewell.bench.lane import contender_folder
from notewell.bench.messages import (
    IndexRequest,
    SearchReply,
    SearchRequest,
    encode_message,
)
from notewell.bench.plan import BenchPlan
from notewell.bench.queries import JudgedQuery
from notewell.bench.race import run_benchmark
from notewell.errors import UsageError

if TYPE_CHECKING:
    from tests.bench.conftest import Quiet

Planned = Callable[..., BenchPlan]


@pytest.fixture
def plan(user: UserSettings, notes: Path, judged: Sequence[JudgedQuery]) -> Planned:
    """Makes a plan: plan("builtin", rounds=2)."""

    def make(*specs: str, rounds: int = 1, state: Path | None = None) -> BenchPlan:
        return BenchPlan(
            user=user,
            workspace=notes,
            entrants=read_entrants(specs, user),
            queries=judged,
            origin="judged",
            queries_from="queries.jsonl",
            rounds=rounds,
            state=state,
        )

    return make


@pytest.fixture
def workplace(notes: Path, tmp_path: Path) -> Workplace:
    """Where a worker with builtin works."""
    return Workplace(
        notes=str(notes),
        state=str(tmp_path / "state"),
        workspace=str(notes),
        overrides={"memory.backend": "builtin", "memory.fallback": "none"},
    )


def test_a_run_scores_every_query_and_measures_what_it_took(
    plan: Planned, listener: "Quiet"
) -> None:
    report = run_benchmark(plan("builtin:keyword", rounds=2), listener)

    [builtin] = report.contenders
    assert (report.finished, report.files, report.origin) == (True, 3, "judged")
    assert builtin.quality["recall@1"].mean == pytest.approx(2 / 3)
    assert builtin.by_category["b"]["success@6"] == 0.5
    assert (builtin.answered, builtin.mode, builtin.fallbacks) == (3, "keyword", {})
    assert builtin.warm is not None
    assert len(builtin.warm.samples) == 6
    cost = builtin.cost
    assert None not in (cost.index_ms, cost.update_ms, cost.disk_bytes)
    assert cost.peak_memory_bytes is not None
    assert 10_000_000 < cost.peak_memory_bytes < 500_000_000


def test_answers_are_kept_with_what_is_right(plan: Planned, listener: "Quiet") -> None:
    report = run_benchmark(plan("builtin:keyword"), listener)

    port, _, whale = report.asked
    [answer] = port.answers
    assert answer.results[0].relevant == (0,)
    assert port.relevant[0].text == "The gateway port is 18789."
    assert (whale.answers[0].results, whale.answers[0].reason) == ((), "no-match")


def test_neither_the_notes_nor_the_users_index_are_touched(
    plan: Planned, listener: "Quiet", tmp_path: Path
) -> None:
    before = seen(tmp_path / "notes")

    run_benchmark(plan("builtin"), listener)

    assert seen(tmp_path / "notes") == before
    assert not (tmp_path / "users-state").exists()
    assert not (tmp_path / "home").exists()


def test_two_configurations_are_compared(plan: Planned, listener: "Quiet") -> None:
    report = run_benchmark(
        plan("builtin:keyword", "builtin:keyword@mmr.enabled=true"), listener
    )

    [pair] = report.comparisons
    assert (pair.first, pair.second) == (
        "builtin:keyword",
        "builtin:keyword@enabled=true",
    )
    assert pair.differences["ndcg@10"].mean == 0
    assert (pair.overlap, pair.rank_correlation) == (1, 1)


def test_who_cannot_take_part_is_in_the_report_and_the_others_go_on(
    plan: Planned, listener: "Quiet"
) -> None:
    specs = (
        "qmd@command=no-such-qmd",
        "builtin:hybrid@provider=none",
        "builtin:keyword",
    )

    report = run_benchmark(plan(*specs), listener)

    qmd, hybrid, keyword = report.contenders
    assert "no program 'no-such-qmd'" in str(qmd.unavailable)
    assert "no embedding provider" in str(hybrid.unavailable)
    assert (qmd.answered, qmd.quality) == (0, {})
    assert (keyword.answered, report.comparisons) == (3, ())


def test_the_real_qmd_answers_for_itself(
    plan: Planned, listener: "Quiet", qmd: list[str]
) -> None:
    import json

    spec = f"qmd:search@qmd.command={json.dumps(qmd)}@limits.timeoutMs=30000"

    report = run_benchmark(plan(spec, "builtin:keyword"), listener)

    contender = report.contenders[0]
    assert contender.unavailable is None
    assert (contender.mode, contender.version) == ("search", "2.8.3")
    assert contender.quality["success@6"].mean == pytest.approx(2 / 3)
    assert contender.fallbacks == {}


def test_offline_no_contender_sends_anything(plan: Planned, listener: "Quiet") -> None:
    spec = "builtin:hybrid@provider=openai@remote.apiKey=sk-none@memory.offline=true"

    report = run_benchmark(plan(spec), listener)

    [hybrid] = report.contenders
    assert hybrid.fallbacks == {"embedding:offline": 3}
    assert (hybrid.answered, hybrid.mode, listener.uploads) == (3, "hybrid", [])


def test_a_kept_state_is_gone_on_from(
    plan: Planned,
    listener: "Quiet",
    tmp_path: Path,
    notes: Path,
) -> None:
    state = tmp_path / "kept"
    run_benchmark(plan("builtin", state=state), listener)
    (notes / "memory" / "birds.md").unlink()

    report = run_benchmark(plan("builtin", state=state), listener)

    [builtin] = report.contenders
    assert (report.files, builtin.cost.index_ms) == (2, None)
    assert any("was there already" in remark for remark in report.remarks)
    assert builtin.quality["success@6"].mean == pytest.approx(1 / 3)


def test_a_folder_that_holds_something_else_is_left_alone(
    plan: Planned, listener: "Quiet", tmp_path: Path
) -> None:
    (tmp_path / "mine" / "notes").mkdir(parents=True)

    with pytest.raises(UsageError, match="holds something else"):
        run_benchmark(plan("builtin", state=tmp_path / "mine"), listener)

    assert os.listdir(tmp_path / "mine") == ["notes"]


def test_a_worker_that_is_killed_costs_its_query_and_is_started_again(
    plan: Planned, listener: "Quiet"
) -> None:
    moved, killed = listener.moved, list[int]()

    def kill(done: int, total: int) -> None:
        moved(done, total)
        if listener.stages[-1] == "Asking" and done == 1:
            killed.extend(workers())
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    listener.moved = kill  # type: ignore[method-assign]

    report = run_benchmark(plan("builtin:keyword"), listener)

    [builtin] = report.contenders
    assert len(killed) == 1
    assert (builtin.answered, builtin.failures) == (2, {"crash": 1})
    assert report.asked[1].answers[0].error == "its process ended (signal 9)"
    assert report.finished


def test_ctrl_c_keeps_what_is_done_and_leaves_no_process(
    plan: Planned,
    listener: "Quiet",
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    moved = listener.moved
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = set(os.listdir(tmp_path))

    def interrupt(done: int, total: int) -> None:
        moved(done, total)
        if listener.stages[-1] == "Asking" and done == 2:
            assert len(workers()) == 1
            raise KeyboardInterrupt

    listener.moved = interrupt  # type: ignore[method-assign]

    report = run_benchmark(plan("builtin:keyword"), listener)

    assert not report.finished
    assert [each.id for each in report.asked] == ["port", "heron"]
    assert report.contenders[0].quality["recall@1"].mean == 1
    assert workers() == []
    assert set(os.listdir(tmp_path)) == before


def test_a_worker_ends_when_nobody_can_ask_it_any_more(
    workplace: Workplace, user: UserSettings
) -> None:
    told = b"\n".join([encode_message(workplace), encode_message(IndexRequest()), b""])

    ran = subprocess.run(
        python_program("""
import sys; sys.path.insert(0, sys.argv[1])
from notewell.bench.worker import run_worker; run_worker()"""),
        input=told,
        env=dict(user.environ),
        stdout=subprocess.PIPE,
        check=False,
        timeout=300,
    )

    assert ran.returncode == 143


def test_a_worker_that_is_killed_while_it_answers_has_crashed(
    workplace: Workplace, user: UserSettings, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\n"
        "for _ in ('workplace', 'request'): sys.stdin.buffer.readline()\n"
        "os.write(1, b'{')\n"
        "os.kill(os.getpid(), 9)\n",
        encoding="utf-8",
    )
    handle = Handle(workplace, {**user.environ, "PYTHONPATH": str(tmp_path)})

    with pytest.raises(WorkerLost, match="signal 9") as lost:
        handle.ask(SearchRequest(query="heron"), within=60)

    assert lost.value.kind == "crash"
    handle.end()


def test_what_libraries_print_does_not_disturb(
    workplace: Workplace, user: UserSettings, tmp_path: Path
) -> None:
    noisy = tmp_path / "site"
    noisy.mkdir()
    (noisy / "sitecustomize.py").write_text(
        "import atexit; atexit.register(lambda: print('bye'))", encoding="utf-8"
    )
    handle = Handle(workplace, {**user.environ, "PYTHONPATH": str(noisy)})

    found = handle.ask(SearchRequest(query="heron"), within=60)

    assert isinstance(found, SearchReply)
    assert found.answer.results[0].path == "memory/birds.md"
    peak = handle.finish()
    assert peak is not None
    assert "bye" in (Path(workplace.state) / "worker.log").read_text(encoding="utf-8")


def seen(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return what lies in a folder, and since when."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def workers() -> list[int]:
    """Return our children that are workers of a benchmark."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,args="],
        capture_output=True,
        check=True,
        encoding="utf-8",
        errors="replace",
    ).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return [
        int(pid)
        for pid, parent, *args in rows
        if int(parent) == os.getpid() and "notewell.bench.worker" in "".join(args)
    ]


def test_a_worker_that_cannot_be_started_takes_no_part(
    plan: Planned, listener: "Quiet", tmp_path: Path
) -> None:
    folder = tmp_path / "kept"
    run_benchmark(plan("builtin:keyword", state=folder), listener)
    contender_folder(folder, "builtin").write_bytes(b"no folder")

    report = run_benchmark(plan("builtin:keyword", "builtin", state=folder), listener)

    keyword, builtin = report.contenders
    assert (keyword.unavailable, keyword.answered) == (None, 3)
    assert builtin.unavailable == "its process cannot be started: File exists"
