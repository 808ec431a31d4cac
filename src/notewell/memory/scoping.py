"""In which conversations memory may be searched, by OpenClaw's kind of rules."""

from typing import Final

from notewell.config import ScopeMatch, ScopeSettings
from notewell.scope import chat_type

DENIED: Final = "memory.qmd.scope does not allow memory in this conversation."


def is_allowed(scope: ScopeSettings, session_key: str | None) -> bool:
    """Say whether a conversation may see memory; the first rule that matches decides.

    No key is the owner's own direct session.
    """
    for rule in scope.rules:
        if _applies(rule.match, session_key or ""):
            return rule.action == "allow"
    return scope.default == "allow"


def _applies(match: ScopeMatch, key: str) -> bool:
    raw = key.lower()
    bare = _without_agent(raw)
    wanted = (
        (match.chat_type, chat_type(key)),
        (match.channel and match.channel.lower(), _channel(bare)),
    )
    prefixes = ((match.key_prefix, bare), (match.raw_key_prefix, raw))
    return all(value is None or value == here for value, here in wanted) and all(
        prefix is None or here.startswith(prefix.lower()) for prefix, here in prefixes
    )


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
