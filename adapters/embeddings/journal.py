"""The jobs that were paid for and not fetched yet, in a small file."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from notewell.files import create_folder, replace_file
from notewell.foreign import read_items, read_json, read_member


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job at a provider.

    Attributes:
        id: Its id there.
        texts: Keys of its texts, in order.
    """

    id: str
    texts: Sequence[bytes]


class Journal:
    """The open jobs of one identity of vectors. For one process at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def jobs(self) -> list[Job]:
        """Return the open jobs; a file that cannot be read holds none."""
        try:
            found = read_json(self._path.read_bytes())
            return [_job(item) for item in read_items(read_member(found, "jobs"))]
        except (OSError, ValueError):
            return []

    def add(self, job: Job) -> None:
        """Remember a job.

        Raises:
            OSError: the file cannot be written.
        """
        self._write([*self.jobs(), job])

    def remove(self, job: Job) -> None:
        """Forget a job.

        Raises:
            OSError: the file cannot be written.
        """
        self._write([other for other in self.jobs() if other.id != job.id])

    def check(self) -> None:
        """Make sure that a job can be remembered before one is paid for.

        Raises:
            OSError: the file cannot be written.
        """
        self._write(self.jobs())

    def _write(self, jobs: Sequence[Job]) -> None:
        create_folder(self._path.parent)
        written = [
            {"id": job.id, "texts": [key.hex() for key in job.texts]} for job in jobs
        ]
        replace_file(self._path, json.dumps({"jobs": written}).encode())


def _job(item: object) -> Job:
    keys = read_items(read_member(item, "texts"))
    return Job(
        id=str(read_member(item, "id")),
        texts=[bytes.fromhex(str(key)) for key in keys],
    )
