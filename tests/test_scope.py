import pytest

from notewell.scope import chat_type, hidden_paths, is_hidden

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
    assert note in hidden_paths(key)


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


def test_the_set_holds_every_spelling_that_a_disk_may_list() -> None:
    assert {"Memory.md", "uSeR.Md", "DREAMS.MD"} <= hidden_paths(GROUP)
    assert all(is_hidden(path, GROUP) for path in hidden_paths(GROUP))


@pytest.mark.parametrize(
    "path", ["memory/2026-01-10.md", "memory/MEMORY.md", "../team/USER.md", "x.md"]
)
def test_other_notes_are_open_to_a_group(path: str) -> None:
    assert not is_hidden(path, GROUP)
    assert path not in hidden_paths(GROUP)


@pytest.mark.parametrize("key", [None, "agent:main:main"])
def test_the_owner_sees_everything(key: str | None) -> None:
    assert not is_hidden("MEMORY.md", key)
    assert hidden_paths(key) == frozenset()
