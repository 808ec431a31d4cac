"""From what the caller names to settings, a workspace and an engine.

In which conversations memory may be seen is said by OpenClaw's kind of rules.
"""

import os
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from notewell.adapters.embeddings.base import NO_PROVIDER, ProviderChoice
from notewell.adapters.embeddings.choose import choose_providers
from notewell.backends.base import Backend, Listener, Run, Site
from notewell.backends.loops import in_event_loop
from notewell.backends.policy import Policy
from notewell.backends.registry import DRIVEN, STAND_IN, open_backend, policy_of
from notewell.config import (
    AgentSettings,
    ScopeMatch,
    ScopeSettings,
    Settings,
    load_settings,
    memory_switch,
)
from notewell.config.file import OWN_NAME
from notewell.config.value_types import is_whole_key
from notewell.errors import BackendError, BackendUnavailable
from notewell.scope import chat_type, is_hidden
from notewell.types import NarrowedPath, source_of
from notewell.values import dataclass
from notewell.workspace import Workspace, choose_workspace
from notewell.workspace.choice import WorkspaceChoice

if TYPE_CHECKING:
    from asyncio import Future

    from notewell.sessions.programs import ProgramTranscripts


_NAMED: Final = frozenset({"file", OWN_NAME})
"""Origins of a workspace that a configuration file names,"""

_READ: Final = (
    r"^(OPENCLAW|NOTEWELL|HF|XDG|QMD|OLLAMA|SSL)_|^(HOME|PATH|TZ|TMPDIR)$"
    r"|(KEY|TOKEN|SECRET|PASSWORD|PROXY|ENDPOINT)$"
)
"""Variables on which an answer may depend."""

_OF_FILE: Final = _NAMED | {"default"}
"""or leads to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a memory is opened with.

    Attributes:
        settings: Every setting, resolved.
        agent: The agent's settings.
        policy: What they mean for the engine that is configured.
        workspace: The folder of notes.
        environ: The environment that was read.
        embedding: The providers of vectors that the agent has.
        own: The folder is the one that belongs to the agent.
        within: The folder in it that is asked, relative to it; None: all of it.
        notices: Sentences for a person, such as which folder was taken.
    """

    settings: Settings
    agent: AgentSettings
    policy: Policy
    workspace: Workspace
    environ: Mapping[str, str]
    embedding: ProviderChoice
    own: bool
    notices: tuple[str, ...]
    within: str | None = None

    @property
    def enabled(self) -> bool:
        """Whether this agent has a memory to search."""
        return self.agent.search.enabled and not self.settings.memory_off

    @property
    def config_warnings(self) -> tuple[str, ...]:
        """What is wrong in the configuration, in sentences."""
        problems = self.embedding.problems
        return (*self.settings.warnings, *self.unused_sources, *problems)

    @property
    def unused_sources(self) -> tuple[str, ...]:
        """A sentence for each source of transcripts that counts for no workspace."""
        configured = self.settings.memory.transcripts
        if not configured:
            return ()
        from notewell.sessions.programs import sources_of

        return sources_of(configured, self.workspace.root)[1]

    @property
    def switch(self) -> str:
        """What switched memory on or off for this agent; empty where nothing did."""
        return memory_switch(self.settings, self.agent)

    @property
    def requested_provider(self) -> str | None:
        """The provider of vectors that is configured, or that was chosen."""
        first = self.embedding.first
        return first.name if first else self.agent.search.provider

    @property
    def no_transcripts(self) -> str | None:
        """Why the agent's transcripts are no source, or None when they are."""
        if "sessions" not in self.agent.search.sources:
            return 'memorySearch.sources lacks "sessions"'
        switch = self.policy.transcripts
        if switch is None:
            return f"the engine {self.settings.memory.backend} does not read them"
        if not switch.on:
            return f"{switch.key} is off"
        # As with extra paths: another folder is not told what the agent has heard.
        return None if self.own else "the folder is not the agent's own workspace"

    @property
    def programs(self) -> "tuple[ProgramTranscripts, ...]":
        """Other programs' transcripts that are a source of this very folder."""
        configured = self.settings.memory.transcripts
        if not configured or self.policy.transcripts is None:
            return ()
        from notewell.sessions.programs import sources_of

        return sources_of(configured, self.workspace.root)[0]

    @property
    def transcripts(self) -> bool:
        """Whether any transcripts are a source."""
        return self.no_transcripts is None or bool(self.programs)

    @property
    def sources(self) -> tuple[str, ...]:
        """What is configured to be searched."""
        named = self.agent.search.sources
        return (
            (*named, "sessions") if self.programs and "sessions" not in named else named
        )

    def agrees(self, other: "Setup") -> bool:
        """Whether two answer alike: the same notes, settings, keys and providers."""
        return self._resolved() == other._resolved()

    def _resolved(self) -> tuple[object, ...]:
        driven = self.settings.memory.backend in DRIVEN
        read = {
            name: value
            for name, value in self.environ.items()
            if re.search(_READ, name, re.IGNORECASE) and not (driven and name == "PATH")
        }
        providers = [
            (each.name, each.remote, each.host, each.instant, each.absent)
            for each in self.embedding.providers
        ]
        chosen = (self.embedding.warnings, self.embedding.problems, self.embedding.hint)
        return (
            self.settings,
            self.agent,
            self.workspace,
            self.own,
            self.within,
            read,
            providers,
            chosen,
        )

    def allows(self, session_key: str | None) -> bool:
        """Say whether memory may be seen in a conversation at all."""
        scope = self.policy.scope
        return scope is None or is_allowed(scope, session_key)

    def _fallback_embedding(self) -> ProviderChoice:
        """Return what makes vectors for builtin behind another engine, if it is instant."""
        if self.settings.memory.backend == STAND_IN:
            return NO_PROVIDER
        chosen = choose_providers(
            self.settings, self.agent, self.environ, configured=False
        )
        instant = (each for each in chosen.providers if each.instant)
        return ProviderChoice(first=next(instant, None))

    def site(self, *, stays: bool = False) -> Site:
        """Return where the backend works, for a program that stays or one that ends."""
        return Site(
            workspace=self.workspace,
            agent=self.agent,
            memory=self.settings.memory,
            state_dir=self.settings.state_dir,
            environ=self.environ,
            embedding=self.embedding,
            fallback_embedding=self._fallback_embedding(),
            transcripts=self.transcripts,
            own_transcripts=self.no_transcripts is None,
            programs=self.programs,
            stays=stays,
        )


def set_up(
    *,
    workspace: Path | str | None,
    agent: str | None,
    config: Path | str | None,
    backend: str | None,
    server: bool,
    environ: Mapping[str, str] | None,
    overrides: Mapping[str, object],
    folder: Path | None = None,
) -> Setup:
    """Read the configuration and find the workspace.

    Args:
        workspace: These are the arguments of `open_memory`.
        folder: The folder that somebody is in; by default that of this process.

    Raises:
        ConfigError: a setting makes no sense.
        UsageError: there is no such agent or workspace.
    """
    home = Path(os.path.expanduser("~"))
    environ = os.environ if environ is None else environ
    flags = {**overrides, "memory.backend": backend} if backend else overrides
    settings = load_settings(
        config_file=Path(config) if config is not None else None,
        environ=environ,
        home=home,
        overrides=flags,
    )
    chosen = settings.agent(agent)
    flag = Path(workspace) if workspace is not None else None
    choice = _choose_workspace(settings, chosen, flag, home, folder, server=server)
    # The agent's extra paths belong to its workspace, not to any folder that is named.
    own = choice.root == Path(os.path.realpath(chosen.workspace))
    policy = policy_of(settings, chosen)
    return Setup(
        settings=settings,
        agent=chosen,
        policy=policy,
        workspace=_workspace(choice, chosen, policy.extra_paths if own else ()),
        environ=environ,
        embedding=choose_providers(
            settings,
            chosen,
            environ,
            # Of a folder that a flag names, or that somebody is in, nothing is sent unasked.
            configured=own and flag is None and chosen.workspace_origin in _OF_FILE,
            folder_named=chosen.workspace_origin in _NAMED,
            static=policy.embeds,
        ),
        own=own,
        notices=(choice.notice,) if choice.notice else (),
        within=choice.within,
    )


def _workspace(
    choice: WorkspaceChoice,
    agent: AgentSettings,
    extra_paths: tuple[str | NarrowedPath, ...],
) -> Workspace:
    return Workspace(
        root=choice.root, extra_paths=extra_paths, daily_notes=agent.search.daily_notes
    )


def _choose_workspace(
    settings: Settings,
    agent: AgentSettings,
    flag: Path | None,
    home: Path,
    folder: Path | None,
    *,
    server: bool,
) -> WorkspaceChoice:
    return choose_workspace(
        flag=flag,
        configured=agent.workspace,
        configured_explicitly=agent.workspace_origin != "default",
        key=agent.workspace_key,
        home=home,
        cwd=folder or _current_folder(),
        # Only the default agent may be given the folder that somebody happens to be in.
        server=server or agent.id != settings.default_agent,
    )


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except OSError:
        # It was deleted, which matters only to those who wanted to read it.
        return Path(os.sep, "(the current folder, which was deleted)")


class LazyEngine:
    """The engine of a memory: opened when it is first needed, once, and shared.

    Attributes:
        failure: What kept it from starting, or None.
    """

    def __init__(self, setup: Setup, *, stays: bool) -> None:
        """Take where it works, and whether the program stays."""
        self._setup = setup
        self._stays = stays
        self._backend: Backend | None = None
        self._opening: Future[None] | None = None
        self._closed = False
        self.failure: BackendError | None = None

    async def get(self) -> Backend:
        """Return the configured engine, with builtin behind it if it is another one.

        Raises:
            BackendError: it could not start, and nothing may stand in for it; or it
                was closed.
        """
        if self._backend is None and self.failure is None:
            await self._opened()
        if self._backend is None or self._closed:
            raise self.failure or _closed()
        return self._backend

    @property
    def begun(self) -> bool:
        """Whether it was opened, or is being opened."""
        return self._backend is not None or self._opening is not None

    async def close(self) -> None:
        """Release what it holds. Calling it twice is harmless."""
        closed, self._closed = self._closed, True
        if self._opening is not None:
            import asyncio

            await asyncio.wait([self._opening])
        self.failure = self.failure or _closed()
        if self._backend is not None and not closed:
            await self._backend.close()

    async def _opened(self) -> None:
        if not in_event_loop():
            await self._open()
            return
        import asyncio

        if self._opening is None:
            self._opening = asyncio.ensure_future(self._open())
        # A caller who is cancelled does not cancel it for the others.
        await asyncio.shield(self._opening)

    async def _open(self) -> None:
        site = self._setup.site(stays=self._stays)
        try:
            self._backend = await _open_engine(site)
        except BackendError as error:
            self.failure = error


async def _open_engine(site: Site) -> Backend:
    if site.memory.backend == STAND_IN:
        return await open_backend(STAND_IN, site)
    from notewell.backends.fallback import open_with_fallback  # slow to import

    return await open_with_fallback(site)


def _closed() -> BackendError:
    return BackendUnavailable(
        "memory", "it was closed", remedy="open it again with open_memory"
    )


async def build_once(
    backend: Backend, listener: Listener, hint: str = ""
) -> tuple[str, ...]:
    """Build an index that never was; return what kept it from that, or a hint."""
    if await backend.built():
        return ()
    try:
        await backend.refresh(Run(vectors="instant", listener=listener))
    except BackendError as error:
        return sentences(error)
    return (hint,) if hint else ()


def sentences(failure: BackendError | None) -> tuple[str, ...]:
    """Return what a person should know of a failure, and what to do."""
    return () if failure is None else (failure.with_remedy,)


def is_allowed(scope: ScopeSettings, session_key: str | None) -> bool:
    """Say whether a conversation may see memory; the first rule that matches decides.

    No key is the owner's own direct session.
    """
    for rule in scope.rules:
        if _applies(rule.match, session_key or ""):
            return rule.action == "allow"
    return scope.default == "allow"


class HiddenPaths:
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
