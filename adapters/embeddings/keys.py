"""Where the key of a provider is found. Keys are only ever held as Secrets."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from notewell.config import AgentSettings, Secret, Settings
from notewell.config.values import InvalidValue, KeyPath, ReadContext, read_secret
from notewell.foreign import read_items, read_json, read_member, read_names

if TYPE_CHECKING:
    from notewell.adapters.embeddings.request import KeyFound

ENTRIES: Final[Mapping[str, tuple[str, ...]]] = {"gemini": ("google", "gemini")}
"""The ids under `models.providers`, where they differ from the provider's name."""

VARIABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "openai": ("OPENAI_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "voyage": ("VOYAGE_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "ollama": ("OLLAMA_API_KEY",),
}

OAUTH: Final = "OAuth entries cover chat, not embeddings"

_MAIN: Final = "main"
_LARGEST: Final = 4 * 1024 * 1024


def entries_of(name: str) -> tuple[str, ...]:
    """Return the ids under which `models.providers` may speak of a provider."""
    return ENTRIES.get(name, (name,))


def find_key(
    name: str,
    settings: Settings,
    agent: AgentSettings,
    environ: Mapping[str, str],
    *,
    first: bool,
) -> "KeyFound":
    """Look for a provider's key: settings, OpenClaw's auth profiles, environment.

    Args:
        name: The provider's name.
        settings: Every setting.
        agent: Whose key it is.
        environ: The environment variables.
        first: `remote.apiKey` is meant for this provider.
    """
    from notewell.adapters.embeddings.request import KeyFound

    places = _places(name, agent, first=first)
    stated = agent.search.remote.api_key if first else None
    for entry in entries_of(name):
        if entry in settings.providers:
            stated = stated or settings.providers[entry].api_key
    if stated is not None:
        return KeyFound(key=stated, places=places)
    profiles = list(_profiles(name, settings.state_dir, agent.id))
    for written in (*profiles, *(environ.get(v) for v in VARIABLES.get(name, ()))):
        if (key := _sendable(written, environ)) is not None:
            return KeyFound(key=key, places=places)
    return KeyFound(places=places, only_oauth=None in profiles)


def _places(name: str, agent: AgentSettings, *, first: bool) -> str:
    """Name the places where a key may be put, the handiest first."""
    own = [f"{agent.at}.memorySearch.remote.apiKey"] if first else []
    shared = f"models.providers.{entries_of(name)[0]}.apiKey"
    return " or ".join([*VARIABLES.get(name, ())[:1], *own, shared])


def _profiles(name: str, state: Path, agent_id: str) -> Iterator[object]:
    """Yield what OpenClaw holds as keys, in its order; None for a log-in by OAuth.

    An agent without a profile of its own uses those of `main`, as in OpenClaw.
    """
    ids = entries_of(name)
    for owner in dict.fromkeys((agent_id, _MAIN)):
        store = _stored(state / "agents" / owner / "agent" / "auth-profiles.json")
        profiles = read_member(store, "profiles")
        listed = [read_items(read_member(store, "order", entry)) for entry in ids]
        chosen = [label for labels in listed for label in labels]
        for label in dict.fromkeys([*map(str, chosen), *read_names(profiles)]):
            profile = read_member(profiles, label)
            if read_member(profile, "provider") in ids:
                yield _held(profile)


def _held(profile: object) -> object:
    kind = read_member(profile, "type") or read_member(profile, "mode")
    if kind != "api_key":
        return None
    return read_member(profile, "key") or read_member(profile, "keyRef") or ""


def _stored(path: Path) -> object:
    """Read OpenClaw's file; one that cannot be read holds no key."""
    try:
        if path.stat().st_size > _LARGEST:
            return None
        return read_json(path.read_bytes())
    except (OSError, ValueError):
        return None


def _sendable(written: object, environ: Mapping[str, str]) -> Secret | None:
    """Return a key that a header can carry; None for anything else."""
    nowhere = Path()
    context = ReadContext(environ=environ, home=nowhere, base=nowhere, state=nowhere)
    try:
        return (
            read_secret(written, KeyPath(key="", context=context)) if written else None
        )
    except InvalidValue:
        return None
