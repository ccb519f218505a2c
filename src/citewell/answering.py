"""One question over one state of the store: the second pipeline, step by step.

    queries - search (legs, fuse, re-rank) - floor - answer - cite

The steps of `Index.ask` and `Index.search`, with what they share: what the reader may see, and the models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from citewell import clock
from citewell.generation.answer import answer
from citewell.generation.extractive import extract
from citewell.generation.lost import lost_warnings
from citewell.models.counted import CountedLLM
from citewell.models.embedder import Embedder
from citewell.models.reranker import Reranker
from citewell.queries.finding import Asked, find, understand
from citewell.queries.rewrite import rewritten
from citewell.retrieval.floor import above_floor, floor_warnings
from citewell.retrieval.query import Query, Role
from citewell.retrieval.reranking import rerank_by
from citewell.retrieval.search import search
from citewell.settings import Settings
from citewell.stores.store import Reader, Scope
from citewell.types import Answer, Chunk, Floor, FloorOrigin, Hit, Trace, Turn, Usage

WRITTEN = frozenset({Role.VARIANT, Role.HYPOTHETICAL, Role.BROADER})
"""What a model wrote in the question's place. How near a passage is to that says nothing of the question."""


@dataclass(frozen=True, slots=True)
class Models:
    """What reads and writes. `reranker` is None for MaxSim."""

    embedder: Embedder
    llm: CountedLLM | None
    reranker: Reranker | None


@dataclass(frozen=True, slots=True)
class Asking:
    """A question's state of the store, what of it the reader may see, and the trace of its steps.

    `_scopes` has the one that each passage was found in.
    """

    reader: Reader
    scope: Scope
    settings: Settings
    models: Models
    trace: Trace = field(default_factory=Trace)
    _scopes: dict[str, Scope] = field(default_factory=dict)

    def search(self, query: str, k: int) -> tuple[Hit, ...]:
        """The k best passages, whatever the floor."""
        asked = self._understood((Query(query),))
        return find(asked, self.settings.queries, lambda each: self._found(each, k), k).hits

    def answer(self, question: str, turns: Sequence[Turn], floor: Floor) -> Answer:
        """A cited answer to a question that may lean on the turns before it."""
        llm, is_rewritten = self.models.llm, self.settings.queries.rewrite and bool(turns)
        asked = self._understood(rewritten(question, turns, llm) if is_rewritten else (Query(question),))
        keep = self.settings.retrieval.keep
        found = find(asked, self.settings.queries, lambda query: self._passing(query, asked, floor, keep), keep)
        hits = found.hits
        with self.trace.step("answer", len(hits)) as step:
            draft = answer(
                asked.question,
                hits,
                llm=llm,
                embedder=self.models.embedder,
                settings=self.settings,
                page_of=self._page_of,
            )
            step.out = len(draft.sentences)
        lost = lost_warnings(asked.question, draft, self.reader.lossy(self.scope))
        return Answer(
            question=question,
            text=draft.text,
            sentences=draft.sentences,
            citations=draft.citations,
            abstained=draft.abstained,
            reason=draft.reason,
            hits=hits,
            warnings=draft.warnings + floor_warnings(floor) + lost,
            usage=llm.usage if llm is not None else Usage(),
            trace=tuple(self.trace.steps),
            searched=tuple(query.text for query in found.queries),
        )

    def _understood(self, asked: tuple[Query, ...]) -> Asked:
        return understand(asked, self.settings.queries, self.models.llm, clock.today(), self.trace)

    def _found(self, query: Query, k: int) -> tuple[Hit, ...]:
        whole = self.settings.retrieval
        by_words = whole.model_copy(update={"legs": ("keyword",), "rerank": False})
        scope = replace(self.scope, on=query.as_of or self.scope.on)
        found: tuple[Hit, ...] = ()
        for settings in (by_words, whole) if query.keyword_only else (whole,):
            found = search(
                query,
                k,
                scope,
                store=self.reader,
                embedder=self.models.embedder,
                settings=settings,
                trace=self.trace,
                rerank=rerank_by(self.models.reranker, self.models.embedder, settings),
            )
            if found:
                break
        self._scopes.update((hit.passage.id, scope) for hit in found)
        return found

    def _passing(self, query: Query, asked: Asked, floor: Floor, k: int) -> tuple[Hit, ...]:
        """Those to answer from: at or above the floor, or all if some sentence of theirs is about the question."""
        found = self._found(query, k)
        with self.trace.step("floor", len(found)) as step:
            text, hits = (asked.question, self._near(asked, found)) if query.role in WRITTEN else (query.text, found)
            if floor.origin is not FloorOrigin.OFF:
                hits = above_floor(text, hits, floor.least)
            # Without a language model the answer itself begins with this check.
            unchecked = floor.origin is FloorOrigin.NOTHING_SEPARATES and self.models.llm is not None
            if unchecked and not extract(text, hits, self.models.embedder, 1):
                hits = ()
            step.out = len(hits)
        return hits

    def _near(self, asked: Asked, found: tuple[Hit, ...]) -> tuple[Hit, ...]:
        """With the cosines of the question itself."""
        (vector,) = self.models.embedder.embed_queries([asked.question])
        cosines = self.reader.cosines(vector, [hit.entry_id for hit in found], self.scope)
        return tuple(replace(hit, cosine=cosines[hit.entry_id]) for hit in found)

    def _page_of(self, passage: Chunk, offset: int) -> tuple[int, str] | None:
        """In the version that the passage is of: a part may have asked about another day."""
        document = self.reader.document(passage.document_id, self._scopes[passage.id])
        pages = document.pages_of(offset, offset + 1) if document is not None else ()
        return (pages[0].number, pages[0].label) if pages else None
