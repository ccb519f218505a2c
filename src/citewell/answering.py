"""One question over one state of the store: the second pipeline, step by step.

    queries - search (legs, fuse, re-rank) - floor - check - answer - cite - verify

The steps of `Index.ask` and `Index.search`, with what they share: what the reader may see, and the models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from citewell import clock
from citewell.checking.conflicts import conflicts
from citewell.checking.corrective import NOT_ANSWERED, Corrected, Further, Thresholds, corrected
from citewell.checking.grading import Branch, grade
from citewell.checking.outside import from_web, web_warnings
from citewell.checking.passing import never_passed, none_passing, passing, reason_of
from citewell.checking.rules import ruled
from citewell.checking.verified import verified
from citewell.filters import And, Equal
from citewell.generation.answer import MODEL_DECLINED, NO_PASSAGE, Draft, answer
from citewell.generation.extractive import ANYTHING, extract
from citewell.generation.lost import lost_warnings
from citewell.generation.siblings import AskedFor
from citewell.generation.whole import whole
from citewell.models.counted import CountedLLM
from citewell.models.encoding import Encoders
from citewell.models.reranker import Reranker
from citewell.queries.finding import Asked, Found, find, understand
from citewell.queries.joining import joined
from citewell.queries.small_talk import REASON, REPLY
from citewell.reflection.loop import Reflected, reflected
from citewell.retrieval.floor import floor_warnings
from citewell.retrieval.near_duplicates import first_of_alike
from citewell.retrieval.query import Query, Role
from citewell.retrieval.reranking import rerank_by
from citewell.retrieval.search import search
from citewell.retrieval.web import WebSearch
from citewell.settings import Settings
from citewell.stores.store import Reader, Scope
from citewell.types import Answer, Chunk, Document, Floor, FloorOrigin, Hit, KeptBack, Trace, Trust, Turn, Usage

NO_DOCUMENT = "there is no document here that may be read; `citewell index PATH` adds some"
NO_DOCUMENT_THEN = "no document that may be read is in force on that day and meets the conditions"

READ_WHOLE = "The passages found did not answer, and the language model was shown all that may be read."

ALIKE = 4
"""How many passages are read for one that is shown, where those that say the same are grouped."""

WRITTEN = frozenset({Role.VARIANT, Role.HYPOTHETICAL, Role.BROADER})
"""What a model wrote in the question's place. How near a passage is to that says nothing of the question."""


@dataclass(frozen=True, slots=True)
class Models:
    """What reads and writes. `reranker` is None for MaxSim."""

    encoders: Encoders
    llm: CountedLLM | None
    reranker: Reranker | None


@dataclass(frozen=True, slots=True)
class Asking:
    """A question's state of the store, what of it the reader may see, and the trace of its steps.

    `web` is None where it may not be searched. `_scopes` has the one that each passage was found in, `_back` what was
    found and kept back.
    """

    reader: Reader
    scope: Scope
    settings: Settings
    models: Models
    trace: Trace = field(default_factory=Trace)
    web: WebSearch | None = None
    _scopes: dict[str, Scope] = field(default_factory=dict)
    _back: list[KeptBack] = field(default_factory=list)

    def search(self, query: str, k: int) -> tuple[Hit, ...]:
        """The k best passages, whatever the floor."""
        asked = self._understood(query, ())
        found = self._of_all(asked, k, self._found)
        return self._with_cosines(asked, found.hits)

    def answer(self, question: str, turns: Sequence[Turn], floor: Floor) -> Answer:
        """A cited answer to a question that may lean on the turns before it."""
        llm, keep = self.models.llm, self.settings.retrieval.keep
        asked = self._understood(question, turns)
        if asked.small_talk:
            return self._nothing_asked(question)
        found = self._of_all(asked, keep, lambda query, k: self._passing(query, asked, floor, k))
        hits = self._with_cosines(asked, found.hits)
        said = (question, *(turn.question for turn in turns))
        checked = self._checked(asked, replace(found, hits=hits), floor, keep, said)
        written = self._written(asked, checked.hits, floor)
        draft = written.draft
        if draft.abstained and checked.branch is Branch.INCORRECT:
            draft = replace(draft, reason=NOT_ANSWERED)
        back = never_passed(self._back, (*hits, *written.hits))
        if draft.reason == NO_PASSAGE:
            draft = replace(draft, reason=reason_of(back) if back else self._why_nothing())
        conflicting = self._conflicts(asked, written.hits) if not draft.abstained else ()
        lost = lost_warnings(asked.question, draft, self.reader.lossy(self.scope))
        from_outside = web_warnings(draft.citations)
        return Answer(
            question=question,
            text=draft.text,
            sentences=draft.sentences,
            citations=draft.citations,
            abstained=draft.abstained,
            reason=draft.reason,
            hits=written.hits or hits,
            warnings=tuple(
                dict.fromkeys(
                    (*from_outside, *checked.warnings, *draft.told, *conflicting, *floor_warnings(floor), *lost)
                )
            ),
            usage=llm.usage if llm is not None else Usage(),
            trace=tuple(self.trace.steps),
            searched=(*(query.text for query in found.queries), *written.searched),
            decisions=tuple(str(decision) for decision in written.decisions),
            kept_back=back,
            floor=floor,
        )

    def _written(self, asked: Asked, hits: tuple[Hit, ...], floor: Floor) -> Reflected:
        """The answer from these passages, and from more where that is not enough and the settings let it look on."""
        llm, generation, keep = self.models.llm, self.settings.generation, self.settings.retrieval.keep

        def more(text: str) -> tuple[Hit, ...]:
            return self._own_cosines(asked, self._passing(Query(text, role=Role.VARIANT), asked, floor, keep))

        if llm is not None and generation.reflect == "loop":
            done = reflected(
                asked.question,
                more,
                hits,
                llm=llm,
                embedder=self.models.encoders.embedder,
                settings=self.settings,
                page_of=self._page_of,
                trace=self.trace,
            )
            return replace(done, draft=ruled(done.draft, generation.rules))
        draft = self._drafted(asked.question, hits, self.settings, AskedFor(asked.subjects, asked.own))
        if draft.reason == MODEL_DECLINED and generation.whole_tokens:
            return self._of_whole(asked.question, hits) or Reflected(draft, hits)
        return Reflected(draft, hits)

    def _of_whole(self, question: str, found: tuple[Hit, ...]) -> Reflected | None:
        """An answer from all that the reader may read, where that is little enough to be read whole; what was `found`
        for the question comes first among its passages."""
        most = self.settings.generation.whole_tokens
        with self.trace.step("whole", 1) as step:
            (vector,) = self.models.encoders.embedder.embed_queries([question])
            hits = whole(vector, self.reader, self.scope, most)
            step.out = len(hits)
        if not hits:
            return None
        self._scopes.update((chunk.id, self.scope) for hit in hits for chunk in (hit.chunk, hit.passage))
        generation = self.settings.generation.model_copy(update={"passage_tokens": most, "compress": "off"})
        draft = self._drafted(question, hits, self.settings.model_copy(update={"generation": generation}))
        known = {hit.passage.id for hit in found}
        shown = (*found, *(hit for hit in hits if hit.passage.id not in known))
        return Reflected(
            replace(draft, warnings=(READ_WHOLE, *draft.warnings)),
            tuple(replace(hit, rank=rank) for rank, hit in enumerate(shown, start=1)),
        )

    def _drafted(self, question: str, hits: tuple[Hit, ...], settings: Settings, asked: AskedFor = ANYTHING) -> Draft:
        """An answer from these passages, its sentences checked against what they cite and by the rules."""
        llm, embedder, generation = self.models.llm, self.models.encoders.embedder, settings.generation
        draft = answer(
            question,
            hits,
            llm=llm,
            embedder=embedder,
            settings=settings,
            page_of=self._page_of,
            trace=self.trace,
            asked=asked,
        )
        if llm is not None and generation.verify != "off":
            draft = verified(
                question,
                draft,
                hits,
                settings,
                llm=llm,
                embedder=embedder,
                page_of=self._page_of,
                trace=self.trace,
            )
        return ruled(draft, generation.rules)

    def _nothing_asked(self, question: str) -> Answer:
        """Small talk: nothing is searched, and nothing is said that documents would have to back."""
        trace = tuple(self.trace.steps)
        return Answer(question, REPLY, (), (), True, REASON, (), (), Usage(), trace)

    def _of_all(self, asked: Asked, k: int, search: Callable[[Query, int], tuple[Hit, ...]]) -> Found:
        """The k best of all queries; of those that say the same the best, where the settings say so."""
        if self.settings.retrieval.near_duplicates == "all":
            return find(asked, lambda query: search(query, k), k)
        deep = ALIKE * k
        found = find(asked, lambda query: search(query, deep), deep)
        return replace(found, hits=first_of_alike(found.hits, k))

    def _why_nothing(self) -> str:
        """Where nothing was found: of an index that is empty, and of one that has nothing for the reader, the same is
        said."""
        if self.reader.counts(replace(self.scope, on=None, where=None)).documents == 0:
            return NO_DOCUMENT
        return NO_DOCUMENT_THEN if self.reader.counts(self.scope).documents == 0 else NO_PASSAGE

    def _checked(self, asked: Asked, found: Found, floor: Floor, k: int, said: Sequence[str]) -> Corrected:
        """The passages to answer from, where they are graded; where they answer in part alone, those of approved
        documents that the question's words find too, and then, where it is allowed, of the web.

        `said` is what the asker typed."""
        generation, hits = self.settings.generation, found.hits
        if generation.check == "off" or not hits:
            return Corrected(Branch.CORRECT, hits)
        llm, embedder = self.models.llm if generation.check == "llm" else None, self.models.encoders.embedder
        sources = [lambda: Further(self._approved()._by_words(asked, found.queries, floor, k))]
        web = self._web_of_today()
        if web is not None:
            sources.append(lambda: from_web(web, asked.question, said, floor, embedder, self.trace))
        with self.trace.step("check", len(hits)) as step:
            done = corrected(
                hits,
                Thresholds(generation.check_upper, generation.check_lower),
                lambda some: grade(asked.question, some, embedder, llm, self.settings.security.untrusted),
                sources,
            )
            step.out = len(done.hits)
        return done

    def _web_of_today(self) -> WebSearch | None:
        """The web knows no other day, and none of the fields that a filter asks for."""
        return self.web if self.scope.where is None and self.scope.on == clock.today() else None

    def _approved(self) -> Asking:
        """The same over approved documents alone, for the same reader and day."""
        approved, where = Equal("trust", Trust.APPROVED), self.scope.where
        return replace(self, scope=replace(self.scope, where=approved if where is None else And((where, approved))))

    def _by_words(self, asked: Asked, queries: Sequence[Query], floor: Floor, k: int) -> tuple[Hit, ...]:
        """What the words of these queries find, each on its day, and by the rules for what it is."""
        found = [self._passing(replace(query, keyword_only=True), asked, floor, k) for query in queries]
        return self._with_cosines(asked, joined(found, lambda hit: hit.passage.id))

    def _conflicts(self, asked: Asked, hits: tuple[Hit, ...]) -> tuple[str, ...]:
        """What one document says otherwise than another of what is asked: never averaged, for the reader to judge."""
        found = conflicts(asked.question, hits, self._document_of)
        return tuple(conflict.warning for conflict in found)

    def _document_of(self, passage: Chunk) -> Document | None:
        """In the version that the passage is of: a part may have asked about another day. None for one of the web."""
        if passage.of_web:
            return None
        return self.reader.document(passage.document_id, self._scopes[passage.id])

    def _understood(self, question: str, turns: Sequence[Turn]) -> Asked:
        # "Today" is the day that is asked about.
        today = self.scope.on or clock.today()
        return understand(
            question,
            turns,
            self.settings.queries,
            today,
            llm=self.models.llm,
            embedder=self.models.encoders.embedder,
            trace=self.trace,
        )

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
                encoders=self.models.encoders,
                settings=settings,
                trace=self.trace,
                rerank=rerank_by(
                    self.models.reranker, self.models.encoders.embedder, settings, self.settings.security.untrusted
                ),
            )
            if found:
                break
        # Also the chunk's: where its passage does not fit a prompt, it is shown itself.
        self._scopes.update((chunk.id, scope) for hit in found for chunk in (hit.chunk, hit.passage))
        return found

    def _passing(self, query: Query, asked: Asked, floor: Floor, k: int) -> tuple[Hit, ...]:
        """Those to answer from: at or above the floor, or all if some sentence of theirs is about the question."""
        found = self._found(query, k)
        if floor.origin is FloorOrigin.OFF:
            return found
        with self.trace.step("floor", len(found)) as step:
            is_written = query.role in WRITTEN
            text, hits = (asked.question, self._own_cosines(asked, found)) if is_written else (query.text, found)
            own = asked.own if query.role is Role.REWRITE and asked.follows else ""
            done = passing(text, hits, floor.least, own)
            # Without a language model the answer itself begins with this check.
            unchecked = floor.origin is FloorOrigin.NOTHING_SEPARATES and self.models.llm is not None
            if unchecked and not extract(text, done.kept, self.models.encoders.embedder, 1):
                done = none_passing(text, hits)
            self._back.extend(done.back)
            step.out = len(done.kept)
        return done.kept

    def _with_cosines(self, asked: Asked, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        """With the cosines of the question itself, whatever query found them."""
        if len(asked.same) + len(asked.parts) == 1 and not asked.hops:
            return hits  # they are already
        return self._own_cosines(asked, hits)

    def _own_cosines(self, asked: Asked, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        (vector,) = self.models.encoders.embedder.embed_queries([asked.question])
        cosines: dict[str, float] = {}
        for scope in {self._scopes[hit.passage.id] for hit in hits}:
            ids = [hit.entry_id for hit in hits if self._scopes[hit.passage.id] == scope]
            vectors = self.reader.vectors(ids, scope)
            cosines |= {entry: float(each @ vector) for entry, each in vectors.items()}
        return tuple(replace(hit, cosine=cosines[hit.entry_id]) for hit in hits)

    def _page_of(self, passage: Chunk, offset: int) -> tuple[int, str] | None:
        document = self._document_of(passage)
        pages = document.pages_of(offset, offset + 1) if document is not None else ()
        return (pages[0].number, pages[0].label) if pages else None
