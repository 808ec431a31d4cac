"""Every key below `memory`, with its type, its default, and what it does.

`memory.search` is in `schema`: it is a second name of the agents' `memorySearch`. What
counts in the place of a wrong value is told there.
"""

from pathlib import Path
from typing import Annotated, ClassVar, Final

from notewell.config.address_types import database_address, database_name
from notewell.config.blocks import ConfigBlock, list_of
from notewell.config.value_types import (
    boolean,
    file_path,
    integer,
    number,
    one_of,
    plain_text,
    program,
    session_key_prefix,
    time_span,
    workspace_path,
)
from notewell.config.values import IfWrong, Secret


class ScopeMatch(ConfigBlock, frozen=True, kw_only=True):
    """What a rule applies to; what is unset matches everything."""

    exact: ClassVar[bool] = True

    channel: Annotated[str | None, plain_text(), "The channel, such as `discord`."] = (
        None
    )
    chat_type: Annotated[
        str | None,
        one_of("direct", "group", "channel", also={"dm": "direct"}),
        "The kind of chat.",
    ] = None
    key_prefix: Annotated[
        str | None,
        session_key_prefix(),
        "Start of the session key without `agent:<id>:`.",
    ] = None
    raw_key_prefix: Annotated[str | None, plain_text(), "Start of the session key."] = (
        None
    )


class ScopeRule(ConfigBlock, frozen=True, kw_only=True):
    """One rule; the first that matches decides."""

    exact: ClassVar[bool] = True

    action: Annotated[str, one_of("allow", "deny"), "What happens."]
    match: ScopeMatch = ScopeMatch()


_NOBODY: Final = ScopeRule(action="deny")
"""What counts in the place of a wrong rule: whom it was meant for is not known."""


class ScopeSettings(ConfigBlock, frozen=True, kw_only=True):
    """Which chats may search."""

    exact: ClassVar[bool] = True

    default: Annotated[
        str,
        one_of("allow", "deny").or_else("deny"),
        "What happens when no rule matches.",
    ] = "deny"
    rules: Annotated[
        tuple[ScopeRule, ...],
        list_of(ScopeRule, instead=_NOBODY).or_else((_NOBODY,)),
        "The first that matches decides.",
    ] = (ScopeRule(action="allow", match=ScopeMatch(chat_type="direct")),)


class QmdPath(ConfigBlock, frozen=True, kw_only=True):
    """A folder that QMD indexes as well."""

    exact: ClassVar[bool] = True

    path: Annotated[str, workspace_path(), "The folder, or one note."]
    name: Annotated[str | None, plain_text(), "Name of its collection."] = None
    pattern: Annotated[str | None, plain_text(), "Which files, as a glob."] = None


class QmdSessions(ConfigBlock, frozen=True, kw_only=True):
    """Session transcripts in QMD."""

    enabled: Annotated[bool, boolean(), "Export transcripts for QMD."] = False
    retention_days: Annotated[
        float | None,
        number(0, 1e6).or_else(0.0),
        "Transcripts older than this are left out; 0: none.",
    ] = None
    export_dir: Annotated[Path | None, file_path(), "Where exports are written."] = None


class QmdUpdate(ConfigBlock, frozen=True, kw_only=True):
    """When QMD is brought up to date. Durations are in seconds."""

    elsewhere: ClassVar[frozenset[str]] = frozenset({"startup", "startupDelayMs"})

    interval: Annotated[float, time_span(), "Between two updates."] = 300.0
    debounce_ms: Annotated[
        int, integer(0, 86_400_000), "Quiet time after a change."
    ] = 15_000
    on_boot: Annotated[bool, boolean(), "Update when a server starts."] = True
    wait_for_boot_sync: Annotated[bool, boolean(), "Wait for that update."] = False
    embed_interval: Annotated[float, time_span(), "Between two embedding runs."] = (
        3600.0
    )
    command_timeout_ms: Annotated[
        int, integer(1, 86_400_000), "Limit for small commands."
    ] = 30_000
    update_timeout_ms: Annotated[
        int, integer(1, 86_400_000), "Limit for `qmd update`."
    ] = 120_000
    embed_timeout_ms: Annotated[
        int, integer(1, 86_400_000), "Limit for `qmd embed`."
    ] = 120_000


class QmdLimits(ConfigBlock, frozen=True, kw_only=True):
    """Bounds of an answer from QMD."""

    max_results: Annotated[int, integer(1, 10_000), "Most results in an answer."] = 6
    max_snippet_chars: Annotated[
        int, integer(1, 1_000_000), "Most characters of a snippet."
    ] = 700
    max_injected_chars: Annotated[
        int, integer(1, 100_000_000), "Most characters given to an agent."
    ] = 4000
    timeout_ms: Annotated[int, integer(1, 86_400_000), "Limit for a search."] = 4000


class QmdSettings(ConfigBlock, frozen=True, kw_only=True):
    """Everything under `memory.qmd`."""

    elsewhere: ClassVar[frozenset[str]] = frozenset(
        {"mcporter", "rerank", "searchTool"}
    )

    command: Annotated[
        tuple[str, ...], program().or_else(()), "The program, absolute or on PATH."
    ] = ("qmd",)
    search_mode: Annotated[
        str, one_of("search", "vsearch", "query"), "Words, vectors, or everything."
    ] = "search"
    transport: Annotated[
        str, one_of("auto", "cli", "daemon"), "A process per search, or one that stays."
    ] = "auto"
    include_default_memory: Annotated[
        bool, boolean().or_else(False), "Index `MEMORY.md` and `memory/**/*.md`."
    ] = True
    paths: Annotated[tuple[QmdPath, ...], list_of(QmdPath), "More folders."] = ()
    sessions: QmdSessions = QmdSessions()
    update: QmdUpdate = QmdUpdate()
    limits: QmdLimits = QmdLimits()
    scope: ScopeSettings = ScopeSettings()


class TranscriptSource(ConfigBlock, frozen=True, kw_only=True):
    """Another program's transcripts of one project, as a source of one workspace."""

    exact: ClassVar[bool] = True

    program: Annotated[str, one_of("claude-code", "codex"), "Whose they are."]
    workspace: Annotated[Path, file_path(), "The folder of notes that gets them."]
    project: Annotated[
        Path | None,
        file_path(),
        "The folder in which the sessions were begun; unset: the workspace.",
    ] = None
    folder: Annotated[
        Path | None,
        file_path(),
        "Where the program keeps its files; unset: `~/.claude` or `~/.codex`.",
    ] = None
    remote: Annotated[
        bool,
        boolean().or_else(False),
        "Their text may be sent to a provider on another machine.",
    ] = False


class PostgresSettings(ConfigBlock, frozen=True, kw_only=True):
    """Everything under `memory.postgres`."""

    dsn: Annotated[
        Secret | None,
        database_address().or_else(Secret("")),
        "The server; unset: a private one below the state folder.",
    ] = None
    read_dsn: Annotated[
        Secret | None,
        database_address(),
        "A replica that answers searches; unset: the server itself.",
    ] = None
    schema: Annotated[str, database_name(), "The schema with the tables."] = "notewell"
    timeout_ms: Annotated[
        int, integer(1, 86_400_000), "Limit for a statement of a search."
    ] = 4000
    connect_timeout_ms: Annotated[
        int, integer(1, 86_400_000), "Limit for a connection."
    ] = 2000
    pool_size: Annotated[int, integer(1, 1000), "Most connections of a process."] = 4


class MemorySettings(ConfigBlock, frozen=True, kw_only=True):
    """Everything under `memory`; `search` is read by itself."""

    elsewhere: ClassVar[frozenset[str]] = frozenset({"search"})

    enabled: Annotated[
        bool | None,
        boolean().or_else(IfWrong.REFUSE),
        "false switches memory off, wherever it stands; true in `notewell.json5` outweighs"
        ' `plugins.slots.memory: "none"`.',
    ] = None
    backend: Annotated[
        str,
        plain_text('"builtin", "qmd", "postgres" or the name of a plugin').or_else(
            IfWrong.REFUSE
        ),
        "The search engine.",
    ] = "builtin"
    citations: Annotated[
        str,
        one_of("auto", "on", "off"),
        "Append the source to snippets for an agent; auto: in direct chats.",
    ] = "auto"
    fallback: Annotated[
        str,
        one_of("builtin", "none").or_else("none"),
        "What stands in when the engine fails.",
    ] = "builtin"
    offline: Annotated[
        bool,
        boolean().or_else(True),
        "Open no connection but to this machine; also `NOTEWELL_OFFLINE=1`.",
    ] = False
    qmd: QmdSettings = QmdSettings()
    transcripts: Annotated[
        tuple[TranscriptSource, ...],
        list_of(TranscriptSource),
        "Transcripts of Claude Code and Codex, each of one project.",
    ] = ()
    postgres: PostgresSettings = PostgresSettings()
