"""The status of one agent's memory: the disk, the engine, and the providers of vectors.

A provider is tried: does it answer, how fast, and how long are its vectors?
"""

import time
from typing import Final

from notewell.adapters.embeddings.base import Provider, ProviderChoice
from notewell.config import unused_settings
from notewell.errors import EmbeddingError
from notewell.memory.setup import Setup
from notewell.private_socket import server_status, sockets
from notewell.types import IndexStatus, ProviderProbe, Source, StatusReport
from notewell.workspace import WorkspaceScan

_SOURCES: Final[tuple[Source, ...]] = ("memory", "sessions")

_TEXT: Final = "notewell"
"""What is embedded to try a provider; nothing of a note is."""

_NO_INDEX: Final = IndexStatus(location="", bytes=0, files=0, chunks=0, pending=0)


def status_report(
    setup: Setup,
    scanned: WorkspaceScan,
    index: IndexStatus | None,
    *,
    backend: str,
    problems: tuple[str, ...],
) -> StatusReport:
    """Join what was found on disk with what the engine says of its index."""
    settings, agent = setup.settings, setup.agent
    index = index or _NO_INDEX
    return StatusReport(
        agent=agent.id,
        workspace=str(setup.workspace.root),
        enabled=setup.enabled,
        switch=setup.switch,
        key_hint=setup.embedding.hint if setup.enabled else "",
        backend=index.backend or backend,
        requested_backend=settings.memory.backend,
        requested_provider=setup.requested_provider,
        sources=tuple(name for name in _SOURCES if name in setup.sources),
        disk_files=len(scanned.notes),
        disk_bytes=scanned.bytes,
        index=index,
        extra_paths=scanned.extra_paths,
        skipped=(*scanned.skipped, *index.skipped),
        ignored=scanned.ignored,
        sockets=_sockets(setup),
        fallbacks=index.fallbacks,
        warnings=(
            *settings.warnings,
            *setup.unused_sources,
            *setup.policy.remarks,
            *unused_settings(settings, agent),
            *setup.embedding.problems,
            *setup.embedding.warnings,
            *problems,
            *index.warnings,
        ),
    )


def _sockets(setup: Setup) -> dict[str, int]:
    """Return the sockets by which commands may ask an open engine for this memory."""
    here = {"workspace": str(setup.workspace.root), "agent": setup.agent.id}
    found: dict[str, int] = {}
    for path in sockets(setup.environ):
        status = server_status(path)
        if status and here.items() <= status.items():
            found[path] = int(str(status["served"]))
    return found


def probe_providers(
    choice: ProviderChoice, *, embed: bool
) -> tuple[ProviderProbe, ...]:
    """Try each provider that an agent has.

    Args:
        choice: The providers.
        embed: Embed one word; else only see whether what a provider needs is here.
    """
    return tuple(
        _probe(provider, embed=embed, stands_in=provider is not choice.first)
        for provider in choice.providers
    )


def _probe(provider: Provider, *, embed: bool, stands_in: bool) -> ProviderProbe:
    began = time.perf_counter()
    model, dimension, problem = None, None, None
    try:
        embedder = provider.open()
        try:
            model = embedder.model
            if embed:
                vectors = embedder.embed([_TEXT], "query")
                dimension = vectors.shape[1]
                if vectors[0, 0] != vectors[0, 0]:  # NaN: it gave no usable vector
                    problem = (
                        f"{provider.name} gave no usable vector; try another model"
                    )
        finally:
            embedder.close()
    except EmbeddingError as error:
        problem = error.with_remedy
    return ProviderProbe(
        provider=provider.name,
        model=model,
        stands_in=stands_in,
        remote=provider.remote,
        dimension=dimension,
        took_ms=(time.perf_counter() - began) * 1000,
        problem=problem,
    )
