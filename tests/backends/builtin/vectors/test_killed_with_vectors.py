"""A process that is killed while it makes vectors or codes loses a batch at most."""

import random
from typing import TYPE_CHECKING

import pytest

from notewell.backends.builtin.vectors import nearest

if TYPE_CHECKING:
    from tests.backends.builtin.vectors.conftest import Meant

MAKE = """
from dataclasses import replace
import numpy as np
from notewell.adapters.embeddings.base import Choice, EmbeddingIdentity, Provider
from notewell.backends.base import Run
from notewell.backends.builtin.vectors import keeping, nearest

nearest.ONE_BY_ONE = 0
enabled = "database" in sys.stdin.readline()

class Numbers:
    model, batch_size = "numbers-model", 8
    def identity(self):
        return EmbeddingIdentity(provider="concepts", model="concepts-model", endpoint="",
                                 dimension=64, prefixes="")
    def embed(self, texts, role):
        print("embedded", flush=True)
        rows = [np.random.default_rng(len(text)).standard_normal(64) for text in texts]
        rows = np.array(rows, dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)
    def close(self):
        pass

def told(work, name):
    def tell(*given):
        print(name, flush=True)
        done = work(*given)
        print(name, flush=True)
        return done
    return tell

keeping.write_codes = told(keeping.write_codes, "codes")
keeping.write_blocks = told(keeping.write_blocks, "blocks")
overrides["agents.defaults.memorySearch.store.vector.enabled"] = enabled
settings = load_settings(config_file=None, environ={"OPENCLAW_STATE_DIR": str(state)},
                         home=state, overrides=overrides)
first = Provider(name="concepts", remote=False, host="", open=Numbers)
engine = Engine(replace(site, agent=settings.agent(None), embedding=Choice(first=first)))
print("start", flush=True)
engine.refresh(Run(vectors="all"))
print("end", flush=True)
"""


@pytest.mark.parametrize("enabled", [True, False], ids=["in database", "in process"])
@pytest.mark.parametrize(
    "rounds", [6, pytest.param(60, marks=pytest.mark.soak)], ids=["6", "60"]
)
def test_killed_at_any_point_searches_go_on_and_the_next_run_ends_the_work(
    meant: "Meant", monkeypatch: pytest.MonkeyPatch, rounds: int, *, enabled: bool
) -> None:
    monkeypatch.setattr(nearest, "ONE_BY_ONE", 0)
    meant.has(settings={"store.vector.enabled": enabled})
    chance = random.Random(20261201)

    for number in range(rounds):
        meant.notebook.write(
            {
                f"memory/{n}.md": f"word{n}x{number} text\n"
                for n in chance.sample(range(60), 30)
            }
        )
        kill_a_run(meant, chance, enabled=enabled)
        found = meant.notebook.ask("word")
        assert {step.reason for step in found.fallbacks} <= {"not-ready"}
    meant.notebook.write({"memory/car.md": "my automobile\n"})
    report = meant.index()
    found = meant.notebook.ask("vehicle", limit=1)

    assert report.pending == 0
    assert [hit.path for hit in found.hits] == ["memory/car.md"]
    assert (found.fallbacks, found.degraded) == ((), False)


def kill_a_run(meant: "Meant", chance: random.Random, *, enabled: bool) -> None:
    """Start a run and kill it after so many lines of output."""
    with meant.notebook.start(MAKE) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("database\n" if enabled else "process\n")
        process.stdin.flush()
        for _ in range(chance.randint(1, 8)):
            if process.stdout.readline() in ("end\n", ""):
                break
        process.kill()
        process.communicate()
