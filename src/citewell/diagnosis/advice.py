"""Settings that are allowed and yet cost more than they seem to, or do less."""

from __future__ import annotations

import os
from collections.abc import Iterator

from citewell.diagnosis.findings import Finding, warning
from citewell.models.embedder import SPECIAL_TOKENS, Embedder
from citewell.settings import Chunking, Settings

COMPARED_SLOWLY = 100_000
"""Vectors of 384 numbers that two cores compare in some 100 ms."""
MANY_CANDIDATES = 1_000
MANY_CORES = 4


def settings(loaded: Settings) -> Iterator[Finding]:
    """The settings are readable and allowed, and none is slow whatever the index."""
    yield Finding(f"preset {loaded.preset}, language model {loaded.models.llm}")
    chunking, candidates = loaded.chunking, loaded.retrieval.candidates
    if candidates > MANY_CANDIDATES:
        yield warning(
            f"each search fetches {candidates:,} candidates from each leg",
            f"Set retrieval.candidates to {MANY_CANDIDATES:,} or less.",
        )
    if loaded.models.threads == 1 and (os.cpu_count() or 1) >= MANY_CORES:
        yield warning(
            f"the embedder runs on one of {os.cpu_count()} cores", "Remove models.threads: 0 takes all the cores."
        )
    if chunking.method == "semantic" or chunking.semantic_inside:
        yield warning(
            "indexing embeds every sentence to find where to cut, which takes several times as long",
            'Set chunking.method = "structure" and chunking.semantic_inside = false, unless you measured a gain.',
        )


def reading(chunking: Chunking, embedder: Embedder) -> Iterator[Finding]:
    """The embedder reads whole chunks."""
    identity, size = embedder.identity, chunking.size
    most = identity.max_tokens - SPECIAL_TOKENS
    if size > most:
        yield warning(
            f"chunks have up to {size:,} tokens and {identity.name} reads {most:,}: what stands at the end of a longer "
            "chunk is cut off before it is embedded, and is found by its words only",
            f"Set chunking.size to {most:,} or less and index the documents again.",
        )
    else:
        yield Finding(f"chunking.size is {size:,} tokens; the embedder reads {most:,}")


def searching(loaded: Settings, entries: int) -> Iterator[Finding]:
    """Searches of an index of this size are quick."""
    compared = min(entries, loaded.storage.exact_up_to)
    if compared > COMPARED_SLOWLY:
        yield warning(
            f"a search compares up to {compared:,} vectors one by one",
            f"Set storage.exact_up_to to {COMPARED_SLOWLY:,} or less, and run `citewell index` again.",
        )
    else:
        yield Finding(f"a search compares at most {compared:,} vectors one by one")
