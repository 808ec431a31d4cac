"""Every key of ours, with its type, its default, and what it does.

A wrong value costs its key, but never falls open: `or_else` says what counts in the
place of one whose default would allow, send or write more than was meant.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Final

from notewell.config.address_types import (
    header_map,
    http_address,
    model_file,
    secret_text,
    sent,
    without_secrets,
)
from notewell.config.blocks import ConfigBlock
from notewell.config.value_types import (
    boolean,
    byte_size,
    day_path,
    file_path,
    index_path,
    integer,
    number,
    one_of,
    path_list,
    plain_text,
    several_of,
)
from notewell.config.values import IfWrong, Secret
from notewell.types import NarrowedPath

LOCAL_MODEL: Final = (
    "hf:ggml-org/embeddinggemma-300M-GGUF/embeddinggemma-300M-Q8_0.gguf"
)


class MmrSettings(ConfigBlock, frozen=True, kw_only=True):
    """Maximal marginal relevance."""

    enabled: Annotated[
        bool, boolean(), "Prefer results that differ from each other."
    ] = False
    lambda_: Annotated[
        float, number(0, 1), "1 is pure relevance, 0 is pure difference."
    ] = 0.7


class TemporalDecaySettings(ConfigBlock, frozen=True, kw_only=True):
    """How the scores of dated notes fade."""

    enabled: Annotated[
        bool, boolean(), "Let dated notes lose score as they grow old."
    ] = False
    half_life_days: Annotated[
        float, number(0.01, 1e6), "After so many days a score is halved."
    ] = 30.0


class HybridSettings(ConfigBlock, frozen=True, kw_only=True):
    """How vectors and words share the ranking; the weights sum to 1."""

    enabled: Annotated[
        bool, boolean(), "Rank by vectors and words together; false: by vectors."
    ] = True
    vector_weight: Annotated[
        float, number(), "Weight of the vectors; clamped to [0, 1], then both sum to 1."
    ] = 0.7
    text_weight: Annotated[
        float, number(), "Weight of the words; both 0 means the defaults."
    ] = 0.3
    candidate_multiplier: Annotated[
        int, integer(1, 1000), "Candidates of each kind, per result that is asked for."
    ] = 4
    mmr: MmrSettings = MmrSettings()
    temporal_decay: TemporalDecaySettings = TemporalDecaySettings()


class QuerySettings(ConfigBlock, frozen=True, kw_only=True):
    """How many results, and from which score on."""

    max_results: Annotated[int, integer(1, 10_000), "Most results in an answer."] = 6
    min_score: Annotated[
        float | None,
        number(0, 1),
        "Lowest score of hits without a keyword match; unset: what fits the model.",
    ] = None
    hybrid: HybridSettings = HybridSettings()


class WindowSettings(ConfigBlock, frozen=True, kw_only=True):
    """The parts of a passage that have a vector each; the best one counts."""

    tokens: Annotated[
        int | None,
        integer(0, 1_000_000),
        "Tokens in a window, about; 0: a vector for the whole passage; unset: 120, and"
        " 0 for providers elsewhere, where windows cost half as much again.",
    ] = None
    overlap: Annotated[
        int, integer(0, 1_000_000), "Tokens that neighbours share, at most half."
    ] = 40


class ChunkingSettings(ConfigBlock, frozen=True, kw_only=True):
    """How notes are cut into passages; `overlap` is below `tokens`."""

    tokens: Annotated[int, integer(16, 1_000_000), "Tokens in a passage, about."] = 400
    overlap: Annotated[
        int,
        integer(0, 1_000_000),
        "Tokens that neighbours share, fewer than `tokens`; unset: at most a fifth.",
    ] = 80
    window: WindowSettings = WindowSettings()


class LocalSettings(ConfigBlock, frozen=True, kw_only=True):
    """The provider `local`."""

    elsewhere: ClassVar[frozenset[str]] = frozenset({"contextSize"})

    model_path: Annotated[
        str, sent(model_file()), "The model's file, or where to download it from."
    ] = LOCAL_MODEL
    model_cache_dir: Annotated[
        Path | None,
        file_path(),
        "Where GGUF files are kept; unset: `~/.node-llama-cpp/models`, as OpenClaw.",
    ] = None

    def __repr__(self) -> str:
        return f"LocalSettings(model_path={without_secrets(self.model_path)!r}, …)"


class BatchSettings(ConfigBlock, frozen=True, kw_only=True):
    """The batch interface of a remote provider."""

    enabled: Annotated[
        bool, boolean().or_else(False), "Let `index` use the batch interface."
    ] = True
    wait: Annotated[bool, boolean(), "Wait until a batch is done."] = True
    concurrency: Annotated[int, integer(1, 1000), "Batches at the same time."] = 2
    poll_interval_ms: Annotated[
        int, integer(1, 86_400_000), "Milliseconds between two looks at a batch."
    ] = 2000
    timeout_minutes: Annotated[
        float, number(0.01, 1e6), "Give a batch up after so many minutes."
    ] = 60.0


class RemoteSettings(ConfigBlock, frozen=True, kw_only=True):
    """A provider's address and key; these beat `models.providers`."""

    elsewhere: ClassVar[frozenset[str]] = frozenset({"nonBatchConcurrency"})

    base_url: Annotated[
        str | None, sent(http_address()), "Address of the provider; unset: its own."
    ] = None
    api_key: Annotated[Secret | None, sent(secret_text()), "Key of the provider."] = (
        None
    )
    headers: Annotated[
        Mapping[str, Secret],
        sent(header_map()),
        "Headers that are sent along; these win.",
    ] = {}
    batch: BatchSettings = BatchSettings()

    def __repr__(self) -> str:
        return f"RemoteSettings(base_url={without_secrets(self.base_url)!r}, …)"


class ExperimentalSettings(ConfigBlock, frozen=True, kw_only=True):
    """Switches that OpenClaw calls experimental."""

    session_memory: Annotated[bool, boolean(), "Index session transcripts."] = False


class CacheSettings(ConfigBlock, frozen=True, kw_only=True):
    """The cache of vectors."""

    enabled: Annotated[
        bool, boolean().or_else(False), "Keep vectors of text that is gone."
    ] = True
    max_entries: Annotated[
        int,
        integer(0, 1_000_000_000).or_else(0),
        "Vectors kept that no passage uses.",
    ] = 50_000


class VectorSettings(ConfigBlock, frozen=True, kw_only=True):
    """The vector index."""

    enabled: Annotated[
        bool,
        boolean(),
        "Search vectors in the database, by sqlite-vec; false: in the process.",
    ] = True
    extension_path: Annotated[
        Path | None, file_path(), "sqlite-vec's file; unset: the one that is installed."
    ] = None


class StoreSettings(ConfigBlock, frozen=True, kw_only=True):
    """Where the index lives. In an AgentSettings `path` is absolute and filled in."""

    elsewhere: ClassVar[frozenset[str]] = frozenset({"driver", "fts"})

    path: Annotated[Path, index_path(), "The index file of an agent."] = Path(
        "<state>/memory/{agentId}.sqlite"
    )
    vector: VectorSettings = VectorSettings()


class SessionSyncSettings(ConfigBlock, frozen=True, kw_only=True):
    """When a growing transcript is indexed again."""

    delta_bytes: Annotated[int, integer(0), "After so many new bytes."] = 100_000
    delta_messages: Annotated[int, integer(0), "After so many new messages."] = 50


class SyncSettings(ConfigBlock, frozen=True, kw_only=True):
    """When the index is brought up to date."""

    elsewhere: ClassVar[frozenset[str]] = frozenset({"embeddingBatchTimeoutSeconds"})

    on_session_start: Annotated[bool, boolean(), "When a session begins."] = True
    on_search: Annotated[bool, boolean(), "After a search has been answered."] = True
    watch: Annotated[bool, boolean(), "When a file changes, in a server."] = True
    watch_debounce_ms: Annotated[
        int, integer(0, 86_400_000), "Quiet milliseconds after a change."
    ] = 1500
    interval_minutes: Annotated[
        float, number(0, 1e6), "Every so many minutes, in a server; 0 is off."
    ] = 0.0
    detach: Annotated[
        bool,
        boolean(),
        "After a command's answer one process may go on with the index.",
    ] = True
    sessions: SessionSyncSettings = SessionSyncSettings()


class SearchSettings(ConfigBlock, frozen=True, kw_only=True):
    """Everything under `memorySearch`."""

    elsewhere: ClassVar[frozenset[str]] = frozenset(
        {"multimodal", "qmd", "rememberAcrossConversations"}
    )

    enabled: Annotated[
        bool, boolean().or_else(IfWrong.REFUSE), "false removes the memory tools."
    ] = True
    provider: Annotated[
        str | None,
        sent(plain_text("the name of an embedding provider")),
        'What turns text into vectors; unset or "auto": the first that is set up, else'
        ' "static", which comes with the install; "none": words alone.',
    ] = None
    model: Annotated[
        str | None, sent(plain_text()), "Unset: the provider's usual model."
    ] = None
    fallback: Annotated[
        str,
        plain_text('the name of an embedding provider, or "none"'),
        'The provider that stands in when the chosen one fails; behind it "static", '
        'unless this is set to "none".',
    ] = "none"
    local: LocalSettings = LocalSettings()
    remote: RemoteSettings = RemoteSettings()
    output_dimensionality: Annotated[
        int | None,
        sent(integer(1, 65_536)),
        "Length of the vectors; unset: the model's.",
    ] = None
    input_type: Annotated[
        str | None,
        sent(plain_text()),
        "`input_type` for a server that speaks as OpenAI does.",
    ] = None
    query_input_type: Annotated[
        str | None, sent(plain_text()), "The same for queries; unset: `inputType`."
    ] = None
    document_input_type: Annotated[
        str | None, sent(plain_text()), "The same for passages; unset: `inputType`."
    ] = None
    extra_paths: Annotated[
        tuple[str | NarrowedPath, ...],
        path_list(),
        "More files and folders of notes, absolute or relative to the workspace;"
        " `{path, pattern}`: the files of a folder that a glob means.",
    ] = ()
    daily_notes: Annotated[
        str | None,
        day_path(),
        "Where daily notes are, in the folder of notes; unset: as Obsidian's or Logseq's"
        " settings say, else as most are named. `remember` needs it in a vault.",
    ] = None
    sources: Annotated[
        tuple[str, ...], several_of("memory", "sessions"), "What is searched."
    ] = ("memory",)
    experimental: ExperimentalSettings = ExperimentalSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    query: QuerySettings = QuerySettings()
    cache: CacheSettings = CacheSettings()
    store: StoreSettings = StoreSettings()
    sync: SyncSettings = SyncSettings()


class MemoryFlushSettings(ConfigBlock, frozen=True, kw_only=True):
    """The turn before a compaction, in which an agent writes down what matters."""

    elsewhere: ClassVar[frozenset[str]] = frozenset({"model"})

    enabled: Annotated[bool, boolean().or_else(False), "Flush before a compaction."] = (
        True
    )
    soft_threshold_tokens: Annotated[
        int, integer(0), "Flush so many tokens before the reserve is touched."
    ] = 4000
    force_flush_transcript_bytes: Annotated[
        int | None, byte_size(), "Flush when a transcript has grown to this."
    ] = None
    system_prompt: Annotated[
        str | None, plain_text(), "Instruction for the flush; unset: our own."
    ] = None
    prompt: Annotated[str | None, plain_text(), "Its message; unset: our own."] = None


class CompactionSettings(ConfigBlock, frozen=True, kw_only=True):
    """What we use of `agents.defaults.compaction`; the rest is OpenClaw's."""

    others: ClassVar[bool] = True

    reserve_tokens_floor: Annotated[
        int, integer(0), "Tokens kept free for the compaction itself."
    ] = 20_000
    memory_flush: MemoryFlushSettings = MemoryFlushSettings()


class SandboxSettings(ConfigBlock, frozen=True, kw_only=True):
    """What we use of an agent's `sandbox`; the rest is OpenClaw's."""

    others: ClassVar[bool] = True

    mode: Annotated[
        str | None,
        one_of("off", "non-main", "all").or_else("all"),
        "Which conversations are sandboxed.",
    ] = None
    workspace_access: Annotated[
        str | None,
        one_of("rw", "ro", "none").or_else("none"),
        "What a sandbox leaves of the workspace; a flush needs `rw`.",
    ] = None

    def access(self, *, main: bool) -> str:
        """Return what is left of the workspace in a conversation: `rw`, `ro` or `none`.

        Args:
            main: It is the agent's main one.
        """
        if self.mode == "off" or (self.mode == "non-main" and main):
            return "rw"
        return self.workspace_access or ("none" if self.mode else "rw")


class ProviderSettings(ConfigBlock, frozen=True, kw_only=True):
    """What we use of `models.providers.<id>`; the rest is OpenClaw's."""

    others: ClassVar[bool] = True

    api_key: Annotated[Secret | None, secret_text(), "Key of the provider."] = None
    base_url: Annotated[str | None, http_address(), "Address of the provider."] = None
    headers: Annotated[Mapping[str, Secret], header_map(), "Headers sent along."] = {}
    api: Annotated[str | None, plain_text(), "How the provider is spoken to."] = None

    def __repr__(self) -> str:
        return f"ProviderSettings(base_url={without_secrets(self.base_url)!r}, …)"
