"""Which providers an agent has: what is configured, or the first that is set up.

No provider is asked anything here, and none is loaded. Providers have names, which lead
to import strings that are resolved when one is described (`BUILTIN`, and the entry points
of other packages); their keys are looked for in the settings, in OpenClaw's auth profiles
and in the environment, and are only ever held as Secrets.
"""

import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Final, cast

from notewell.adapters.embeddings.base import (
    NO_PROVIDER,
    Embedder,
    EmbeddingSettings,
    KeyLookup,
    Provider,
    ProviderChoice,
    Role,
)
from notewell.config import AgentSettings, SearchSettings, Secret, Settings
from notewell.config.blocks import closest_name
from notewell.config.values import InvalidValue, KeyPath, ReadContext, read_secret
from notewell.errors import EmbeddingError, without_logins
from notewell.foreign import read_items, read_json, read_member, read_names
from notewell.plugins import offered
from notewell.values import dataclass

AUTOMATIC: Final = ("openai", "gemini", "voyage", "mistral")
"""The remote providers that are chosen when a key of theirs is found, best known first.

Ollama is not among them: whether it runs could only be learnt by asking it.
"""

_NONE: Final = "none"
_STATIC: Final = "static"
_PACKAGE: Final = "wordllama"

# What speaks which protocol, by `models.providers.<id>.api`.
_PROTOCOLS: Final[Mapping[str | None, str]] = {
    None: "openai",
    "openai": "openai",
    "openai-completions": "openai",
    "openai-responses": "openai",
    "google-generative-ai": "gemini",
    "ollama": "ollama",
}

_COMPATIBLE: Final = frozenset({"openai-compatible", "lmstudio", "deepinfra"})
"""OpenClaw's ids for servers that speak as OpenAI does. They have no address of their own here,
and are asked at one that the configuration names, never at OpenAI's with OpenAI's key."""

_ENTRIES: Final[Mapping[str, tuple[str, ...]]] = {"gemini": ("google", "gemini")}
"""The ids under `models.providers`, where they differ from the provider's name."""

_VARIABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "openai": ("OPENAI_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "voyage": ("VOYAGE_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "ollama": ("OLLAMA_API_KEY",),
}

_CHAT_LOGINS: Final[Mapping[str, str]] = {"openai": "openai-codex"}
"""OpenClaw's ids for log-ins at the same house that are good for chats alone."""

OAUTH: Final = "OAuth entries cover chat, not embeddings"

_MAIN: Final = "main"
_LARGEST: Final = 4 * 1024 * 1024

ENTRY_POINTS: Final = "notewell.embeddings"
"""The entry point group in which other packages offer providers.

An entry names a function `provider(settings: EmbeddingSettings) -> Provider`. It is called at
every start, so it does nothing but describe: loading is `Provider.open`'s work.
"""

_HERE: Final = "notewell.adapters.embeddings"

BUILTIN: Final[Mapping[str, str]] = {
    "static": f"{_HERE}.local.static:provider",
    "local": f"{_HERE}.local.llama:provider",
    "sentence-transformers": f"{_HERE}.local.sentence_transformers:provider",
    "openai": f"{_HERE}.remote.openai:provider",
    "gemini": f"{_HERE}.remote.gemini:provider",
    "voyage": f"{_HERE}.remote.voyage:provider",
    "mistral": f"{_HERE}.remote.mistral:provider",
    "ollama": f"{_HERE}.remote.ollama:provider",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scene:
    """What a choice is made from."""

    settings: Settings
    agent: AgentSettings
    environ: Mapping[str, str]
    static: bool

    @property
    def at(self) -> str:
        return f"{self.agent.at}.memorySearch"


def choose_providers(
    settings: Settings,
    agent: AgentSettings,
    environ: Mapping[str, str],
    *,
    configured: bool,
    folder_named: bool = True,
    static: bool = True,
) -> ProviderChoice:
    """Return the agent's providers.

    Args:
        settings: Every setting.
        agent: The agent.
        environ: The environment variables, for keys, proxies and caches.
        configured: The workspace is the one that the configuration file leads to, its
            default included. Only then is a remote provider chosen automatically.
        folder_named: The file names it. Only then does a key count that stands outside of the
            file: one that happens to be there must not upload somebody's folder.
        static: The one that comes with the install is wanted, too: the engine has no
            vectors of its own.

    A name that leads to no provider costs nothing but that provider: it is one that
    cannot be opened, so that another stands in and the answer says so.
    """
    scene = _Scene(settings=settings, agent=agent, environ=environ, static=static)
    named = agent.search.provider
    if named is None:
        first = _automatic(scene, configured=configured, named=folder_named)
    else:
        first = _named(scene, named, key="provider")
    second = _named(scene, agent.search.fallback, key="fallback")
    hint = "" if agent.search.provider else _key_hint(scene, first, configured)
    problems = () if second is None or not second.absent else (second.absent,)
    if first is None:
        return replace(NO_PROVIDER, problems=problems, hint=hint)
    warnings = tuple(_unused_by_static(scene)) if first.name == _STATIC else ()
    if first.absent:
        warnings = (first.absent,)
    if named is None and first.name == _STATIC:
        # Nobody chose it, so nobody chose a second.
        return ProviderChoice(
            first=first, warnings=warnings, problems=problems, hint=hint
        )
    if second is not None and second.name == first.name:
        second = None
    choice = ProviderChoice(
        first=first,
        second=None if problems else second,
        warnings=warnings,
        problems=problems,
        hint=hint,
    )
    if "fallback" in agent.given and _spelled(agent.search.fallback) == _NONE:
        return choice
    if _STATIC in [provider.name for provider in choice.providers]:
        return choice
    return replace(choice, last=_static(scene))


def _unused_by_static(scene: _Scene) -> Iterator[str]:
    """Yield a sentence for each setting that chooses a model where there is but one."""
    for key in ("model", "outputDimensionality"):
        if key in scene.agent.given:
            yield f"{scene.at}.{key} is not used: the provider static has one model."


def _automatic(scene: _Scene, *, configured: bool, named: bool) -> Provider | None:
    if _has_model_file(scene.agent):
        return _made(scene, "local", first=True)
    for name in AUTOMATIC if configured else ():
        # Address and key under `remote` are read as OpenAI's: nobody said whose.
        wanted = _settings_of(scene, name, first=True, addressed=name == "openai")
        if wanted.key.key is None or not (named or wanted.key.in_file):
            continue
        provider = make_provider(BUILTIN[name], wanted)
        if not (provider.remote and wanted.offline):
            return provider
    return _static(scene)


def _key_hint(scene: _Scene, first: Provider | None, configured: bool) -> str:
    """Say in a line which key was found and how to use it; empty where there is none."""
    for name in AUTOMATIC if not scene.settings.memory.offline else ():
        found = find_key(
            name, scene.settings, scene.agent, scene.environ, first=name == "openai"
        )
        if found.key is None:
            continue
        said = f"A key of {name} was found ({found.found})"
        if first is not None and first.name == name:
            return (
                f"{said}: `notewell index` tells what goes to {first.host or name} before it"
                " is sent, and searches ask it once all is made."
            )
        use = f'{scene.at}.provider: "{name}" uses it'
        if configured:
            use = f"name the folder in {scene.agent.workspace_key} to use it"
        return f"{said}, and is not used: {use}."
    return ""


def _static(scene: _Scene) -> Provider | None:
    """Return the one that comes with the install; None where its package is not."""
    if not scene.static or find_spec(_PACKAGE) is None:
        return None
    return _made(scene, _STATIC, first=False)


def _has_model_file(agent: AgentSettings) -> bool:
    """Whether somebody named a model's file that is there; a download is no file."""
    path = agent.search.local.model_path
    if "local.modelPath" not in agent.given or not path.startswith("/"):
        return False
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def _named(scene: _Scene, name: str, *, key: str) -> Provider | None:
    """Return the provider that a setting names; None for `none`."""
    if _spelled(name) == _NONE:
        return None
    first = key == "provider"
    if _spelled(name) in BUILTIN:
        return _made(scene, _spelled(name), first=first)
    endpoint, _ = _endpoint(scene, name, addressed=first and name in _COMPATIBLE)
    entry = scene.settings.providers.get(name)
    if endpoint is not None:
        protocol = _PROTOCOLS.get(entry.api if entry is not None else None)
        if protocol is not None:
            return _made(scene, name, first=first, target=BUILTIN[protocol])
        why = f"models.providers.{name}.api: its API has no embeddings"
        known = ", ".join(api for api in _PROTOCOLS if api)
        return _absent(name, why, f"notewell asks for them by {known}")
    if name in (others := provider_targets()):
        return _made(scene, name, first=first, target=others[name])
    return _unknown(scene, name, key=key, plugins=list(others))


def _unknown(scene: _Scene, name: str, *, key: str, plugins: list[str]) -> Provider:
    at = f"{scene.at}.{key}"
    entries = scene.settings.providers.items()
    known = [*plugins, *(id_ for id_, entry in entries if entry.base_url), _NONE]
    near = closest_name(_spelled(name), known)
    if name in _COMPATIBLE:
        why, hint = f"{at}: {name!r} has no address", ""
    else:
        why = f"{at}: there is no provider {name!r} in notewell"
        hint = f"did you mean {near!r}? " if near else ""
    return _absent(
        name,
        why,
        f"{hint}set it to one of {', '.join(dict.fromkeys(known))}, or give"
        f" models.providers.{name} a baseUrl where it speaks as OpenAI does",
    )


def _absent(name: str, why: str, remedy: str) -> Provider:
    """Return one that cannot be opened: what is configured is not there to be asked."""

    def opened() -> Embedder:
        raise EmbeddingError(name, why, reason="missing", remedy=remedy)

    told = without_logins(f"{why}; {remedy}")
    name = without_logins(name)
    return Provider(name=name, remote=False, host="", open=opened, absent=told)


def _made(
    scene: _Scene, name: str, *, first: bool, target: str | None = None
) -> Provider:
    settings = _settings_of(scene, name, first=first, addressed=first)
    return make_provider(target or BUILTIN[name], settings)


def _settings_of(
    scene: _Scene, name: str, *, first: bool, addressed: bool
) -> EmbeddingSettings:
    """Gather the settings of one slot.

    Args:
        scene: The settings.
        name: The provider.
        first: `model` and the settings beside it are meant for it.
        addressed: So is `remote`.
    """
    settings, search = scene.settings, scene.agent.search
    endpoint, key = _endpoint(scene, name, addressed=addressed)
    return EmbeddingSettings(
        name=name,
        state_dir=settings.state_dir,
        model=search.model if first else None,
        dimensionality=search.output_dimensionality if first else None,
        input_types=_input_types(search) if first else {},
        local=search.local,
        environ=scene.environ,
        offline=settings.memory.offline,
        endpoint=endpoint,
        endpoint_key=key,
        model_key=f"{scene.at}.model" if first else "",
        key=find_key(name, settings, scene.agent, scene.environ, first=addressed),
        headers=_headers(scene, name, addressed=addressed),
    )


def _input_types(search: SearchSettings) -> dict[Role, str]:
    types: dict[Role, str | None] = {
        "query": search.query_input_type or search.input_type,
        "document": search.document_input_type or search.input_type,
    }
    return {role: stated for role, stated in types.items() if stated}


def _endpoint(scene: _Scene, name: str, *, addressed: bool) -> tuple[str | None, str]:
    """Return the configured address, if any, and the key that names it or would."""
    remote = scene.agent.search.remote
    if addressed and remote.base_url:
        return remote.base_url, f"{scene.at}.remote.baseUrl"
    for entry in entries_of(name):
        settings = scene.settings.providers.get(entry)
        if settings is not None and settings.base_url:
            return settings.base_url, f"models.providers.{entry}.baseUrl"
    return None, f"models.providers.{entries_of(name)[0]}.baseUrl"


def _headers(scene: _Scene, name: str, *, addressed: bool) -> dict[str, Secret]:
    """Merge headers; `remote` wins, also over another spelling of the same name."""
    found: dict[str, tuple[str, Secret]] = {}
    providers = scene.settings.providers
    layers = [providers[e].headers for e in entries_of(name) if e in providers]
    if addressed:
        layers.append(scene.agent.search.remote.headers)
    for layer in layers:
        found.update({key.lower(): (key, held) for key, held in layer.items()})
    return dict(found.values())


def _spelled(name: str) -> str:
    """Return the usual spelling of a built-in provider's name."""
    folded = name.strip().lower()
    return "gemini" if folded == "google" else folded


def provider_targets() -> dict[str, str]:
    """Return every known name with its "module:attribute", built-ins first.

    Raises:
        ConfigError: two installed distributions claim one name.
    """
    return offered(ENTRY_POINTS, BUILTIN, key="memorySearch.provider")


def make_provider(target: str, settings: EmbeddingSettings) -> Provider:
    """Return what the provider at that import string says about these settings."""
    make = cast("Callable[[EmbeddingSettings], Provider]", pkgutil.resolve_name(target))
    return make(settings)


def entries_of(name: str) -> tuple[str, ...]:
    """Return the ids under which `models.providers` may speak of a provider."""
    return _ENTRIES.get(name, (name,))


def find_key(
    name: str,
    settings: Settings,
    agent: AgentSettings,
    environ: Mapping[str, str],
    *,
    first: bool,
) -> KeyLookup:
    """Look for a provider's key: settings, OpenClaw's auth profiles, environment.

    Args:
        name: The provider's name.
        settings: Every setting.
        agent: Whose key it is.
        environ: The environment variables.
        first: `remote.apiKey` is meant for this provider.
    """
    places = _places(name, agent, first=first)
    stated = {f"{agent.at}.memorySearch.remote.apiKey": agent.search.remote.api_key}
    stated = stated if first else {}
    for entry in entries_of(name):
        if entry in settings.providers:
            where = f"models.providers.{entry}.apiKey"
            stated[where] = settings.providers[entry].api_key
    for where, key in stated.items():
        if key is not None:
            return KeyLookup(key=key, places=places, found=where, in_file=True)
    profiles = list(_profiles(name, settings.state_dir, agent.id))
    outside = [("OpenClaw's auth profiles", profile) for profile in profiles]
    outside += [(each, environ.get(each)) for each in _VARIABLES.get(name, ())]
    for where, written in outside:
        if (key := _sendable(written, environ)) is not None:
            return KeyLookup(key=key, places=places, found=where)
    return KeyLookup(places=places, only_oauth=None in profiles)


def _places(name: str, agent: AgentSettings, *, first: bool) -> str:
    """Name the places where a key may be put, the handiest first."""
    own = [f"{agent.at}.memorySearch.remote.apiKey"] if first else []
    shared = f"models.providers.{entries_of(name)[0]}.apiKey"
    return " or ".join([*_VARIABLES.get(name, ())[:1], *own, shared])


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
            elif read_member(profile, "provider") == _CHAT_LOGINS.get(name):
                yield None


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
