"""In which conversations memory may be searched, by OpenClaw's kind of rules."""

from functools import cached_property
from pathlib import Path

from notewell.config import ScopeMatch, ScopeSettings
from notewell.config.value_types import is_whole_key
from notewell.scope import chat_type, is_hidden
from notewell.types import source_of


def is_allowed(scope: ScopeSettings, session_key: str | None) -> bool:
    """Say whether a conversation may see memory; the first rule that matches decides.

    No key is the owner's own direct session.
    """
    for rule in scope.rules:
        if _applies(rule.match, session_key or ""):
            return rule.action == "allow"
    return scope.default == "allow"


class Hiding:
    """Says of a path whether nobody in a conversation may see it.

    What a group may see of the transcripts is looked up once, when the first is met.
    """

    def __init__(
        self, state_dir: Path, agent: str, session_key: str | None, *, everything: bool
    ) -> None:
        """Take whose transcripts there are, and the conversation.

        Args:
            everything: The conversation may see nothing at all.
        """
        self._state_dir = state_dir
        self._agent = agent
        self._session_key = session_key
        self._everything = everything

    def __call__(self, path: str) -> bool:
        """Whether a note or a transcript is closed in this conversation."""
        if self._everything or source_of(path) == "memory":
            return self._everything or is_hidden(path, self._session_key)
        return chat_type(self._session_key) != "direct" and path not in self._own

    @cached_property
    def _own(self) -> frozenset[str]:
        """The transcripts of this very conversation."""
        from notewell.sessions import list_transcripts  # only where others are met

        wanted = _without_agent(self._session_key or "")
        return frozenset(
            each.path
            for each in list_transcripts(self._state_dir, self._agent).found
            if each.session_key and _without_agent(each.session_key) == wanted
        )


def _applies(match: ScopeMatch, key: str) -> bool:
    raw = key.strip().lower()
    bare = _without_agent(raw)
    wanted = (
        (match.chat_type, chat_type(key)),
        (match.channel and match.channel.lower(), _channel(bare)),
    )
    if any(value is not None and value != here for value, here in wanted):
        return False
    prefix, whole = match.key_prefix or "", match.raw_key_prefix or ""
    start_of = raw if is_whole_key(prefix) else bare
    return start_of.startswith(prefix.lower()) and raw.startswith(whole.lower())


def _without_agent(key: str) -> str:
    """Return a key without its agent.

    >>> _without_agent("agent:main:discord:group:42")
    'discord:group:42'
    """
    parts = key.split(":", 2)
    return parts[2] if len(parts) == 3 and parts[0] == "agent" else key


def _channel(bare: str) -> str | None:
    """Return the channel of a key such as `discord:group:42`; `main` has none."""
    channel, colon, _ = bare.partition(":")
    return channel if colon else None
