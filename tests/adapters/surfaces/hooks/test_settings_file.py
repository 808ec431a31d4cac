"""The settings of another program: written back whole, or not at all."""

import json
import os
from pathlib import Path

import pytest

from notewell.adapters.surfaces.hooks.settings_file import ProgramSettings
from notewell.errors import UsageError


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (b'{\n  // mine\n  "a": 1\n}', "line 2"),
        (b'{"a": 1,}', "no plain JSON"),
        (b'{"a": 1, "a": 2}', "twice"),
        (b'{"a": 1.10}', "1.10"),
        (b'{"a": 123456789012345678901.5}', "would not stay"),
        (b'{"a": -0}', "-0"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": "\\ud800"}', "half of a character"),
        (b'{"a": "\xff"}', "UTF-8"),
        (b"[]", "no JSON object"),
        (b"{" * 200_000, "no plain JSON"),
        (b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}", "too deep"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "too long"),
    ],
    ids=lambda value: value[:24] if isinstance(value, bytes) else "",
)
def test_what_cannot_be_written_back_without_loss_is_refused(
    tmp_path: Path, written: bytes, why: str
) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(written)

    with pytest.raises(UsageError, match=why):
        ProgramSettings.read(file)

    assert file.read_bytes() == written


@pytest.mark.parametrize(
    "kind", ["link", "link to nothing", "folder is a link", "pipe", "folder"]
)
def test_what_is_no_plain_file_is_refused(tmp_path: Path, kind: str) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "settings.json").write_bytes(b"{}")
    file = tmp_path / ".claude" / "settings.json"
    if kind == "folder is a link":
        file.parent.symlink_to(real)
    else:
        file.parent.mkdir()
    if kind.startswith("link"):
        file.symlink_to(real / ("settings.json" if kind == "link" else "none"))
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()

    with pytest.raises(UsageError, match="left as it is"):
        ProgramSettings.read(file)


@pytest.mark.parametrize(
    "before",
    [
        '{"a":1}',
        '{\n\t"a": 1,\n\t"ü": "\U0001f600"\n}\n',
        '{\r\n    "a": [\r\n        true\r\n    ]\r\n}\r\n',
        '\ufeff{\n  "a": null\n}',
    ],
)
def test_layout_mode_and_a_backup_are_kept(tmp_path: Path, before: str) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(before.encode("utf-8"))
    file.chmod(0o640)
    settings = ProgramSettings.read(file)

    after = settings.changed_to({**settings.document, "new": {"x": 1}})
    backup = settings.write(after, state_dir=tmp_path / "state")

    assert backup is not None
    assert backup.read_bytes() == before.encode("utf-8")
    assert [path.stat().st_mode & 0o777 for path in (file, backup)] == [0o640, 0o640]
    text = file.read_bytes().decode("utf-8")
    assert json.loads(text.removeprefix("\ufeff"))["new"] == {"x": 1}
    shown = [line for line in before.splitlines()[1:-1] if line.startswith((" ", "\t"))]
    assert all(line in text.replace(",", "") for line in (s.rstrip(",") for s in shown))
    assert text.count("\r\n") == text.count("\n") or "\r" not in before
    again = ProgramSettings.read(file)
    assert (
        again.changed_to(settings.document) == before.encode("utf-8") or "[" in before
    )


def test_a_file_that_changed_meanwhile_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(b'{"a": 1}')
    settings = ProgramSettings.read(file)
    file.write_bytes(b'{"a": 2}')

    with pytest.raises(UsageError, match="changed meanwhile"):
        settings.write(b"{}", state_dir=tmp_path / "state")

    assert file.read_bytes() == b'{"a": 2}'


def test_a_file_that_is_not_there_is_made_for_its_owner(tmp_path: Path) -> None:
    file = tmp_path / ".codex" / "hooks.json"
    settings = ProgramSettings.read(file)

    backup = settings.write(settings.changed_to({"a": 1}), state_dir=tmp_path / "state")

    assert backup is None
    assert file.read_text(encoding="utf-8") == '{\n  "a": 1\n}\n'
    assert file.stat().st_mode & 0o777 == 0o600
