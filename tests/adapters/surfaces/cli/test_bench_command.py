"""`notewell bench` as people call it."""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.adapters.surfaces.cli.test_streams_and_signals import PROGRAM

from notewell.adapters.surfaces.cli.output import CommandOutput
from notewell.adapters.surfaces.cli.progress import BenchProgress
from notewell.backends.base import Upload

if TYPE_CHECKING:
    from tests.adapters.surfaces.conftest import Notewell

QUICK = ("--rounds", "1", "--cold", "0")
HANGING_UP = f"import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL){PROGRAM}"
QUERIES = (
    '{"id": "port", "query": "gateway port", "relevant":'
    ' [{"path": "MEMORY.md", "start_line": 3}]}\n'
    '{"id": "lost", "query": "数据库", "relevant":'
    ' [{"path": "memory/none.md", "start_line": 1}]}\n'
)


def test_judged_queries_are_scored(run: "Notewell", tmp_path: Path) -> None:
    queries = tmp_path / "queries.jsonl"
    queries.write_text(QUERIES, encoding="utf-8")

    ran = run(
        "bench", "--queries", str(queries), "--rounds", "1", "--cold", "1", "--json"
    )

    assert ran.code == 0
    report = ran.value
    keyword, builtin = report["contenders"]
    assert (keyword["label"], keyword["mode"]) == ("builtin:keyword", "keyword")
    assert (builtin["mode"], builtin["provider"]) == ("hybrid", "static")
    assert (report["origin"], report["queriesFrom"]) == ("judged", "queries.jsonl")
    assert (report["schemaVersion"], report["workspace"]) == (1, "notes")
    assert builtin["quality"]["recall@6"]["mean"] == 0.5
    assert len(builtin["cold"]["samples"]) == 1
    assert (
        "A judgement is not there: lost: there is no note memory/none.md."
        in (report["remarks"])
    )


def test_what_was_left_out_is_said(run: "Notewell", tmp_path: Path) -> None:
    file = tmp_path / "openclaw.json"
    file.write_text('{memory: {search: {provider: "none"}}}', encoding="utf-8")

    ran = run(
        *("bench", "--sample", "3", *QUICK, "--config", str(file)),
        env={"PATH": str(tmp_path)},
    )

    assert ran.code == 0
    assert "known items, not judged" in ran.text
    assert "Search by meaning was left out: no embedding provider" in ran.text
    assert "qmd:search was left out: qmd: there is no program 'qmd'" in ran.text


def test_the_table_fits_where_it_goes(run: "Notewell") -> None:
    ran = run("bench", "--set", "example", "--sample", "4", *QUICK, workspace=None)

    lines = ran.text.splitlines()
    assert any(line.startswith("quality ") and "ndcg@10" in line for line in lines)
    assert any(line.startswith("cost ") and "memory" in line for line in lines)
    assert max(map(len, lines)) <= 120
    assert "\x1b" not in ran.text


def test_in_a_folder_that_is_no_workspace_the_bundled_set_runs(run: "Notewell") -> None:
    ran = run("bench", "--backend", "builtin:keyword", *QUICK, "--json", workspace=None)

    report = ran.value
    assert (report["origin"], report["workspace"]) == ("bundled", "example")
    assert len(report["asked"]) == 66
    [keyword] = report["contenders"]
    assert 0.6 < keyword["quality"]["success@6"]["mean"] < 0.95  # some of it is hard


def test_the_same_seed_asks_the_same(run: "Notewell") -> None:
    words = ("bench", "--sample", "5", "--backend", "builtin", *QUICK, "--json")

    one, other = run(*words, "--seed", "4").value, run(*words, "--seed", "4").value

    asked = [(each["query"], each["relevant"]) for each in one["asked"]]
    assert asked == [(each["query"], each["relevant"]) for each in other["asked"]]


def test_the_report_is_kept_for_its_owner_alone(
    run: "Notewell", tmp_path: Path
) -> None:
    out, html = tmp_path / "report.json", tmp_path / "report.html"
    files = ("--out", str(out), "--html", str(html))

    ran = run("bench", "--sample", "2", *QUICK, *files)

    assert ran.text.startswith("2 queries")
    assert {file.stat().st_mode & 0o777 for file in (out, html)} == {0o600}
    assert html.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert json.loads(out.read_bytes())["finished"] is True


def test_what_makes_no_sense_is_refused_at_once(
    run: "Notewell", tmp_path: Path
) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text("{}\n", encoding="utf-8")

    for words, said in (
        (("--queries", str(bad)), f"{bad}, line 1: "),
        (("--backend", "elastic"), "there is no engine 'elastic'"),
        (("--set", "example", "--queries", str(bad)), "a set has notes and queries"),
        (("--out", str(tmp_path / "none" / "x.json")), "cannot be written"),
        (("--state", str(tmp_path / "notes" / "state")), "lies in the workspace"),
    ):
        ran = run("bench", *words)

        assert (ran.code, ran.text) == (2, "")
        assert said in ran.said


def test_nobody_who_can_take_part_is_a_failure_with_a_report(run: "Notewell") -> None:
    ran = run("bench", "--backend", "builtin:vector@provider=none", *QUICK, "--json")

    assert ran.code == 1
    [vector] = ran.value["contenders"]
    assert "no embedding provider" in vector["unavailable"]


def test_before_text_leaves_the_machine_it_is_said(
    capfd: pytest.CaptureFixture[str],
) -> None:
    upload = Upload(provider="openai", host="api.example", passages=7, tokens=900)

    with closing(BenchProgress(CommandOutput(json=True))) as listener:
        listener.stage("Indexing for builtin", "file")
        listener.uploading(upload)

    said = "sending 7 passages, about 900 tokens, to api.example (openai)\n"
    assert capfd.readouterr().err == said


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=["Ctrl-C", "SIGTERM", "a terminal that is closed"],
)
def test_a_run_that_is_ended_says_so_and_leaves_no_copy_of_the_notes(
    number: int, code: int, environ: dict[str, str], notes: Path, tmp_path: Path
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    words = ["bench", "--workspace", str(notes), "--json", "--rounds", "1000"]
    running = subprocess.Popen(
        [sys.executable, "-c", HANGING_UP, *words],
        env={**environ, "TMPDIR": str(temporary)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout is not None
    assert running.stderr is not None
    guard = threading.Timer(300, running.kill)
    guard.start()
    for line in running.stderr:
        if line.startswith(b"Asking"):
            break

    os.kill(running.pid, number)

    out, _ = running.communicate()
    guard.cancel()
    assert running.returncode == code
    # What was done is shown to who waits for it.
    assert ("contenders" in json.loads(out)) == (number == signal.SIGINT)
    assert os.listdir(temporary) == []


def test_settings_are_found_from_where_the_command_was_given(
    run: "Notewell", tmp_path: Path
) -> None:
    (tmp_path / "mine.json").write_text("{}", encoding="utf-8")

    ran = run("bench", "--config", "../mine.json", "--sample", "2", *QUICK, "--json")

    assert ran.code == 0
    assert ran.value["contenders"][0]["unavailable"] is None


def test_a_report_takes_the_place_of_no_device_and_of_no_other_file(
    run: "Notewell", tmp_path: Path
) -> None:
    pipe, queries = tmp_path / "pipe", tmp_path / "queries.jsonl"
    os.mkfifo(pipe)
    queries.write_text(QUERIES, encoding="utf-8")

    for words, said in (
        (("--out", str(pipe)), "cannot be written"),
        (("--html", str(pipe)), "cannot be written"),
        (("--queries", str(queries), "--out", str(queries)), "for two things"),
        (("--out", str(tmp_path / "x"), "--html", str(tmp_path / "x")), "two things"),
    ):
        ran = run("bench", *words)

        assert (ran.code, ran.text) == (2, "")
        assert said in ran.said
    assert pipe.is_fifo()
    assert queries.read_text(encoding="utf-8") == QUERIES


def test_what_was_measured_is_shown_when_its_file_cannot_be_written(
    run: "Notewell", tmp_path: Path
) -> None:
    name = "x" * 250 + ".json"  # the draft beside it has a longer name

    ran = run("bench", "--sample", "2", *QUICK, "--out", str(tmp_path / name))

    assert ran.code == 2
    assert ran.text.startswith("2 queries")
    assert "cannot be written: File name too long" in ran.said


def test_a_report_names_no_folder_of_this_machine(
    run: "Notewell", tmp_path: Path
) -> None:
    folder = tmp_path / "of-ann"
    out, html = tmp_path / "report.json", tmp_path / "report.html"
    lost = f"qmd@qmd.command={folder}/qmd.js"
    cache = f"builtin@local.modelPath={folder}/e.gguf"

    run(
        *("bench", "--sample", "2", *QUICK, "--backend", lost, "--backend", cache),
        *("--out", str(out), "--html", str(html)),
    )

    assert b"qmd.js" in out.read_bytes()
    assert b"e.gguf" in out.read_bytes()
    assert str(tmp_path).encode() not in out.read_bytes() + html.read_bytes()
