"""The entries of other programs' settings: ours alone are changed."""

import copy
from pathlib import Path
from typing import Any

import pytest

from notewell.adapters.surfaces.hooks.programs import (
    MARK,
    hook_command,
    hook_groups,
    hook_place,
    with_our_hooks,
    without_our_hooks,
)
from notewell.errors import UsageError

OTHERS: dict[str, object] = {"type": "command", "command": "echo hello", "timeout": 10}
SETTINGS: list[dict[str, Any]] = [
    {},
    {"model": "opus", "hooks": {"Stop": [{"hooks": [OTHERS]}]}},
    {"hooks": {"SessionStart": [{"matcher": "x", "hooks": [OTHERS]}], "A": "odd"}},
    {"hooks": {"PreCompact": ["odd", {"hooks": "odd"}, {"hooks": []}, None]}},
    {"hooks": {"SessionStart": []}},
]


def our_groups(**options: Any) -> dict[str, object]:
    command = hook_command("claude-code", ["/bin/notewell"], ["--workspace", "/n"])
    return hook_groups("claude-code", command, remembers=False, **options)


def test_a_command_names_the_workspace_never_fails_and_carries_our_mark() -> None:
    command = hook_command("codex", ["/a b/notewell"], ["--workspace", "/it's $HOME"])

    assert command == (
        "'/a b/notewell' hooks codex --run --workspace '/it'\"'\"'s $HOME'"
        f" 2>/dev/null || true {MARK}"
    )


def test_a_path_with_a_line_break_is_refused() -> None:
    with pytest.raises(UsageError, match="line break"):
        hook_command("codex", ["notewell"], ["--workspace", "/a\nrm -rf b"])


def test_remembering_turns_is_off_unless_asked_for() -> None:
    assert set(our_groups()) == {"SessionStart", "UserPromptSubmit", "PreCompact"}
    asked = hook_groups("codex", "true", remembers=True)
    assert set(asked) == {"SessionStart", "UserPromptSubmit", "Stop"}


@pytest.mark.parametrize(
    "before",
    SETTINGS,
)
def test_what_is_written_can_be_taken_out_again(before: dict[str, Any]) -> None:
    kept = copy.deepcopy(before)

    written = with_our_hooks(before, our_groups())

    assert before == kept, "what was read is not changed"
    assert without_our_hooks(written) == before or not before["hooks"]["SessionStart"]


def test_writing_again_replaces_our_entries_and_leaves_the_others_in_place() -> None:
    once = with_our_hooks(
        {"hooks": {"PreCompact": [{"hooks": [OTHERS]}]}}, our_groups()
    )

    twice: dict[str, Any] = with_our_hooks(once, our_groups())

    assert twice == once
    assert twice["hooks"]["PreCompact"][0] == {"hooks": [OTHERS]}


def test_a_group_that_somebody_shares_with_us_keeps_the_other_handler() -> None:
    groups: dict[str, Any] = hook_groups("codex", f"x {MARK}", remembers=False)
    [ours] = groups["SessionStart"]["hooks"]
    shared: dict[str, object] = {"matcher": "startup", "hooks": [ours, OTHERS]}

    left = without_our_hooks({"hooks": {"SessionStart": [shared]}})

    assert left == {
        "hooks": {"SessionStart": [{"matcher": "startup", "hooks": [OTHERS]}]}
    }


@pytest.mark.parametrize(
    "document", [{"hooks": []}, {"hooks": "x"}, {"hooks": {"PreCompact": {}}}]
)
def test_another_type_where_hooks_are_to_be_is_refused(
    document: dict[str, Any],
) -> None:
    with pytest.raises(UsageError, match=r"is not an? "):
        with_our_hooks(document, our_groups())


def test_settings_are_where_each_program_keeps_them() -> None:
    home, moved = Path("/h"), {"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x"}

    found = [
        str(hook_place(program, environ, home, project).file)
        for program in ("claude-code", "codex")
        for environ, project in (({}, None), (moved, None), (moved, Path("/p")))
    ]

    assert found == [
        "/h/.claude/settings.json",
        "/c/settings.json",
        "/p/.claude/settings.local.json",
        "/h/.codex/hooks.json",
        "/x/hooks.json",
        "/p/.codex/hooks.json",
    ]
