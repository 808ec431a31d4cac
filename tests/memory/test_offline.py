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

_HOUSE = """
import fcntl, json, os, socket, struct, subprocess, sys, threading

# Take the network of this namespace up: this machine, and somebody else at ELSEWHERE.
ELSEWHERE = "10.200.0.1"
control = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
UP, ADDRESS = 0x8914, 0x8916  # SIOCSIFFLAGS, SIOCSIFADDR
fcntl.ioctl(control, UP, struct.pack("16sh22x", b"lo", 1))
other = struct.pack("16sHH4s16x", b"lo:1", socket.AF_INET, 0, socket.inet_aton(ELSEWHERE))
fcntl.ioctl(control, ADDRESS, other)

# A name server of somebody's, which says of every name that it is there.
with open("resolv.conf", "w", encoding="ascii") as file:
    file.write("nameserver 127.0.0.1\\n")
subprocess.run(["mount", "--bind", "resolv.conf", "/etc/resolv.conf"], check=True)
names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind(("127.0.0.1", 53))
asked, arrived = [], []

def tell_names():
    while True:
        query, who = names.recvfrom(512)
        end = query.index(bytes(1), 12) + 5
        asked.append(query[12 : end - 5].decode("latin-1"))
        is_ipv4 = query[end - 4 : end - 2] == bytes([0, 1])
        answer = bytes([0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4])
        answer = answer + socket.inet_aton(ELSEWHERE) if is_ipv4 else b""
        counts = bytes([0, 1, 0, 1 if answer else 0, 0, 0, 0, 0])
        head = query[:2] + bytes([0x81, 0x80]) + counts
        names.sendto(head + query[12:end] + answer, who)

def take():
    server = socket.create_server((ELSEWHERE, 18996))
    while True:
        connection, _ = server.accept()
        arrived.append(connection.recv(65536).decode("latin-1"))
        connection.close()

for work in (tell_names, take):
    threading.Thread(target=work, daemon=True).start()

from notewell import open_memory_sync

offline, hosts = sys.argv[3] == "offline", sys.argv[4:]
told = []
for number, host in enumerate(hosts):
    overrides = {
        "agents.defaults.workspace": sys.argv[1],
        "agents.defaults.memorySearch.provider": "openai",
        "agents.defaults.memorySearch.model": "any",
        "agents.defaults.memorySearch.remote.apiKey": "key-of-nobody",
        "agents.defaults.memorySearch.remote.baseUrl": f"http://{host}:18996/v1",
        "agents.defaults.memorySearch.store.path": f"{sys.argv[2]}/{number}.sqlite",
        "memory.offline": offline,
    }
    with open_memory_sync(environ={"OPENCLAW_STATE_DIR": sys.argv[2]},
                          overrides=overrides) as memory:
        memory.refresh()
        answer = memory.search("heron")
        told.append([hit.path for hit in answer.results])
print(json.dumps({"asked": asked, "arrived": arrived, "paths": told}))
"""
_REMOTE = ("openai", "gemini", "voyage", "mistral", "ollama")


def _without_a_network() -> list[str]:
    """Return a prefix that takes the network away, where this system has one."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return []
    prefix = [unshare, "-rnm"]
    able = subprocess.run([*prefix, "true"], capture_output=True, check=False)
    return prefix if able.returncode == 0 else []


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
        assert (answer["mode"], answer["reasons"]) == ("hybrid", ["offline"])
        assert "offline" in " ".join(answer["warnings"])
        assert not answer["local_to_remote"]


_HOSTS = ("evil.localhost", "localhost.", "evil.example", "me@evil.localhost", "127.1")


@pytest.mark.skipif(not _without_a_network(), reason="no namespaces here")
@pytest.mark.parametrize(
    ("offline", "leaks"), [("offline", False), ("online", True)], ids=lambda it: str(it)
)
def test_offline_no_name_server_can_lead_text_away(
    tmp_path: Path, offline: str, leaks: bool
) -> None:
    notes = tmp_path / "notes"
    (notes / "memory").mkdir(parents=True)
    (notes / "memory" / "a.md").write_text("A heron stood there.\n", encoding="utf-8")
    (tmp_path / "state").mkdir()  # where somebody has agreed to every one of them
    agreed = [host.rpartition("@")[2] for host in _HOSTS]
    (tmp_path / "state" / "notewell-hosts.json").write_text(
        json.dumps({"hosts": agreed}), encoding="utf-8"
    )

    done = subprocess.run(
        [
            *(*_without_a_network(), sys.executable, "-c", _HOUSE),
            *(notes, tmp_path / "state", offline, *_HOSTS),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(notewell.__file__).parents[1])},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["paths"] == [["memory/a.md"]] * len(_HOSTS)
    assert (bool(told["asked"]), bool(told["arrived"])) == (leaks, leaks)
