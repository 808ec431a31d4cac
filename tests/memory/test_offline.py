"""`memory.offline`: nothing is connected to, and everything that is here still works."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import notewell

_CHILD = """
import json, sys
from notewell import open_memory_sync

asked = []
def heard(event, args):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo"):
        asked.append([event, str(args[-1])])
sys.addaudithook(heard)

answers = []
for name in sys.argv[3:]:
    overrides = {
        "agents.defaults.workspace": sys.argv[1],
        "agents.defaults.memorySearch.provider": name,
        "agents.defaults.memorySearch.remote.apiKey": "key-of-nobody",
        "agents.defaults.memorySearch.store.path": f"{sys.argv[2]}/{name}.sqlite",
        "memory.offline": True,
    }
    if name == "ollama":
        url = "https://ollama.example/"
        overrides["agents.defaults.memorySearch.remote.baseUrl"] = url
    with open_memory_sync(environ={"OPENCLAW_STATE_DIR": sys.argv[2]},
                          overrides=overrides) as memory:
        report = memory.refresh()
        answer = memory.search("heron")
        answers.append({
            "provider": name,
            "warnings": list(report.warnings),
            "paths": [hit.path for hit in answer.results],
            "mode": answer.mode,
            "reasons": [step.reason for step in answer.fallbacks],
            "local_to_remote": answer.local_to_remote,
        })
print(json.dumps({"asked": asked, "answers": answers}))
"""
_REMOTE = ("openai", "gemini", "voyage", "mistral", "ollama")


def _without_a_network() -> list[str]:
    """Return a prefix that takes the network away, where this system has one."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return []
    able = subprocess.run([unshare, "-rn", "true"], capture_output=True, check=False)
    return [unshare, "-rn"] if able.returncode == 0 else []


@pytest.mark.parametrize("network", ["with a network", "without one"])
def test_offline_no_remote_provider_is_connected_to(
    tmp_path: Path, network: str
) -> None:
    notes = tmp_path / "notes"
    (notes / "memory").mkdir(parents=True)
    (notes / "memory" / "a.md").write_text("A heron stood there.\n", encoding="utf-8")
    prefix = [] if network == "with a network" else _without_a_network()

    done = subprocess.run(
        [*prefix, sys.executable, "-c", _CHILD, notes, tmp_path / "state", *_REMOTE],
        env={**os.environ, "PYTHONPATH": str(Path(notewell.__file__).parents[1])},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["asked"] == []
    for answer in told["answers"]:
        assert answer["paths"] == ["memory/a.md"]
        assert (answer["mode"], answer["reasons"]) == ("keyword", ["offline"])
        assert "offline" in " ".join(answer["warnings"])
        assert not answer["local_to_remote"]
