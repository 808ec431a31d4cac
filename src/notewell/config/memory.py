"""The settings under `memory`, `compaction` and `models.providers`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar

from notewell.config.blocks import Block, records
from notewell.config.quantities import duration, number, size, switch, whole
from notewell.config.secret import Secret
from notewell.config.texts import (
    endpoint,
    header_map,
    location,
    one_of,
    place_in_workspace,
    program,
    public,
    secret,
    start_of_key,
    text,
)


class ScopeMatch(Block, frozen=True, kw_only=True):
    """What a rule applies to; what is unset matches everything."""

    channel: Annotated[str | None, text(), "The channel, such as `discord`."] = None
    chat_type: Annotated[
        str | None,
        one_of("direct", "group", "channel", also={"dm": "direct"}),
        "The kind of chat.",
    ] = None
    key_prefix: Annotated[
        str | None, start_of_key(), "Start of the session key without `agent:<id>:`."
    ] = None
    raw_key_prefix: Annotated[str | None, text(), "Start of the session key."] = None


class ScopeRule(Block, frozen=True, kw_only=True):
    """One rule; the first that matches decides."""

    action: Annotated[str, one_of("allow", "deny"), "What happens."]
    match: ScopeMatch = ScopeMatch()


class ScopeSettings(Block, frozen=True, kw_only=True):
    """Which chats may search."""

    default: Annotated[
        str, one_of("allow", "deny"), "What happens when no rule matches."
    ] = "deny"
    rules: Annotated[
        tuple[ScopeRule, ...], records(ScopeRule), "The first that matches decides."
    ] = (ScopeRule(action="allow", match=ScopeMatch(chat_type="direct")),)


class QmdPath(Block, frozen=True, kw_only=True):
    """A folder that QMD indexes as well."""

    path: Annotated[str, place_in_workspace(), "The folder, or one note."]
    name: Annotated[str | None, text(), "Name of its collection."] = None
    pattern: Annotated[str | None, text(), "Which files, as a glob."] = None


class QmdSessions(Block, frozen=True, kw_only=True):
    """Session transcripts in QMD."""

    enabled: Annotated[bool, switch(), "Export transcripts for QMD."] = False
    retention_days: Annotated[
        float | None,
        number(0, 1e6),
        "Transcripts older than this are left out; 0: none.",
    ] = None
    export_dir: Annotated[Path | None, location(), "Where exports are written."] = None


class QmdUpdate(Block, frozen=True, kw_only=True):
    """When QMD is brought up to date. Durations are in seconds."""

    elsewhere: ClassVar[frozenset[str]] = frozenset({"startup", "startupDelayMs"})

    interval: Annotated[float, duration(), "Between two updates."] = 300.0
    debounce_ms: Annotated[int, whole(0, 86_400_000), "Quiet time after a change."] = (
        15_000
    )
    on_boot: Annotated[bool, switch(), "Update when a server starts."] = True
    wait_for_boot_sync: Annotated[bool, switch(), "Wait for that update."] = False
    embed_interval: Annotated[float, duration(), "Between two embedding runs."] = 3600.0
    command_timeout_ms: Annotated[
        int, whole(1, 86_400_000), "Limit for small commands."
    ] = 30_000
    update_timeout_ms: Annotated[
        int, whole(1, 86_400_000), "Limit for `qmd update`."
    ] = 120_000
    embed_timeout_ms: Annotated[int, whole(1, 86_400_000), "Limit for `qmd embed`."] = (
        120_000
    )


class QmdLimits(Block, frozen=True, kw_only=True):
    """Bounds of an answer from QMD."""

    max_results: Annotated[int, whole(1, 10_000), "Most results in an answer."] = 6
    max_snippet_chars: Annotated[
        int, whole(1, 1_000_000), "Most characters of a snippet."
    ] = 700
    max_injected_chars: Annotated[
        int, whole(1, 100_000_000), "Most characters given to an agent."
    ] = 4000
    timeout_ms: Annotated[int, whole(1, 86_400_000), "Limit for a search."] = 4000


class QmdSettings(Block, frozen=True, kw_only=True):
    """Everything under `memory.qmd`."""

    elsewhere: ClassVar[frozenset[str]] = frozenset(
        {"mcporter", "rerank", "searchTool"}
    )

    command: Annotated[
        tuple[str, ...], program(), "The program, absolute or on PATH."
    ] = ("qmd",)
    search_mode: Annotated[
        str, one_of("search", "vsearch", "query"), "Words, vectors, or everything."
    ] = "search"
    transport: Annotated[
        str,
        one_of("auto", "cli", "daemon"),
        "A process per search, or one that stays.",
    ] = "auto"
    include_default_memory: Annotated[
        bool, switch(), "Index `MEMORY.md` and `memory/**/*.md`."
    ] = True
    paths: Annotated[tuple[QmdPath, ...], records(QmdPath), "More folders."] = ()
    sessions: QmdSessions = QmdSessions()
    update: QmdUpdate = QmdUpdate()
    limits: QmdLimits = QmdLimits()
    scope: ScopeSettings = ScopeSettings()


class MemorySettings(Block, frozen=True, kw_only=True):
    """Everything under `memory`; `search` is read by itself."""

    elsewhere: ClassVar[frozenset[str]] = frozenset({"search"})

    backend: Annotated[
        str, text('"builtin", "qmd" or the name of a plugin'), "The search engine."
    ] = "builtin"
    citations: Annotated[
        str,
        one_of("auto", "on", "off"),
        "Append the source to snippets for an agent; auto: in direct chats.",
    ] = "auto"
    fallback: Annotated[
        str, one_of("builtin", "none"), "What stands in when the engine fails."
    ] = "builtin"
    offline: Annotated[
        bool,
        switch(),
        "Open no connection but to this machine; also `NOTEWELL_OFFLINE=1`.",
    ] = False
    qmd: QmdSettings = QmdSettings()


class MemoryFlushSettings(Block, frozen=True, kw_only=True):
    """The turn before a compaction, in which an agent writes down what matters."""

    elsewhere: ClassVar[frozenset[str]] = frozenset({"model"})

    enabled: Annotated[bool, switch(), "Flush before a compaction."] = True
    soft_threshold_tokens: Annotated[
        int, whole(0), "Flush so many tokens before the reserve is touched."
    ] = 4000
    force_flush_transcript_bytes: Annotated[
        int | None, size(), "Flush when a transcript has grown to this."
    ] = None
    system_prompt: Annotated[
        str | None, text(), "Instruction for the flush; unset: our own."
    ] = None
    prompt: Annotated[str | None, text(), "Its message; unset: our own."] = None


class CompactionSettings(Block, frozen=True, kw_only=True):
    """What we use of `agents.defaults.compaction`; the rest is OpenClaw's."""

    others: ClassVar[bool] = True

    reserve_tokens_floor: Annotated[
        int, whole(0), "Tokens kept free for the compaction itself."
    ] = 20_000
    memory_flush: MemoryFlushSettings = MemoryFlushSettings()


class ProviderSettings(Block, frozen=True, kw_only=True):
    """What we use of `models.providers.<id>`; the rest is OpenClaw's."""

    others: ClassVar[bool] = True

    api_key: Annotated[Secret | None, secret(), "Key of the provider."] = None
    base_url: Annotated[str | None, endpoint(), "Address of the provider."] = None
    headers: Annotated[Mapping[str, Secret], header_map(), "Headers sent along."] = {}
    api: Annotated[str | None, text(), "How the provider is spoken to."] = None

    def __repr__(self) -> str:
        return f"ProviderSettings(base_url={public(self.base_url)!r}, …)"
