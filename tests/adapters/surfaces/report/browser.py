"""A browser that is told what to do by the DevTools protocol, through two pipes."""

import json
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from os import close, fdopen, pipe
from pathlib import Path
from typing import Any, BinaryIO, cast

FLAGS = (
    "--headless",
    "--hide-scrollbars",  # a window is as wide as it was made
    "--no-sandbox",  # it would not start as root, and shows only what we made
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--remote-debugging-pipe",  # messages end with NUL, on descriptors 3 and 4
)
_PLACED = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Puts the pipes where a browser looks for them, and becomes that browser."""


class Browser:
    """One tab. What went wrong in it is kept in `complaints`."""

    def __init__(self, to: BinaryIO, back: BinaryIO) -> None:
        """Talk through two pipes, of which these are our ends."""
        self._to = to
        self._back = back
        self._unread = b""
        self._count = 0
        self._events: list[dict[str, Any]] = []
        self._session: str | None = None
        tab = self.ask("Target.createTarget", url="about:blank")["targetId"]
        found = self.ask("Target.attachToTarget", targetId=tab, flatten=True)
        self._session = found["sessionId"]
        for domain in ("Inspector", "Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send a command and wait for its result."""
        self._count += 1
        message: dict[str, object] = {
            "id": self._count,
            "method": method,
            "params": parameters,
        }
        if self._session:
            message["sessionId"] = self._session
        self._to.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer["error"]
                return cast("dict[str, Any]", answer["result"])
            self._events.append(answer)

    def open(self, page: Path) -> None:
        """Show a file, and wait until it is loaded."""
        self._events.clear()
        self.ask("Page.navigate", url=page.as_uri())
        while not self._happened("Page.loadEventFired"):
            self._events.append(self._read())

    def narrow(self, width: int, *, dark: bool = False) -> None:
        """Make the window this wide, for a reader who prefers light or dark."""
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def scripts(self, *, allowed: bool) -> None:
        """Let pages run scripts from now on, or not."""
        self.ask("Emulation.setScriptExecutionDisabled", value=not allowed)

    def value(self, expression: str) -> Any:
        """Work out some JavaScript in the page; promises are waited for."""
        options = {"returnByValue": True, "awaitPromise": True}
        found = self.ask("Runtime.evaluate", expression=expression, **options)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def press(self, *keys: str) -> None:
        """Press keys one after the other: `Tab`, `Enter`, or a letter."""
        for key in keys:
            text: Mapping[str, str] = {"text": "\r"} if key == "Enter" else {}
            for kind in ("keyDown", "keyUp"):
                self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, **text)

    @property
    def complaints(self) -> list[dict[str, Any]]:
        """What the page's console and its policy had to say since it was opened."""
        return [
            *self._happened("Runtime.exceptionThrown"),
            *self._happened("Runtime.consoleAPICalled"),
            *self._happened("Log.entryAdded"),
        ]

    @property
    def requested(self) -> list[str]:
        """Every address that was asked for since the page was opened."""
        sent = self._happened("Network.requestWillBeSent")
        return [event["params"]["request"]["url"] for event in sent]

    def _happened(self, method: str) -> list[dict[str, Any]]:
        return [event for event in self._events if event.get("method") == method]

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            piece = self._back.read(1 << 20)
            assert piece, "the browser has ended"
            self._unread += piece
        message, _, self._unread = self._unread.partition(b"\0")
        event = cast("dict[str, Any]", json.loads(message))
        assert event.get("method") != "Inspector.targetCrashed", "the tab has crashed"
        return event


@contextmanager
def started(
    program: Path, profile: Path, environment: Mapping[str, str]
) -> Generator[Browser]:
    """Start a browser with an empty profile; it ends with the block."""
    their_in, to = pipe()
    back, their_out = pipe()
    pipes = (str(their_in), str(their_out))
    command = (program, *FLAGS, f"--user-data-dir={profile}")
    with (
        fdopen(back, "rb", buffering=0) as from_browser,
        subprocess.Popen(
            (sys.executable, "-ISc", _PLACED, *pipes, *command),
            env=dict(environment),
            pass_fds=(their_in, their_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process,
        fdopen(to, "wb", buffering=0) as to_browser,  # it ends when this is closed
    ):
        close(their_in)
        close(their_out)
        try:
            yield Browser(to_browser, from_browser)
        except BaseException:
            process.kill()
            raise
