"""A query to hits: every leg, joined, the first candidates re-ranked, each chunk once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from citewell.models.embedder import Embedder, Vectors
from citewell.retrieval.analyser import analyse_query
from citewell.retrieval.floor import named_codes
from citewell.retrieval.fusion import Fused, Scored, fuse
from citewell.retrieval.passages import Passage, passages
from citewell.retrieval.query import Query, Role
from citewell.retrieval.reranking import Rerank
from citewell.settings import Retrieval
from citewell.stores.store import Match, Reader, Scope
from citewell.types import Hit, Scale, Trace

FURTHER = 4
"""How many times deeper the legs search where their candidates lie in fewer than k passages."""

CODE = "code"
"""The list of what holds a code that the query names: to the vectors R-17 and R-71 are one thing, and where few words
are asked the keyword leg alone cannot outweigh them."""

Lists = dict[str, Sequence[Scored]]
_OF_LEG = {"dense": Scale.COSINE, "keyword": Scale.BM25}


def search(
    query: Query,
    k: int,
    scope: Scope,
    *,
    store: Reader,
    embedder: Embedder,
    settings: Retrieval,
    trace: Trace,
    rerank: Rerank | None = None,
) -> tuple[Hit, ...]:
    """The k best chunks in scope, best first, each in a passage of its own.

    With one list alone the score is that leg's own; with several it is that of the fusion. A hypothetical
    passage is embedded as one (HyDE: Gao et al. 2022, arXiv:2212.10496).
    """
    with trace.step("embed", 1) as step:
        is_passage = query.role is Role.HYPOTHETICAL
        vector = (embedder.embed_passages if is_passage else embedder.embed_queries)([query.text])[0]
        step.out = 1
    candidates = max(settings.candidates, k)
    while True:
        legs = _legs(query.text, vector, candidates, scope, store, settings, trace)
        lists: Lists = {leg: _scored(leg, matches) for leg, matches in legs.items()}
        with trace.step("fuse", sum(map(len, legs.values()))) as step:
            fused = fuse(lists, settings.fusion, settings.weights.of_legs, settings.rrf_k)
            step.out = len(fused)
        entries = _entries(fused, legs)
        if rerank is not None:
            first = {item.id: entries[item.id] for item in fused[: settings.rerank_candidates]}
            with trace.step(rerank.name, len(first)) as step:
                lists[rerank.name] = _best_first(rerank(query.text, first, store, scope))
                weights = {**settings.weights.of_legs, rerank.name: settings.weights.rerank}
                fused = fuse(lists, settings.fusion, weights, settings.rrf_k)
                step.out = len(lists[rerank.name])
        with trace.step("gather", len(fused)) as step:
            found = passages([item.id for item in fused], k, store, scope)
            step.out = len(found)
        # The rows of one table may fill the candidates: there is more to find than that.
        if len(found) == k or all(len(matches) < candidates for matches in legs.values()):
            kept = [item for item in fused if item.id in found]
            cosines = _cosines([entries[item.id] for item in kept], legs, vector, store, scope)
            return _hits(kept, found, entries, cosines, _scale(lists, settings))
        candidates *= FURTHER


def _legs(
    query: str, vector: Vectors, candidates: int, scope: Scope, store: Reader, settings: Retrieval, trace: Trace
) -> dict[str, list[Match]]:
    """The best `candidates` of each leg, which search at the same time."""
    codes = named_codes(query)
    ways: dict[str, Callable[[], list[Match]]] = {
        "dense": lambda: store.dense(vector, candidates, scope),
        "keyword": lambda: store.keyword(analyse_query(query), candidates, scope),
        CODE: lambda: store.keyword(sorted(codes), candidates, scope),
    }

    def timed(leg: str) -> tuple[Trace, list[Match]]:
        own = Trace()
        with own.step(leg, 1) as step:
            found = ways[leg]()
            step.out = len(found)
        return own, found

    legs: list[str] = list(dict.fromkeys(settings.legs))
    legs += [CODE] if codes and {"dense", "keyword"} <= set(legs) else []
    if len(legs) == 1:
        made = [timed(legs[0])]
    else:
        with ThreadPoolExecutor(len(legs)) as pool:
            made = list(pool.map(timed, legs))
    for own, _ in made:
        trace.steps += own.steps
    return {leg: found for leg, (_, found) in zip(legs, made, strict=True)}


def _scored(leg: str, matches: Sequence[Match]) -> list[Scored]:
    """A leg's list. Of those that hold the code that is asked for, none does so more than another."""
    return [Scored(match.chunk_id, 1.0 if leg == CODE else match.score) for match in matches]


def _best_first(scores: Mapping[str, float]) -> list[Scored]:
    ordered = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return [Scored(chunk_id, score) for chunk_id, score in ordered]


def _entries(fused: Sequence[Fused], legs: Mapping[str, Sequence[Match]]) -> dict[str, str]:
    """The entry that brought each chunk in: of the leg that ranked it highest."""
    best: dict[str, dict[str, str]] = {}
    for leg, matches in legs.items():
        of_chunk = best.setdefault(leg, {})
        for match in matches:
            of_chunk.setdefault(match.chunk_id, match.entry_id)
    return {item.id: best[min(item.ranks, key=lambda leg: item.ranks[leg])][item.id] for item in fused}


def _scale(lists: Mapping[str, Sequence[Scored]], settings: Retrieval) -> Scale:
    (first, *others) = lists
    return Scale(settings.fusion) if others else _OF_LEG[first]


def _cosines(
    entry_ids: Sequence[str], legs: Mapping[str, Sequence[Match]], vector: Vectors, store: Reader, scope: Scope
) -> dict[str, float]:
    cosines = {match.entry_id: match.score for match in legs.get("dense", ())}
    missing = [entry_id for entry_id in entry_ids if entry_id not in cosines]
    return cosines | (store.cosines(vector, missing, scope) if missing else {})


def _hits(
    kept: Sequence[Fused],
    found: Mapping[str, Passage],
    entries: Mapping[str, str],
    cosines: Mapping[str, float],
    scale: Scale,
) -> tuple[Hit, ...]:
    return tuple(
        Hit(
            chunk=found[item.id].chunk,
            entry_id=entries[item.id],
            score=item.score,
            scale=scale,
            rank=rank,
            lists=item.ranks,
            cosine=cosines[entries[item.id]],
            parent=found[item.id].parent,
        )
        for rank, item in enumerate(kept, start=1)
    )
