"""From what the caller names to settings, a workspace and a backend's site."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from notewell.adapters.embeddings.base import Choice
from notewell.adapters.embeddings.choosing import choose
from notewell.backends.base import Backend, Listener, Run, Site
from notewell.backends.policy import Policy
from notewell.backends.registry import STAND_IN, open_backend, policy_of
from notewell.config import AgentSettings, Settings, load_settings
from notewell.errors import BackendError
from notewell.memory.scoping import is_allowed
from notewell.workspace import Workspace, choose_workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What a memory is opened with.

    Attributes:
        settings: Every setting, resolved.
        agent: The agent's settings.
        policy: What they mean for the engine that is configured.
        workspace: The folder of notes.
        environ: The environment that was read.
        embedding: The providers of vectors that the agent has.
        own: The folder is the one that belongs to the agent.
        notices: Sentences for a person, such as which folder was taken.
    """

    settings: Settings
    agent: AgentSettings
    policy: Policy
    workspace: Workspace
    environ: Mapping[str, str]
    embedding: Choice
    own: bool
    notices: tuple[str, ...]

    @property
    def enabled(self) -> bool:
        """Whether this agent has a memory to search."""
        return self.agent.search.enabled and not self.settings.memory_off

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
    def transcripts(self) -> bool:
        """Whether the agent's transcripts are a source."""
        return self.no_transcripts is None

    def allows(self, session_key: str | None) -> bool:
        """Say whether memory may be seen in a conversation at all."""
        scope = self.policy.scope
        return scope is None or is_allowed(scope, session_key)

    def site(self, *, stays: bool = False) -> Site:
        """Return where the backend works, for a program that stays or one that ends."""
        return Site(
            workspace=self.workspace,
            agent=self.agent,
            memory=self.settings.memory,
            state_dir=self.settings.state_dir,
            environ=self.environ,
            embedding=self.embedding,
            transcripts=self.transcripts,
            stays=stays,
        )


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except OSError:
        # It was deleted, which matters only to those who wanted to read it.
        return Path(os.sep, "(the current folder, which was deleted)")


def prepare(
    *,
    workspace: Path | str | None,
    agent: str | None,
    config: Path | str | None,
    backend: str | None,
    server: bool,
    environ: Mapping[str, str] | None,
    overrides: Mapping[str, object],
) -> Opening:
    """Read the configuration and find the workspace.

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
    chosen_agent = settings.agent(agent)
    choice = choose_workspace(
        flag=Path(workspace) if workspace is not None else None,
        configured=chosen_agent.workspace,
        configured_explicitly=chosen_agent.workspace_origin != "default",
        key=chosen_agent.workspace_key,
        home=home,
        cwd=_current_folder(),
        # Only the default agent may be given the folder that somebody happens to be in.
        server=server or chosen_agent.id != settings.default_agent,
    )
    # The agent's extra paths belong to its workspace, not to any folder that is named.
    own = choice.root == Path(os.path.realpath(chosen_agent.workspace))
    policy = policy_of(settings, chosen_agent)
    extra_paths = policy.extra_paths if own else ()
    return Opening(
        settings=settings,
        agent=chosen_agent,
        policy=policy,
        workspace=Workspace(root=choice.root, extra_paths=extra_paths),
        environ=environ,
        embedding=choose(
            settings,
            chosen_agent,
            environ,
            # A key that is there by chance must not upload somebody's folder.
            configured=own and chosen_agent.workspace_origin == "file",
            static=policy.embeds,
        ),
        own=own,
        notices=(choice.notice,) if choice.notice else (),
    )


async def open_engine(site: Site) -> Backend:
    """Open the configured backend, with builtin behind it if it is another one.

    Raises:
        BackendUnknown: no backend has the configured name.
        BackendError: it cannot start, and nothing may stand in for it.
    """
    if site.memory.backend == STAND_IN:
        return await open_backend(STAND_IN, site)
    from notewell.backends.fallback import open_with_fallback  # slow to import

    return await open_with_fallback(site)


async def build_once(backend: Backend, listener: Listener) -> tuple[str, ...]:
    """Build an index that never was; return what kept it from that."""
    if await backend.built():
        return ()
    try:
        await backend.refresh(Run(vectors="instant", listener=listener))
    except BackendError as error:
        return sentences(error)
    return ()


def sentences(failure: BackendError | None) -> tuple[str, ...]:
    """Return what a person should know of a failure, and what to do."""
    return () if failure is None else (f"{failure.message}; {failure.remedy}",)
