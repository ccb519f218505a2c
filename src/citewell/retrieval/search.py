"""A query to hits: every leg, joined by rank, each chunk once."""

from __future__ import annotations

from collections.abc import Mapping

from citewell.models.embedder import Embedder, Vectors
from citewell.retrieval.analyser import analyse_query
from citewell.retrieval.fusion import Fused, reciprocal_rank_fusion
from citewell.retrieval.passages import Passage, passages
from citewell.settings import Retrieval
from citewell.stores.store import Match, Reader, Scope
from citewell.types import Hit, Scale, Trace

FURTHER = 4
"""How many times deeper the legs search where their candidates lie in fewer than k passages."""


def search(
    query: str, k: int, scope: Scope, *, store: Reader, embedder: Embedder, settings: Retrieval, trace: Trace
) -> tuple[Hit, ...]:
    """The k best chunks in scope, best first, each in a passage of its own.

    With two legs the score is RRF's; with one it is the leg's own.
    """
    with trace.step("embed", 1) as step:
        vector = embedder.embed_queries([query])[0]
        step.out = 1
    candidates = max(settings.candidates, k)
    while True:
        legs = _legs(query, vector, candidates, scope, store, settings, trace)
        with trace.step("fuse", sum(map(len, legs.values()))) as step:
            lists = {leg: [match.chunk_id for match in matches] for leg, matches in legs.items()}
            fused = reciprocal_rank_fusion(lists, settings.rrf_k)
            step.out = len(fused)
        with trace.step("gather", len(fused)) as step:
            found = passages([item.id for item in fused], k, store, scope)
            step.out = len(found)
        # The rows of one table may fill the candidates: there is more to find than that.
        if len(found) == k or all(len(matches) < candidates for matches in legs.values()):
            return _hits([item for item in fused if item.id in found], found, legs, vector, store, scope)
        candidates *= FURTHER


def _legs(
    query: str, vector: Vectors, candidates: int, scope: Scope, store: Reader, settings: Retrieval, trace: Trace
) -> dict[str, list[Match]]:
    """The best `candidates` of each leg."""
    legs: dict[str, list[Match]] = {}
    if "dense" in settings.legs:
        with trace.step("dense", 1) as step:
            legs["dense"] = store.dense(vector, candidates, scope)
            step.out = len(legs["dense"])
    if "keyword" in settings.legs:
        with trace.step("keyword", 1) as step:
            legs["keyword"] = store.keyword(analyse_query(query), candidates, scope)
            step.out = len(legs["keyword"])
    return legs


def _hits(
    fused: list[Fused],
    found: Mapping[str, Passage],
    legs: dict[str, list[Match]],
    vector: Vectors,
    store: Reader,
    scope: Scope,
) -> tuple[Hit, ...]:
    best = {leg: _best_by_chunk(matches) for leg, matches in legs.items()}
    entry_of = {item.id: _entry(item, best) for item in fused}
    cosines = {match.entry_id: match.score for match in legs.get("dense", ())}
    missing = [entry for entry in entry_of.values() if entry not in cosines]
    if missing:
        cosines |= store.cosines(vector, missing, scope)
    only_leg = next(iter(legs)) if len(legs) == 1 else None
    return tuple(
        Hit(
            chunk=found[item.id].chunk,
            entry_id=entry_of[item.id],
            score=best[only_leg][item.id].score if only_leg else item.score,
            scale={"dense": Scale.COSINE, "keyword": Scale.BM25, None: Scale.RRF}[only_leg],
            rank=rank,
            lists=item.ranks,
            cosine=cosines[entry_of[item.id]],
            parent=found[item.id].parent,
        )
        for rank, item in enumerate(fused, start=1)
    )


def _best_by_chunk(matches: list[Match]) -> dict[str, Match]:
    best: dict[str, Match] = {}
    for match in matches:
        best.setdefault(match.chunk_id, match)
    return best


def _entry(item: Fused, best: dict[str, dict[str, Match]]) -> str:
    """The entry that brought the chunk in: of the leg that ranked it highest."""
    leg = min(item.ranks, key=lambda name: item.ranks[name])
    return best[leg][item.id].entry_id
