"""A query to hits: every leg, joined, the first candidates re-ranked, made diverse, each chunk once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from citewell.models.embedder import Vectors
from citewell.models.encoding import Encoders
from citewell.retrieval.diversity import diverse
from citewell.retrieval.fusion import Fused, Scored, fuse
from citewell.retrieval.legs import CODE, SCALES, Legs, first_stage
from citewell.retrieval.passages import Passage, passages
from citewell.retrieval.query import Query, Role
from citewell.retrieval.reranking import Rerank
from citewell.settings import Retrieval
from citewell.stores.store import Match, Reader, Scope
from citewell.types import Hit, Scale, Trace

FURTHER = 4
"""How many times deeper the legs search where their candidates lie in fewer than k passages."""

Lists = dict[str, Sequence[Scored]]


def search(
    query: Query,
    k: int,
    scope: Scope,
    *,
    store: Reader,
    encoders: Encoders,
    settings: Retrieval,
    trace: Trace,
    rerank: Rerank | None = None,
) -> tuple[Hit, ...]:
    """The k best chunks in scope, best first, each in a passage of its own.

    With one list alone the score is that leg's own; with several it is that of the fusion. A hypothetical
    passage is embedded as one (HyDE: Gao et al. 2022, arXiv:2212.10496).
    """
    with trace.step("embed", 1) as step:
        embedder, is_passage = encoders.embedder, query.role is Role.HYPOTHETICAL
        vector = (embedder.embed_passages if is_passage else embedder.embed_queries)([query.text])[0]
        step.out = 1
    ranking = _Ranking(query.text, scope, store, settings, trace, rerank)
    candidates = max(settings.candidates, k)
    while True:
        legs = first_stage(
            query.text, vector, settings.legs, candidates, scope=scope, store=store, encoders=encoders, trace=trace
        )
        ranked = ranking.of(legs)
        with trace.step("gather", len(ranked.fused)) as step:
            found = passages([item.id for item in ranked.fused], k, store, scope)
            step.out = len(found)
        # The rows of one table may fill the candidates: there is more to find than that.
        if len(found) == k or all(len(matches) < candidates for matches in legs.values()):
            return _hits(ranked, found, _cosines(ranked, found, legs, vector, store, scope))
        candidates *= FURTHER


@dataclass(frozen=True, slots=True)
class _Ranked:
    """The chunks that the legs found, best first, the entry that brought each in, and what each is shown with."""

    fused: Sequence[Fused]
    entries: Mapping[str, str]
    scores: Mapping[str, float]
    scale: Scale


@dataclass(slots=True)
class _Ranking:
    """How the lists of a query become one."""

    query: str
    scope: Scope
    store: Reader
    settings: Retrieval
    trace: Trace
    rerank: Rerank | None
    _reranked: list[Scored] | None = field(default=None)

    def of(self, legs: Legs) -> _Ranked:
        lists: Lists = {leg: _scored(leg, matches) for leg, matches in legs.items()}
        with self.trace.step("fuse", sum(map(len, legs.values()))) as step:
            fused = self._fused(lists)
            step.out = len(fused)
        entries = _entries(fused, legs)
        if self.rerank is not None:
            lists[self.rerank.name] = self._by_reranker(self.rerank, fused, entries)
            fused = self._fused(lists)
        scores, scale = _scores(fused, lists, self.settings)
        if self.settings.diversity:
            with self.trace.step("diversify", len(fused)) as step:
                fused = diverse(fused, entries, self.settings.diversity, self.store, self.scope)
                step.out = len(fused)
        return _Ranked(fused, entries, scores, scale)

    def _fused(self, lists: Lists) -> list[Fused]:
        weights = {**self.settings.weights.of_legs}
        if self.rerank is not None:
            weights[self.rerank.name] = self.settings.weights.rerank
        return fuse(lists, self.settings.fusion, weights, self.settings.rrf_k)

    def _by_reranker(self, rerank: Rerank, fused: Sequence[Fused], entries: Mapping[str, str]) -> list[Scored]:
        """The first candidates scored again: once, however deep the legs search, since a model reads for long, and is
        paid."""
        if self._reranked is None:
            first = {item.id: entries[item.id] for item in fused[: self.settings.rerank_candidates]}
            with self.trace.step(rerank.name, len(first)) as step:
                self._reranked = _best_first(rerank(self.query, first, self.store, self.scope))
                step.out = len(self._reranked)
        return [each for each in self._reranked if each.id in entries]


def _scored(leg: str, matches: Sequence[Match]) -> list[Scored]:
    """A leg's list. Of those that hold the code that is asked for, none has a better score than another."""
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


def _scores(fused: Sequence[Fused], lists: Lists, settings: Retrieval) -> tuple[dict[str, float], Scale]:
    """What each is shown with: the score of the one leg, or that of the fusion."""
    (leg, *others) = lists
    if others:
        return {item.id: item.score for item in fused}, Scale(settings.fusion)
    return {item.id: item.score for item in reversed(lists[leg])}, SCALES[leg]  # of a chunk found twice, the better


def _cosines(
    ranked: _Ranked, found: Mapping[str, Passage], legs: Legs, vector: Vectors, store: Reader, scope: Scope
) -> dict[str, float]:
    """Of the query and the entries by which the chunks were found."""
    cosines = {match.entry_id: match.score for match in legs.get("dense", ())}
    missing = [entry for chunk in found if (entry := ranked.entries[chunk]) not in cosines]
    vectors = store.vectors(missing, scope) if missing else {}
    return cosines | {entry: float(each @ vector) for entry, each in vectors.items()}


def _hits(ranked: _Ranked, found: Mapping[str, Passage], cosines: Mapping[str, float]) -> tuple[Hit, ...]:
    kept = [item for item in ranked.fused if item.id in found]
    return tuple(
        Hit(
            chunk=found[item.id].chunk,
            entry_id=ranked.entries[item.id],
            score=ranked.scores[item.id],
            scale=ranked.scale,
            rank=rank,
            lists=item.ranks,
            cosine=cosines[ranked.entries[item.id]],
            parent=found[item.id].parent,
        )
        for rank, item in enumerate(kept, start=1)
    )
