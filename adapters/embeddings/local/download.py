"""Fetching models from the hub, so that nothing of a long download is lost.

One GGUF file: what has come is kept in `<file>.part` until all of it is here and checked.
The next run goes on from there, whatever ended the last one. `huggingface_hub` (2.4) is no
help here: it begins an interrupted file anew, compares its size but not its digest, and
follows redirects that `memory.offline` forbids.

A folder for sentence-transformers: by that library, into the cache of its own, file by file.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

from notewell.adapters.embeddings.base import FetchProgress, Reach
from notewell.adapters.embeddings.local.disk import quiet
from notewell.adapters.embeddings.local.gguf import BadGguf, read_head
from notewell.adapters.embeddings.local.hub import endpoint_of
from notewell.errors import EmbeddingError
from notewell.files import private_lock
from notewell.hosts import is_loopback

if TYPE_CHECKING:
    import httpx
    from huggingface_hub import HfApi

_BLOCK: Final = 1 << 20

_HOPS: Final = 8

_CONNECT: Final = 15.0  # seconds

_SILENCE: Final = 60.0  # seconds without a byte

_SHA256: Final = re.compile(r"[0-9a-f]{64}")

_AGAIN: Final = "run it again: it goes on where it stopped"

_FOLDERS: Final = "sentence-transformers"

_OTHER_FORMATS: Final = (
    "openvino/*",
    "*.h5",
    "*.ot",
    "*.msgpack",
    "*.tflite",
    "*.gguf",
)


class Download:
    """One file of the hub on its way to this disk."""

    def __init__(
        self, address: str, *, page: str, environ: Mapping[str, str], offline: bool
    ) -> None:
        """Prepare it; nothing is asked for yet.

        Args:
            address: Where the file is.
            page: The page that says under which terms.
            environ: For HF_TOKEN and the proxies.
            offline: Only this machine may be asked.
        """
        self._address = address
        self._page = page
        self._environ = environ
        self._offline = offline

    def run(self, target: Path, fetched: FetchProgress) -> None:
        """Fetch the file, or what is left of it. Another process is waited for.

        Raises:
            EmbeddingError: it cannot be fetched, or what came is not the file.
        """
        self._refuse_when_offline()
        lock = target.with_name(f"{target.name}.lock")
        with _room_for(target), private_lock(lock):
            if not target.exists():
                self._complete(target, fetched)

    def _complete(self, target: Path, fetched: FetchProgress) -> None:
        part = target.with_name(f"{target.name}.part")
        expected = self._receive(part, fetched)
        _check(part, expected)
        part.replace(target)

    def _receive(self, part: Path, fetched: FetchProgress) -> ExpectedFile:
        """Bring the part to its end; return what it should be by now."""
        import httpx

        try:
            with self._answer(_length(part)) as (answer, expected):
                if answer.status_code == 416:  # there is nothing after what we have
                    return expected
                _write(answer, part, expected, fetched)
                return expected
        except httpx.TimeoutException as exc:
            raise _failed(self._host, "does not answer", "timeout", _AGAIN) from exc
        except httpx.HTTPError as exc:
            why = "the connection broke" if _length(part) else "cannot be reached"
            raise _failed(self._host, why, "network", _AGAIN) from exc

    @property
    def _host(self) -> str:
        return urlsplit(self._address).hostname or ""

    @contextmanager
    def _answer(self, have: int) -> Generator[tuple[httpx.Response, ExpectedFile]]:
        """Ask for the bytes from `have` on, through every redirection.

        The token goes to the hub only, never to a host it redirects to.
        """
        expected = ExpectedFile()
        address = self._address
        for _ in range(_HOPS):
            with (
                self._client(address) as client,
                client.stream(
                    "GET", address, headers=self._headers(address, have)
                ) as answer,
            ):
                expected = expected.with_headers(answer.headers)
                if not answer.has_redirect_location:
                    self._judge(answer)
                    yield answer, expected
                    return
                address = self._next(address, answer.headers["location"])
        raise _failed(self._host, "sends us in a circle", "network", _AGAIN)

    def _client(self, address: str) -> httpx.Client:
        import httpx

        from notewell.adapters.embeddings.remote.http import Dialer

        try:
            return httpx.Client(
                timeout=httpx.Timeout(_SILENCE, connect=_CONNECT),
                transport=Dialer(address, self._environ, Reach()),
                trust_env=False,
            )
        except (ImportError, OSError, ValueError, httpx.InvalidURL) as exc:
            raise _failed(
                "the environment",
                "names a proxy or certificates that cannot be used",
                "network",
                "check HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR",
            ) from exc

    def _headers(self, address: str, have: int) -> dict[str, str]:
        headers = {"Accept-Encoding": "identity", "User-Agent": "notewell"}
        if have:
            headers["Range"] = f"bytes={have}-"
        token = self._environ.get("HF_TOKEN", "").strip()
        if token and _origin(address) == _origin(self._address):
            headers["Authorization"] = f"Bearer {token}"
        return headers

    def _next(self, address: str, location: str) -> str:
        target = urljoin(address, location)
        parts, before = urlsplit(target), urlsplit(address)
        safe = parts.scheme == "https" or before.scheme == "http"
        if parts.scheme not in ("http", "https") or not safe:
            raise _failed(
                self._host,
                "redirects to an address without encryption",
                "network",
                "set HF_ENDPOINT to an endpoint that stays with https",
            )
        if self._offline and not is_loopback(parts.hostname or ""):
            raise _offline(parts.hostname or "")
        return target

    def _judge(self, answer: httpx.Response) -> None:
        status = answer.status_code
        if status in (200, 206, 416):
            return
        if status in (401, 403):
            raise _failed(
                self._host,
                "does not give the model to everybody",
                "auth",
                f"accept its terms at {self._page}, then set HF_TOKEN",
            )
        if status == 404:
            raise _failed(
                self._host,
                "has no such file",
                "model-missing",
                f"look for its name at {self._page}",
            )
        reason = "rate-limit" if status == 429 else "network"
        raise _failed(self._host, f"answers with {status}", reason, _AGAIN)

    def _refuse_when_offline(self) -> None:
        if self._offline and not is_loopback(self._host):
            raise _offline(self._host)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedFile:
    """What the hub says of a file before it sends it.

    Attributes:
        size: Bytes, if it says.
        sha256: In hexadecimal, if it says.
    """

    size: int | None = None
    sha256: str | None = None

    def with_headers(self, headers: Mapping[str, str]) -> ExpectedFile:
        """Add what an answer says; what was said first counts."""
        size = headers.get("x-linked-size", "")
        digest = headers.get("x-linked-etag", "").removeprefix("W/").strip('"')
        return ExpectedFile(
            size=self.size or (int(size) if size.isdecimal() else None),
            sha256=self.sha256 or (digest if _SHA256.fullmatch(digest) else None),
        )


def _write(
    answer: httpx.Response, part: Path, expected: ExpectedFile, fetched: FetchProgress
) -> None:
    """Append the body to the part; on 200 the whole file comes again."""
    goes_on = answer.status_code == 206
    have = _length(part) if goes_on else 0
    if goes_on and not answer.headers.get("content-range", "").startswith(
        f"bytes {have}-"
    ):
        raise _failed("the hub", "sends another part than asked for", "parse", _AGAIN)
    length = answer.headers.get("content-length", "")
    total = expected.size or (have + int(length) if length.isdecimal() else None)
    _look_for_room(part, (total or 0) - have)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT, 0o600)
    with open(descriptor, "r+b", buffering=0) as file:
        file.truncate(have)
        file.seek(have)
        for block in answer.iter_raw(_BLOCK):
            file.write(block)
            have += len(block)
            fetched(have, total)
        os.fsync(file.fileno())
    if total is not None and have < total:
        raise _failed("the hub", "broke off", "network", _AGAIN)


def _check(part: Path, expected: ExpectedFile) -> None:
    """Let only the file itself pass; anything else is thrown away.

    Raises:
        EmbeddingError: what came is another file, or damaged.
    """
    size = _length(part)
    wrong = expected.size is not None and size != expected.size
    if not wrong and expected.sha256:
        with open(part, "rb") as file:
            wrong = hashlib.file_digest(file, "sha256").hexdigest() != expected.sha256
    why = "what came is not the file that was announced" if wrong else _oddity(part)
    if why:
        part.unlink()
        raise EmbeddingError(
            "local",
            f"{why}; it was thrown away",
            reason="corrupt",
            remedy="run it again; if that repeats, the file there or the way is damaged",
        )


def _oddity(part: Path) -> str:
    """Say why the file is no model at all, if it is none."""
    try:
        read_head(part)
    except BadGguf as exc:
        return f"what came is no model: {exc}"
    return ""


@contextmanager
def _room_for(target: Path) -> Generator[None]:
    """Say in our words what the disk refuses."""
    try:
        yield
    except EmbeddingError:
        raise
    except OSError as exc:
        raise EmbeddingError(
            "local",
            f"{target.parent} cannot be written: {exc.strerror or 'unknown error'}",
            reason="model-missing",
            remedy="make room there or name another folder in "
            "memorySearch.local.modelCacheDir; what has come is kept",
        ) from exc


def _look_for_room(part: Path, needed: int) -> None:
    free = shutil.disk_usage(part.parent).free
    if needed > free:
        raise OSError(28, f"{needed >> 20} MB are needed and {free >> 20} MB are free")


def _length(part: Path) -> int:
    try:
        return part.stat().st_size
    except FileNotFoundError:
        return 0


def _origin(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    return parts.scheme, parts.netloc


def _offline(host: str) -> EmbeddingError:
    return EmbeddingError(
        "local",
        f"the model would come from {host}, and memory.offline forbids that",
        reason="offline",
        remedy="pull it without memory.offline, or copy the file here",
    )


def _failed(host: str, what: str, reason: str, remedy: str) -> EmbeddingError:
    return EmbeddingError("local", f"{host} {what}", reason=reason, remedy=remedy)


def fetch_snapshot(
    repository: str,
    *,
    cache: Path,
    environ: Mapping[str, str],
    offline: bool,
    onnx: bool,
    fetched: FetchProgress,
) -> None:
    """Fetch a model into the cache of the Hugging Face libraries.

    Files that are there already are not fetched again.

    Args:
        repository: The model, as `owner/name`.
        cache: The folder in which the libraries keep what they fetch.
        environ: For HF_ENDPOINT and HF_TOKEN.
        offline: Nothing may be fetched.
        onnx: Files of ONNX are of use.
        fetched: Told how far it is.

    Raises:
        EmbeddingError: it cannot be fetched.
    """
    endpoint = endpoint_of(environ)
    host = urlsplit(endpoint).hostname or ""
    if offline:  # the library follows redirects and proxies of its own
        raise EmbeddingError(
            _FOLDERS,
            f"the model would come from {host} or where that leads, and "
            "memory.offline forbids it",
            reason="offline",
            remedy="pull it without memory.offline, or copy its folder here",
        )
    try:
        api = _hub(endpoint, environ.get("HF_TOKEN"))
        _fetch_files(api, repository, cache, onnx, fetched)
    except Exception as exc:
        # The library has changed its HTTP client before, and its errors with it.
        raise _snapshot_error(exc, repository, host) from exc


def _hub(endpoint: str, token: str | None) -> HfApi:
    import huggingface_hub.constants
    from huggingface_hub import HfApi

    huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY = True
    # No other than the one of the environment: not that of a login in another program.
    return HfApi(endpoint=endpoint, token=token or False)


def _fetch_files(
    api: HfApi, repository: str, cache: Path, onnx: bool, fetched: FetchProgress
) -> None:
    with quiet():
        info = api.model_info(repository, files_metadata=True)
    files = _wanted({f.rfilename: f.size or 0 for f in info.siblings or ()}, onnx)
    have, total = 0, sum(files.values())
    for name, size in files.items():
        fetched(have, total)
        with quiet():  # it has a bar of its own
            api.hf_hub_download(repository, name, cache_dir=cache)
        have += size
    fetched(total, total)


def _wanted(files: Mapping[str, int], onnx: bool) -> dict[str, int]:
    """Leave out the same numbers in the formats of other programs."""
    foreign: list[str] = [*_OTHER_FORMATS]
    if any(name.endswith(".safetensors") for name in files):
        foreign.append("*.bin")
    if not onnx:
        foreign.append("*.onnx")
    return {
        name: size
        for name, size in files.items()
        if not any(fnmatch(name, pattern) for pattern in foreign)
    }


def _snapshot_error(error: Exception, repository: str, host: str) -> EmbeddingError:
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status in (401, 403):
        return EmbeddingError(
            _FOLDERS,
            f"{host} does not give {repository} to everybody",
            reason="auth",
            remedy=f"look at https://{host}/{repository}; accept its terms, set HF_TOKEN",
        )
    if status == 404:
        return EmbeddingError(
            _FOLDERS,
            f"{host} has no model {repository}",
            reason="model-missing",
            remedy="check the name in memorySearch.model",
        )
    return EmbeddingError(
        _FOLDERS,
        f"{repository} could not be fetched from {host} ({type(error).__name__})",
        reason="network",
        remedy="run it again: what has come is kept",
    )
