"""The agents of a file: defaults, overrides, ids, workspaces, index files."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, cast

import msgspec
from msgspec.structs import replace

from notewell.config.blocks import (
    GivenValue,
    build_block,
    read_block,
    read_object,
    warn_of,
)
from notewell.config.file import NAME_FORM, is_name
from notewell.config.layers import (
    DEFAULTS,
    ConfigLayer,
    object_at,
    read_search,
    read_workspace,
)
from notewell.config.schema import (
    ChunkingSettings,
    HybridSettings,
    SandboxSettings,
    SearchSettings,
)
from notewell.config.settings import AgentConfig, AgentSettings
from notewell.config.values import ReadContext, describe_value
from notewell.errors import ConfigError

MAIN: Final = "main"
TEMPLATE: Final = "{agentId}"
_LOST: Final = "this agent is left out"

_EXTRA_PATHS: Final = "extraPaths"


class AgentsOfFile(msgspec.Struct, frozen=True, kw_only=True):
    """What a file says of `agents`, and how it is read.

    Attributes:
        raw: The object there.
        context: What written values depend on in that file.
        origin: How the file is called.
    """

    raw: Mapping[str, object]
    context: ReadContext
    origin: str = "file"


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    at: str
    raw: Mapping[str, object]
    chosen: bool
    of: AgentsOfFile
    over: "_Entry | None" = None


def read_agents(
    files: Sequence[AgentsOfFile],
    *,
    file: ConfigLayer,
    flags: ConfigLayer,
    context: ReadContext,
    profile: str | None,
) -> tuple[AgentConfig, tuple[AgentConfig, ...]]:
    """Return the defaults, as an agent called `{agentId}`, and the agents.

    Args:
        files: What each file says, the one that is laid over the others last.
        file: What they say for every agent, laid over each other.
        flags: What the flags say for every agent.
        context: What written values depend on.
        profile: OPENCLAW_PROFILE.

    Raises:
        ConfigError: an entry or a value in it makes no sense.
    """
    entries: list[_Entry] = []
    for each in files:
        entries = _joined(entries, _entries(each, alone=not entries))
    lead = next((entry for entry in entries if entry.chosen), None)
    lead = lead or (entries[0] if entries else None)
    suffix = f"-{profile}" if profile else ""
    usual = context.home / ".openclaw" / f"workspace{suffix}"
    defaults = _agent(None, files, file=file, flags=flags, context=context, usual=usual)
    found: list[AgentConfig] = []
    for entry in entries:
        # OpenClaw gives every other agent a folder of its own.
        place = usual if entry is lead else context.state / f"workspace-{entry.id}"
        try:
            found.append(
                _agent(
                    entry, files, file=file, flags=flags, context=context, usual=place
                )
            )
        except ConfigError as error:
            if entry is lead or context.strict:
                raise
            warn_of(error, context, _LOST)
    if not found:
        settings = _named(defaults.settings, MAIN)
        found = [replace(defaults, settings=settings)]
    return defaults, tuple(_apart(found, context))


def _joined(entries: list[_Entry], over: list[_Entry]) -> list[_Entry]:
    """Lay the entries of another file over those with the same id; add the others."""
    laid = {entry.id: entry for entry in over}
    chosen = any(entry.chosen for entry in over)
    known = [
        replace(
            entry,
            over=laid.pop(entry.id, None),
            chosen=any(each.chosen and each.id == entry.id for each in over)
            if chosen
            else entry.chosen,
        )
        for entry in entries
    ]
    return [*known, *laid.values()]


def _entries(of: AgentsOfFile, *, alone: bool) -> list[_Entry]:
    """Return the agents of `agents.list[]`, and of `agents.entries`, its successor.

    A wrong entry is left out, with a warning.

    Raises:
        ConfigError: it is the one that is meant when none is named.
    """
    found: list[_Entry] = []
    wrong: list[tuple[ConfigError, bool | None]] = []
    known: dict[str, str] = {}
    for name, key, at, item in _items(of.raw):
        try:
            entry = _entry(name, key, at, item, of)
            _check_id(entry, known)
        except ConfigError as error:
            first = alone and not found and not wrong
            wrong.append((error, _may_lead(item, first=first)))
        else:
            found.append(entry)
    chosen = any(entry.chosen for entry in found)
    for problem, leads in wrong:
        # Whoever is asked without a name must not become somebody else.
        if leads is None or (leads and not chosen):
            raise problem
        warn_of(problem, of.context, _LOST)
    return found


def _items(
    raw: Mapping[str, object],
) -> Iterator[tuple[object, str, str, object]]:
    """Yield of each entry its id, the key of that, where it stands, and the entry."""
    listed = raw.get("list", [])
    if not isinstance(listed, list):
        raise ConfigError(
            "agents.list", f"is {describe_value(listed)}", accepted="a list: [ … ]"
        )
    for number, item in enumerate(cast("list[object]", listed)):
        at = f"agents.list[{number}]"
        entry = cast("dict[str, object]", item) if isinstance(item, dict) else {}
        yield entry.get("id"), f"{at}.id", at, item
    for name, item in object_at(raw, "entries", "agents.entries").items():
        yield name, "agents.entries", f"agents.entries.{name}", item


def _may_lead(item: object, *, first: bool) -> bool | None:
    """Say whether an entry may be the default one; None where it says so itself."""
    entry = cast("dict[str, object]", item) if isinstance(item, dict) else {}
    return first if entry.get("default", False) is False else None


def _entry(name: object, key: str, at: str, item: object, of: AgentsOfFile) -> _Entry:
    raw = read_object(item, at=at)
    if not isinstance(name, str) or not is_name(name):
        problem = "is missing" if name is None else f"is {describe_value(name)}"
        raise ConfigError(key, problem, accepted=f"an agent id: {NAME_FORM}")
    chosen = raw.get("default", False)
    if not isinstance(chosen, bool):
        problem = f"is {describe_value(chosen)}"
        raise ConfigError(f"{at}.default", problem, accepted="true or false")
    return _Entry(id=name, at=at, raw=raw, chosen=chosen, of=of)


def _check_id(entry: _Entry, known: dict[str, str]) -> None:
    """Refuse an id that would share a file with another, also where case does not matter."""
    folded = unicodedata.normalize("NFC", entry.id).casefold()
    if (first := known.setdefault(folded, entry.at)) != entry.at:
        problem = f"{entry.id!r} is the id of {first} already"
        raise ConfigError(f"{entry.at}.id", problem, accepted="an id of its own")


def _agent(
    entry: _Entry | None,
    files: Sequence[AgentsOfFile],
    *,
    file: ConfigLayer,
    flags: ConfigLayer,
    context: ReadContext,
    usual: Path,
) -> AgentConfig:
    at = entry.at if entry else DEFAULTS
    own = _own_search(entry, file.search.get("enabled")) if entry else {}
    own = _with_shared_paths(own, file.search.get(_EXTRA_PATHS))
    stated = _own_workspace(entry) if entry else None
    search = {**file.search, **own, **flags.search}
    named = flags.workspace or stated or file.workspace
    settings = AgentSettings(
        id=entry.id if entry else TEMPLATE,
        workspace=cast("Path", named.value) if named else usual,
        workspace_origin=named.origin if named else "default",
        workspace_key=named.key if named else f"{at}.workspace",
        search=_settled(build_block(SearchSettings, search), search, context),
        sandbox=build_block(SandboxSettings, _sandbox(files, entry)),
        at=at,
        given=frozenset(search),
    )
    agent = AgentConfig(
        settings=_named(settings, entry.id) if entry else settings,
        search=search,
        own=frozenset(own),
        workspace=named,
        chosen=entry is not None and entry.chosen,
    )
    wrong = next((given for given in search.values() if given.asks_nobody), None)
    return without_provider(agent, wrong.key) if wrong is not None else agent


def without_provider(agent: AgentConfig, key: str) -> AgentConfig:
    """Return an agent that asks no provider of vectors.

    Args:
        agent: The agent.
        key: What is wrong, so that nobody knows what would be sent where.
    """
    nobody = GivenValue(value="none", key=key, origin="file")
    search = replace(agent.settings.search, provider="none", fallback="none")
    return replace(
        agent,
        settings=replace(agent.settings, search=search),
        search={**agent.search, "provider": nobody, "fallback": nobody},
    )


def _sandbox(
    files: Iterable[AgentsOfFile], entry: _Entry | None
) -> dict[str, GivenValue]:
    """Return what is given of `sandbox`: for every agent, and over it for this one."""
    places = [
        (object_at(each.raw, "defaults", DEFAULTS), DEFAULTS, each) for each in files
    ]
    while entry is not None:
        places.append((dict(entry.raw), entry.at, entry.of))
        entry = entry.over
    given: dict[str, GivenValue] = {}
    for raw, at, of in places:
        if raw.get("sandbox") is not None:
            given |= read_block(
                SandboxSettings,
                raw["sandbox"],
                at=f"{at}.sandbox",
                context=of.context,
                origin=of.origin,
            )
    return given


def _with_shared_paths(
    own: dict[str, GivenValue], shared: GivenValue | None
) -> dict[str, GivenValue]:
    """Put the extra paths of all agents before those of one, as OpenClaw does."""
    mine = own.get(_EXTRA_PATHS)
    if mine is None or shared is None or mine.written or shared.written:
        return own
    first, then = shared.value, mine.value
    if not (isinstance(first, tuple) and isinstance(then, tuple)):
        return own
    paths = cast("tuple[object, ...]", (*first, *then))
    return {**own, _EXTRA_PATHS: replace(mine, value=tuple(dict.fromkeys(paths)))}


def _own_search(
    entry: _Entry, usual: GivenValue | None = None
) -> dict[str, GivenValue]:
    """Return what an entry gives below its `memorySearch`, in each file.

    Args:
        entry: The entry.
        usual: The `enabled` of the defaults: what is off is not switched on by the file
            that is laid over.
    """
    of, raw, at = entry.of, entry.raw, entry.at
    memory = object_at(raw, "memory", f"{at}.memory")
    own = {
        **read_search(memory, "search", f"{at}.memory", of.context, of.origin),
        **read_search(raw, "memorySearch", at, of.context, of.origin),
    }
    if entry.over is None:
        return own
    over = _own_search(entry.over)
    off = own.get("enabled", usual)
    stays_off = {} if off is None or off.value else {"enabled": off}
    return {**own, **over, **stays_off}


def _own_workspace(entry: _Entry) -> GivenValue | None:
    over = _own_workspace(entry.over) if entry.over else None
    of = entry.of
    return over or read_workspace(entry.raw, entry.at, of.context, of.origin)


def _named(settings: AgentSettings, agent_id: str) -> AgentSettings:
    """Give the settings an id, also in the name of the index file."""
    path = Path(str(settings.search.store.path).replace(TEMPLATE, agent_id))
    return replace(settings, id=agent_id, search=_stored(settings.search, path))


def _stored(search: SearchSettings, path: Path) -> SearchSettings:
    return replace(search, store=replace(search.store, path=path))


def _apart(agents: list[AgentConfig], context: ReadContext) -> Iterator[AgentConfig]:
    """Give agents that share an index file by their settings one each."""
    taken: set[Path] = set()
    for agent in agents:
        settings, path = agent.settings, agent.settings.search.store.path
        if path in taken:
            own = path.with_name(f"{path.stem}-{settings.id}{path.suffix}")
            context.warnings.append(
                f"{settings.at}: several agents share the index file {path}; "
                f"{settings.id} uses {own.name} (put {TEMPLATE} into store.path)"
            )
            path, search = own, _stored(settings.search, own)
            agent = replace(agent, settings=replace(settings, search=search))
        taken.add(path)
        yield agent


def _settled(
    search: SearchSettings, given_values: Mapping[str, GivenValue], context: ReadContext
) -> SearchSettings:
    """Apply the rules that tie settings to each other."""
    provider = search.provider
    hybrid = _weighed(search.query.hybrid)
    path = str(search.store.path).replace("<state>", str(context.state))
    settled = replace(
        search,
        provider=None if provider and provider.lower() == "auto" else provider,
        chunking=_overlapping(search.chunking, given_values, context),
        query=replace(search.query, hybrid=hybrid),
    )
    return _stored(settled, Path(path))


def _weighed(hybrid: HybridSettings) -> HybridSettings:
    vector = min(max(hybrid.vector_weight, 0.0), 1.0)
    text = min(max(hybrid.text_weight, 0.0), 1.0)
    if vector + text == 0:
        usual = HybridSettings()
        vector, text = usual.vector_weight, usual.text_weight
    if vector + text != 1.0:
        vector = vector / (vector + text)
        text = 1.0 - vector
    return replace(hybrid, vector_weight=vector, text_weight=text)


def _overlapping(
    chunking: ChunkingSettings,
    given_values: Mapping[str, GivenValue],
    context: ReadContext,
) -> ChunkingSettings:
    """Keep the overlap below the passage; one that nobody set gives way."""
    given = given_values.get("chunking.overlap")
    overlap = chunking.overlap
    if given is not None and overlap >= chunking.tokens:
        error = ConfigError(
            given.key,
            f"is {overlap}, not below tokens, {chunking.tokens}",
            accepted="fewer tokens than in chunking.tokens",
        )
        if given.origin == "flag":
            raise error
        warn_of(error, context)
        given, overlap = None, ChunkingSettings().overlap
    if given is None:
        overlap = min(overlap, chunking.tokens // 5)
    return replace(chunking, overlap=overlap)
