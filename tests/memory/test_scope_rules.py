"""In which conversations memory may be searched, when QMD is the backend."""

import json
from pathlib import Path

import pytest

from notewell import open_memory_sync
from notewell.config import ScopeMatch, ScopeRule, ScopeSettings
from notewell.errors import PathRefused
from notewell.memory.setup import is_allowed

GROUP = "agent:main:discord:group:42"
CHANNEL = "agent:main:slack:channel:c7"
DIRECT = "agent:main:telegram:dm:ada"


@pytest.mark.parametrize(
    ("key", "allowed"),
    [(None, True), ("", True), (DIRECT, True), (GROUP, False), (CHANNEL, False)],
)
def test_by_default_only_direct_conversations_may(
    key: str | None, allowed: bool
) -> None:
    assert is_allowed(ScopeSettings(), key) is allowed


@pytest.mark.parametrize(
    ("match", "keys"),
    [
        (ScopeMatch(channel="Discord"), [GROUP]),
        (ScopeMatch(chat_type="channel"), [CHANNEL]),
        (ScopeMatch(key_prefix="slack:"), [CHANNEL]),
        (ScopeMatch(key_prefix="Agent:main:discord:"), [GROUP]),
        (ScopeMatch(key_prefix="agent:other:"), []),
        (ScopeMatch(key_prefix="agent:main:", channel="slack"), [CHANNEL]),
        (ScopeMatch(key_prefix="slack:", raw_key_prefix="agent:main:"), [CHANNEL]),
        (ScopeMatch(raw_key_prefix="agent:main:"), [GROUP, CHANNEL, DIRECT]),
        (ScopeMatch(raw_key_prefix="slack:"), []),
        (ScopeMatch(channel="discord", chat_type="direct"), []),
        (ScopeMatch(), [GROUP, CHANNEL, DIRECT, None]),
    ],
)
def test_a_rule_applies_where_all_of_it_matches(
    match: ScopeMatch, keys: list[str | None]
) -> None:
    scope = ScopeSettings(rules=(ScopeRule(action="allow", match=match),))

    found = [key for key in (GROUP, CHANNEL, DIRECT, None) if is_allowed(scope, key)]

    assert found == keys


def test_the_first_rule_that_matches_decides() -> None:
    deny = ScopeRule(action="deny", match=ScopeMatch(channel="discord"))
    scope = ScopeSettings(default="allow", rules=(deny, ScopeRule(action="allow")))

    assert not is_allowed(scope, GROUP)
    assert is_allowed(scope, CHANNEL)


@pytest.mark.parametrize("action", ["allow", "deny"])
def test_a_key_prefix_that_is_a_whole_key_is_taken_for_one_and_told(
    action: str, tmp_path: Path
) -> None:
    rule = {"action": action, "match": {"keyPrefix": "agent:main:discord:"}}
    default = "deny" if action == "allow" else "allow"
    environ = {"OPENCLAW_STATE_DIR": str(tmp_path), "PATH": str(tmp_path)}
    (tmp_path / "openclaw.json").write_text(
        json.dumps(
            {
                "agents": {"defaults": {"workspace": str(tmp_path / "notes")}},
                "memory": {
                    "backend": "qmd",
                    "qmd": {"scope": {"default": default, "rules": [rule]}},
                },
            }
        ),
        encoding="utf-8",
    )
    (tmp_path / "notes" / "memory").mkdir(parents=True)
    (tmp_path / "notes" / "memory" / "a.md").write_text("heron\n", encoding="utf-8")

    reasons: dict[str, str | None] = {}
    for key in (GROUP, CHANNEL):
        with open_memory_sync(environ=environ, session_key=key) as memory:
            answer = memory.search("heron")
            reasons[key] = answer.reason
            assert any("rawKeyPrefix" in each for each in answer.warnings)

    allowed, denied = (GROUP, CHANNEL) if action == "allow" else (CHANNEL, GROUP)
    assert reasons == {allowed: None, denied: "denied-by-scope"}


def test_a_denied_conversation_is_told_so_and_reads_no_note_either(
    tmp_path: Path,
) -> None:
    (tmp_path / "notes" / "memory").mkdir(parents=True)
    (tmp_path / "notes" / "memory" / "a.md").write_text("heron\n", encoding="utf-8")
    environ = {"OPENCLAW_STATE_DIR": str(tmp_path / "state"), "PATH": str(tmp_path)}

    with open_memory_sync(
        workspace=tmp_path / "notes", environ=environ, backend="qmd", session_key=GROUP
    ) as memory:
        answer = memory.search("heron")
        with pytest.raises(PathRefused, match="denied in this conversation"):
            memory.get("memory/a.md")

    assert (answer.results, answer.reason) == ((), "denied-by-scope")
    assert answer.warnings
