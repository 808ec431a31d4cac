"""The settings under `memorySearch`: what is indexed and how it is ranked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Final

from notewell.config.blocks import Block
from notewell.config.quantities import number, switch, whole
from notewell.config.secret import Secret
from notewell.config.texts import (
    endpoint,
    header_map,
    index_location,
    location,
    locations,
    model_location,
    public,
    secret,
    several_of,
    text,
)

LOCAL_MODEL: Final = (
    "hf:ggml-org/embeddinggemma-300M-GGUF/embeddinggemma-300M-Q8_0.gguf"
)


class MmrSettings(Block, frozen=True, kw_only=True):
    """Maximal marginal relevance."""

    enabled: Annotated[
        bool, switch(), "Prefer results that differ from each other."
    ] = False
    lambda_: Annotated[
        float, number(0, 1), "1 is pure relevance, 0 is pure difference."
    ] = 0.7


class TemporalDecaySettings(Block, frozen=True, kw_only=True):
    """How the scores of dated notes fade."""

    enabled: Annotated[
        bool, switch(), "Let dated notes lose score as they grow old."
    ] = False
    half_life_days: Annotated[
        float, number(0.01, 1e6), "After so many days a score is halved."
    ] = 30.0


class HybridSettings(Block, frozen=True, kw_only=True):
    """How vectors and words share the ranking; the weights sum to 1."""

    enabled: Annotated[
        bool, switch(), "Rank by vectors and words together; false: by vectors."
    ] = True
    vector_weight: Annotated[
        float, number(), "Weight of the vectors; clamped to [0, 1], then both sum to 1."
    ] = 0.7
    text_weight: Annotated[
        float, number(), "Weight of the words; both 0 means the defaults."
    ] = 0.3
    candidate_multiplier: Annotated[
        int, whole(1, 1000), "Candidates of each kind, per result that is asked for."
    ] = 4
    mmr: MmrSettings = MmrSettings()
    temporal_decay: TemporalDecaySettings = TemporalDecaySettings()


class QuerySettings(Block, frozen=True, kw_only=True):
    """How many results, and from which score on."""

    max_results: Annotated[int, whole(1, 10_000), "Most results in an answer."] = 6
    min_score: Annotated[
        float | None,
        number(0, 1),
        "Lowest score of hits without a keyword match; unset: what fits the model.",
    ] = None
    hybrid: HybridSettings = HybridSettings()


class WindowSettings(Block, frozen=True, kw_only=True):
    """The parts of a passage that have a vector each; the best one counts."""

    tokens: Annotated[
        int | None,
        whole(0, 1_000_000),
        "Tokens in a window, about; 0: a vector for the whole passage; unset: 120, and"
        " 0 for providers elsewhere, where windows cost half as much again.",
    ] = None
    overlap: Annotated[
        int, whole(0, 1_000_000), "Tokens that neighbours share, at most half."
    ] = 40


class ChunkingSettings(Block, frozen=True, kw_only=True):
    """How notes are cut into passages; `overlap` is below `tokens`."""

    tokens: Annotated[int, whole(16, 1_000_000), "Tokens in a passage, about."] = 400
    overlap: Annotated[
        int,
        whole(0, 1_000_000),
        "Tokens that neighbours share, fewer than `tokens`; unset: at most a fifth.",
    ] = 80
    window: WindowSettings = WindowSettings()


class LocalSettings(Block, frozen=True, kw_only=True):
    """The provider `local`."""

    elsewhere: ClassVar[frozenset[str]] = frozenset({"contextSize"})

    model_path: Annotated[
        str, model_location(), "The model's file, or where to download it from."
    ] = LOCAL_MODEL
    model_cache_dir: Annotated[
        Path | None,
        location(),
        "Where GGUF files are kept; unset: `~/.node-llama-cpp/models`, as OpenClaw.",
    ] = None

    def __repr__(self) -> str:
        return f"LocalSettings(model_path={public(self.model_path)!r}, …)"


class BatchSettings(Block, frozen=True, kw_only=True):
    """The batch interface of a remote provider."""

    enabled: Annotated[bool, switch(), "Let `index` use the batch interface."] = True
    wait: Annotated[bool, switch(), "Wait until a batch is done."] = True
    concurrency: Annotated[int, whole(1, 1000), "Batches at the same time."] = 2
    poll_interval_ms: Annotated[
        int, whole(1, 86_400_000), "Milliseconds between two looks at a batch."
    ] = 2000
    timeout_minutes: Annotated[
        float, number(0.01, 1e6), "Give a batch up after so many minutes."
    ] = 60.0


class RemoteSettings(Block, frozen=True, kw_only=True):
    """A provider's address and key; these beat `models.providers`."""

    elsewhere: ClassVar[frozenset[str]] = frozenset({"nonBatchConcurrency"})

    base_url: Annotated[
        str | None, endpoint(), "Address of the provider; unset: its own."
    ] = None
    api_key: Annotated[Secret | None, secret(), "Key of the provider."] = None
    headers: Annotated[
        Mapping[str, Secret], header_map(), "Headers that are sent along; these win."
    ] = {}
    batch: BatchSettings = BatchSettings()

    def __repr__(self) -> str:
        return f"RemoteSettings(base_url={public(self.base_url)!r}, …)"


class ExperimentalSettings(Block, frozen=True, kw_only=True):
    """Switches that OpenClaw calls experimental."""

    session_memory: Annotated[bool, switch(), "Index session transcripts."] = False


class CacheSettings(Block, frozen=True, kw_only=True):
    """The cache of vectors."""

    enabled: Annotated[bool, switch(), "Keep vectors of text that is gone."] = True
    max_entries: Annotated[
        int, whole(0, 1_000_000_000), "Vectors kept that no passage uses."
    ] = 50_000


class VectorSettings(Block, frozen=True, kw_only=True):
    """The vector index."""

    enabled: Annotated[
        bool,
        switch(),
        "Search vectors in the database, by sqlite-vec; false: in the process.",
    ] = True
    extension_path: Annotated[
        Path | None, location(), "sqlite-vec's file; unset: the one that is installed."
    ] = None


class StoreSettings(Block, frozen=True, kw_only=True):
    """Where the index lives. In an AgentSettings `path` is absolute and filled in."""

    elsewhere: ClassVar[frozenset[str]] = frozenset({"driver", "fts"})

    path: Annotated[Path, index_location(), "The index file of an agent."] = Path(
        "<state>/memory/{agentId}.sqlite"
    )
    vector: VectorSettings = VectorSettings()


class SessionSyncSettings(Block, frozen=True, kw_only=True):
    """When a growing transcript is indexed again."""

    delta_bytes: Annotated[int, whole(0), "After so many new bytes."] = 100_000
    delta_messages: Annotated[int, whole(0), "After so many new messages."] = 50


class SyncSettings(Block, frozen=True, kw_only=True):
    """When the index is brought up to date."""

    elsewhere: ClassVar[frozenset[str]] = frozenset({"embeddingBatchTimeoutSeconds"})

    on_session_start: Annotated[bool, switch(), "When a session begins."] = True
    on_search: Annotated[bool, switch(), "After a search has been answered."] = True
    watch: Annotated[bool, switch(), "When a file changes, in a server."] = True
    watch_debounce_ms: Annotated[
        int, whole(0, 86_400_000), "Quiet milliseconds after a change."
    ] = 1500
    interval_minutes: Annotated[
        float, number(0, 1e6), "Every so many minutes, in a server; 0 is off."
    ] = 0.0
    detach: Annotated[
        bool,
        switch(),
        "After a command's answer one process may go on with what two seconds left.",
    ] = True
    sessions: SessionSyncSettings = SessionSyncSettings()


class SearchSettings(Block, frozen=True, kw_only=True):
    """Everything under `memorySearch`."""

    elsewhere: ClassVar[frozenset[str]] = frozenset(
        {
            "multimodal",
            "qmd",
            "rememberAcrossConversations",
        }
    )

    enabled: Annotated[bool, switch(), "false removes the memory tools."] = True
    provider: Annotated[
        str | None,
        text("the name of an embedding provider"),
        'What turns text into vectors; unset or "auto": the first that is set up, else'
        ' "static", which comes with the install; "none": words alone.',
    ] = None
    model: Annotated[str | None, text(), "Unset: the provider's usual model."] = None
    fallback: Annotated[
        str,
        text('the name of an embedding provider, or "none"'),
        'The provider that stands in when the chosen one fails; behind it "static", '
        'unless this is set to "none".',
    ] = "none"
    local: LocalSettings = LocalSettings()
    remote: RemoteSettings = RemoteSettings()
    output_dimensionality: Annotated[
        int | None, whole(1, 65_536), "Length of the vectors; unset: the model's."
    ] = None
    input_type: Annotated[
        str | None, text(), "`input_type` for a server that speaks as OpenAI does."
    ] = None
    query_input_type: Annotated[
        str | None, text(), "The same for queries; unset: `inputType`."
    ] = None
    document_input_type: Annotated[
        str | None, text(), "The same for passages; unset: `inputType`."
    ] = None
    extra_paths: Annotated[
        tuple[str, ...],
        locations(),
        "More files and folders of notes, absolute or relative to the workspace.",
    ] = ()
    sources: Annotated[
        tuple[str, ...], several_of("memory", "sessions"), "What is searched."
    ] = ("memory",)
    experimental: ExperimentalSettings = ExperimentalSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    query: QuerySettings = QuerySettings()
    cache: CacheSettings = CacheSettings()
    store: StoreSettings = StoreSettings()
    sync: SyncSettings = SyncSettings()
