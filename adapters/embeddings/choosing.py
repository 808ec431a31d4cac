"""Which providers an agent has: what is configured, or the first that is set up.

No provider is asked anything here, and none is loaded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from notewell.adapters.embeddings.base import NO_PROVIDER, Choice, Provider, Role
from notewell.adapters.embeddings.keys import entries_of, find_key
from notewell.adapters.embeddings.registry import BUILTIN, make_provider, targets
from notewell.config import AgentSettings, SearchSettings, Secret, Settings
from notewell.config.blocks import closest_name
from notewell.errors import ConfigError

if TYPE_CHECKING:
    from notewell.adapters.embeddings.request import Request

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scene:
    settings: Settings
    agent: AgentSettings
    environ: Mapping[str, str]
    static: bool

    @property
    def at(self) -> str:
        return f"{self.agent.at}.memorySearch"


def choose(
    settings: Settings,
    agent: AgentSettings,
    environ: Mapping[str, str],
    *,
    configured: bool,
    static: bool = True,
) -> Choice:
    """Return the agent's providers.

    Args:
        settings: Every setting.
        agent: The agent.
        environ: The environment variables, for keys, proxies and caches.
        configured: The workspace is the one that the configuration file names. Only
            then is a remote provider chosen automatically: a key that happens to be
            in the environment must not upload somebody's folder.
        static: The one that comes with the install is wanted, too: the engine has no
            vectors of its own.

    Raises:
        ConfigError: a provider that is named does not exist.
    """
    scene = _Scene(settings=settings, agent=agent, environ=environ, static=static)
    named = agent.search.provider
    if named is None:
        first = _automatic(scene, configured=configured)
    else:
        first = _named(scene, named, key="provider")
    second = _named(scene, agent.search.fallback, key="fallback")
    if first is None:  # and a mistake in the other was told all the same
        return NO_PROVIDER
    if named is None and first.name == _STATIC:
        return Choice(first=first)  # nobody chose it, so nobody chose a second
    if second is not None and second.name == first.name:
        second = None
    choice = Choice(first=first, second=second)
    if "fallback" in agent.given and _spelled(agent.search.fallback) == _NONE:
        return choice
    if _STATIC in [provider.name for provider in choice.providers]:
        return choice
    return replace(choice, last=_static(scene))


def _automatic(scene: _Scene, *, configured: bool) -> Provider | None:
    if _has_model_file(scene.agent):
        return _made(scene, "local", first=True)
    for name in AUTOMATIC if configured else ():
        # Address and key under `remote` are read as OpenAI's: nobody said whose.
        request = _request(scene, name, first=True, addressed=name == "openai")
        if request.key.key is None:
            continue
        provider = make_provider(BUILTIN[name], request)
        if not (provider.remote and request.offline):
            return provider
    return _static(scene)


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
    """Return the provider that a setting names; None for `none`.

    Raises:
        ConfigError: there is no such provider.
    """
    if _spelled(name) == _NONE:
        return None
    first = key == "provider"
    entry = scene.settings.providers.get(name)
    if _spelled(name) in BUILTIN:
        return _made(scene, _spelled(name), first=first)
    if entry is not None and entry.base_url is not None:
        protocol = _PROTOCOLS.get(entry.api)
        if protocol is None:
            raise ConfigError(
                f"models.providers.{name}.api",
                f"{entry.api!r} has no embeddings",
                accepted=", ".join(api for api in _PROTOCOLS if api),
            )
        return _made(scene, name, first=first, target=BUILTIN[protocol])
    if name in (others := targets()):
        return _made(scene, name, first=first, target=others[name])
    raise _unknown(scene, name, key=key, plugins=list(others))


def _unknown(scene: _Scene, name: str, *, key: str, plugins: list[str]) -> ConfigError:
    entries = scene.settings.providers.items()
    known = [*plugins, *(id_ for id_, entry in entries if entry.base_url), _NONE]
    near = closest_name(_spelled(name), known)
    hint = f"did you mean {near!r}? " if near else ""
    return ConfigError(
        f"{scene.at}.{key}",
        f"there is no provider {name!r}",
        accepted=f"{hint}one of {', '.join(dict.fromkeys(known))}, or the id of an "
        "entry of models.providers with a baseUrl",
    )


def _made(
    scene: _Scene, name: str, *, first: bool, target: str | None = None
) -> Provider:
    request = _request(scene, name, first=first, addressed=first)
    return make_provider(target or BUILTIN[name], request)


def _request(scene: _Scene, name: str, *, first: bool, addressed: bool) -> "Request":
    """Gather the settings of one slot.

    Args:
        scene: The settings.
        name: The provider.
        first: `model` and the settings beside it are meant for it.
        addressed: So is `remote`.
    """
    from notewell.adapters.embeddings.request import Request  # for who has one

    settings, search = scene.settings, scene.agent.search
    endpoint, key = _endpoint(scene, name, addressed=addressed)
    return Request(
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
