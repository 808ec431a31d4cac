import pytest

from notewell.scope import chat_type, conversation_kind, is_hidden

GROUP = "agent:main:telegram:group:-100200"


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (None, "direct"),
        ("", "direct"),
        ("agent:main:main", "direct"),
        ("agent:main:telegram:dm:42", "direct"),
        ("agent:groupies:main", "direct"),
        ("agent:main:telegram:group:-100200", "group"),
        ("agent:main:telegram:GROUP:-100200", "group"),
        ("group:42", "group"),
        ("agent:main:discord:channel:7", "channel"),
        ("agent:main:discord:channel:7:thread:9", "channel"),
    ],
)
def test_the_session_key_says_what_kind_of_conversation_it_is(
    key: str | None, expected: str
) -> None:
    assert chat_type(key) == expected


@pytest.mark.parametrize("key", [GROUP, "agent:main:discord:channel:7"])
@pytest.mark.parametrize("note", ["MEMORY.md", "memory.md", "USER.md", "DREAMS.md"])
def test_personal_notes_are_hidden_in_shared_conversations(note: str, key: str) -> None:
    assert is_hidden(note, key)


@pytest.mark.parametrize(
    "path",
    [
        "Memory.MD",
        "user.md",
        "./MEMORY.md",
        "memory/../MEMORY.md",
        ".\\USER.md",
        "ＵＳＥＲ.md",
        "U\u017fER.md",
    ],
)
def test_no_other_spelling_opens_them(path: str) -> None:
    assert is_hidden(path, GROUP)


@pytest.mark.parametrize(
    "path",
    [
        "../other/MEMORY.md",
        "../MEMORY.md",
        "..\\other\\user.md",
        "memory/../../other/DREAMS.md",
        "/srv/other/Memory.md",
        "/USER.md",
    ],
)
def test_the_personal_notes_of_another_workspace_are_hidden_too(path: str) -> None:
    assert is_hidden(path, GROUP)


@pytest.mark.parametrize(
    "path",
    [
        "memory/2026-01-10.md",
        "memory/MEMORY.md",
        "memory/notes/user.md",
        "..memory/USER.md",
        "../team/x.md",
        "x.md",
    ],
)
def test_other_notes_are_open_to_a_group(path: str) -> None:
    assert not is_hidden(path, GROUP)


@pytest.mark.parametrize("key", [None, "agent:main:main"])
@pytest.mark.parametrize("path", ["MEMORY.md", "../other/MEMORY.md"])
def test_the_owner_sees_everything(path: str, key: str | None) -> None:
    assert not is_hidden(path, key)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (None, "main"),
        ("", "main"),
        ("main", "main"),
        ("agent:main:main", "main"),
        ("agent:work:MAIN", "main"),
        ("agent:main:telegram:dm:42", "direct"),
        ("agent:main:subagent:main", "direct"),
        ("agent:main:cron:main", "direct"),
        ("agent:group:main", "group"),
        ("main:group:7", "group"),
        ("agent:main:discord:channel:7", "channel"),
    ],
)
def test_only_the_owners_own_session_is_the_main_one(
    key: str | None, expected: str
) -> None:
    assert conversation_kind(key) == expected
