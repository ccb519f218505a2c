"""The sums that forecasts are made of, on plain numbers. Sizes are in bytes, lengths in tokens."""

from __future__ import annotations

from math import ceil

F32, F16 = 4, 2
"""Bytes of a number."""

COLBERT_DIMENSIONS = 128
"""Of a token's vector (Khattab and Zaharia 2020) and of a page patch's (Faysse et al. 2024)."""

PAGE_VECTORS = 32 * 32 + 6
"""Of a page as an image: its patches and the tokens that ColPali adds (Faysse et al. 2024)."""

CENTROID_BYTES = 4


def prompt_tokens(passages: int, passage_tokens: float, instruction_tokens: int) -> int:
    """A prompt of passages, with the instructions and the question."""
    return round(passages * passage_tokens) + instruction_tokens


def attention_ratio(long: int, short: int) -> float:
    """How many times the comparisons of tokens a longer prompt takes: each token is compared with all before it."""
    return (long / short) ** 2


def kv_cache_gb(tokens: int, mb_per_token: float) -> float:
    """The memory that a prompt's keys and values take, in GB of a thousand MB."""
    return tokens * mb_per_token / 1_000


def vector_bytes(vectors: int, dimensions: int, bytes_per_number: int = F32) -> int:
    return vectors * dimensions * bytes_per_number


def residual_bytes(vectors: int, dimensions: int, bits: int) -> int:
    """Vectors as the number of the nearest centroid, and `bits` for each dimension of what is left over.

    ColBERTv2 (Santhanam et al. 2022, section 3.3); the centroids themselves are not counted.
    """
    return vectors * (CENTROID_BYTES + ceil(dimensions * bits / 8))


def tree_levels(leaves: int, members: int) -> list[int]:
    """The nodes of each level of a summary tree, leaves first, up to one root (RAPTOR, Sarthi et al. 2024).

    Each summary is of `members` nodes, and each node in one cluster; the paper's soft clusters make somewhat more.
    """
    levels = [leaves]
    while levels[-1] > 1:
        levels.append(ceil(levels[-1] / members))
    return levels


def rerank_tokens(candidates: int, question_tokens: int, passage_tokens: float) -> int:
    """What a cross-encoder reads: the question once with each candidate (Nogueira and Cho 2019)."""
    return round(candidates * (question_tokens + passage_tokens))


def map_tokens(reports: int, report_tokens: int) -> int:
    """What a global question reads of community reports (GraphRAG, Edge et al. 2024)."""
    return reports * report_tokens


def break_even(once: float, per_use: float) -> int | None:
    """From how many uses on paying once is cheaper than paying each time; None where a use costs nothing."""
    return ceil(once / per_use) if per_use > 0 else None
