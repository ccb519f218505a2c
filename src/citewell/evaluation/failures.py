"""A failed question placed at the first stage that lost its evidence, or at what the answer made of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from math import inf

from citewell import clock
from citewell.checking.claims import claims_of
from citewell.checking.judge import Judge
from citewell.evaluation.answers import text_of
from citewell.evaluation.facts import Fact, of_failed
from citewell.evaluation.measures import Measured
from citewell.evaluation.placing import held, holds, plain
from citewell.evaluation.runs import Outcome, reader_of
from citewell.evaluation.stages import Kind, Lost
from citewell.evaluation.testset import Evidence, Question
from citewell.evaluation.whereabouts import lost_before_search
from citewell.index import Index
from citewell.retrieval.floor import best_evidence
from citewell.retrieval.floor import evidence as floor_evidence
from citewell.retrieval.legs import CODE
from citewell.types import Answer, Document, Floor, Hit, Principal

DEEPER = 4
"""How many times deeper than the candidates each leg is searched for what it does not have among those."""

# Longer than any word that only asks, or a code or number.
_TELLING = re.compile(r"\w{8,}|\w*\d\w*")


@dataclass(frozen=True, slots=True)
class Failed:
    """A failed question and what became of it: see `Lost`. `evidence` is what was lost, None where all was there.

    `ranks` are those of its passage among those of each leg, as far as they were looked at: `DEEPER`. `reached` is what
    the floor compares, `floor.evidence`: of what it took away, or the best of what it should have. `facts` are what
    techniques may need.
    """

    question: Question
    kind: Kind
    detail: str
    evidence: Evidence | None = None
    rank: int | None = None
    ranks: Mapping[str, int] = field(default_factory=dict)
    reached: float | None = None
    facts: frozenset[Fact] = frozenset()


def has_failed(outcome: Outcome, measured: Measured, keep: int) -> bool | None:
    """Whether evidence is missing among the `keep` passages, or the answer is not right; None where nobody can tell.

    Right is: answered as expected, and refused where there is no answer. Nobody can tell where the service or the judge
    failed, and where the question has neither evidence nor an expected answer.
    """
    question, right = outcome.question, measured.values.get("correct")
    if question.answerable and len(_kept(outcome, keep)) < len(question.evidence):
        return True
    if right is not None:
        return right < 1
    is_left_open = bool(outcome.error) or "correct" in measured.failed or not question.evidence
    return None if is_left_open or not question.answerable else False


def place(
    index: Index, stored: Sequence[Document], outcome: Outcome, measured: Measured, judge: Judge
) -> Failed | None:
    """Where a question failed; None where it did not, or nobody can tell. `stored` is what `Index.stored` lists.

    It reads what the asker may not, and is for the owner of the index.

    Raises:
        FingerprintMismatch: the embedder is not the one that made the index.
    """
    if not has_failed(outcome, measured, index.settings.retrieval.keep):
        return None
    failed = _placed(index, stored, outcome, judge)
    return replace(failed, facts=of_failed(index, stored, outcome, failed.evidence))


def _placed(index: Index, stored: Sequence[Document], outcome: Outcome, judge: Judge) -> Failed:
    question, keep = outcome.question, index.settings.retrieval.keep
    if not question.answerable:
        return _answered_all_the_same(outcome, keep)
    if not question.evidence:
        return Failed(question, Kind.NO_EVIDENCE, _of_answer(outcome.answer))
    kept = _kept(outcome, keep)
    searched = _Searched(index, outcome)
    lost = [
        (searched.where_lost(stored, evidence), evidence)
        for at, evidence in enumerate(question.evidence)
        if at not in kept
    ]
    if not lost:
        return _after_search(index, outcome, judge)
    first, evidence = min(lost, key=lambda each: each[0].kind.stage)
    return Failed(question, first.kind, first.detail, evidence, first.rank, searched.ranks(evidence))


def _kept(outcome: Outcome, keep: int) -> set[int]:
    """The numbers of the evidence that the first `keep` passages hold, or those of the answer."""
    answered = held(outcome.question, outcome.answer.hits) if outcome.answer is not None else ()
    return set().union(*outcome.held[:keep], *answered)


class _Searched:
    """A question's search, gone into deeper where something is missing."""

    def __init__(self, index: Index, outcome: Outcome) -> None:
        self._index = index
        self._outcome = outcome
        self._reader: Principal = reader_of(outcome.question)
        self._day: date = outcome.question.as_of or clock.today()
        self._legs: dict[str, tuple[Hit, ...]] = {}

    def leg(self, name: str) -> tuple[Hit, ...]:
        """The passages of one leg alone, deeper than its candidates."""
        if name not in self._legs:
            question, depth = self._outcome.question.question, DEEPER * self._index.settings.retrieval.candidates
            self._legs[name] = self._index.ranked(question, name, depth, principal=self._reader, as_of=self._day)
        return self._legs[name]

    def ranks(self, evidence: Evidence) -> dict[str, int]:
        """The best rank among the passages of each leg of one that holds the evidence."""
        ranks: dict[str, int] = {}
        for leg in self._index.settings.retrieval.legs:
            at = next((hit.rank for hit in self.leg(leg) if holds(hit.passage, evidence)), None)
            if at is not None:
                ranks[leg] = at
        return ranks

    def where_lost(self, stored: Sequence[Document], evidence: Evidence) -> Lost:
        """The first stage that does not have evidence which is not among the passages kept."""
        before = lost_before_search(self._index, stored, evidence, self._reader, self._day)
        if before is not None:
            return before
        retrieval = self._index.settings.retrieval
        ranks, rank = self.ranks(evidence), self._rank(evidence)
        broken = self._broken(evidence, ranks)
        if broken:
            return Lost(Kind.BROKEN_LEG, broken, rank)
        detail = self._told(ranks, rank)
        best = min(ranks.values(), default=inf)
        if best > retrieval.candidates and not self._is_found_by_code(evidence):
            return Lost(Kind.NOT_A_CANDIDATE, detail, rank)
        is_first = best <= retrieval.keep
        return Lost(Kind.LOST_IN_FUSION if is_first else Kind.BELOW_K, detail, rank)

    def _is_found_by_code(self, evidence: Evidence) -> bool:
        """What holds a code that is named is joined however deep it lies in a leg."""
        return any(CODE in hit.lists and holds(hit.passage, evidence) for hit in self._outcome.hits)

    def _broken(self, evidence: Evidence, ranks: Mapping[str, int]) -> str:
        """How the keyword leg proves broken; "" where it does not.

        One that gave fewer passages than it was asked for gave all that share a word with the question.
        """
        retrieval = self._index.settings.retrieval
        if "keyword" not in retrieval.legs or "keyword" in ranks:
            return ""
        given = self.leg("keyword")
        if len(given) >= DEEPER * retrieval.candidates:
            return ""
        shared = ", ".join(_shared(self._outcome.question.question, evidence))
        found = f"the keyword leg found {len(given)} passages and not this one"
        return f"{found}, though both hold {shared}" if shared else ""

    def _rank(self, evidence: Evidence) -> int | None:
        hits = enumerate(self._outcome.hits, start=1)
        return next((rank for rank, hit in hits if holds(hit.passage, evidence)), None)

    def _told(self, ranks: Mapping[str, int], rank: int | None) -> str:
        """`dense 61, keyword 2, joined 7; keep is 5, candidates 50`."""
        retrieval = self._index.settings.retrieval
        beyond = f"beyond {DEEPER * retrieval.candidates}"
        legs = [f"{leg} {ranks.get(leg) or beyond}" for leg in retrieval.legs]
        joined = f"joined {rank or f'beyond {len(self._outcome.hits)}'}"
        return f"{', '.join([*legs, joined])}; keep is {retrieval.keep}, candidates {retrieval.candidates}"


def _shared(question: str, evidence: Evidence) -> list[str]:
    """The telling words that question and evidence have in common, as they are written: no analyser is trusted here."""
    asked, held_there = (
        set(_TELLING.findall(plain(text))) for text in (question, f"{evidence.quote} {evidence.section}")
    )
    return sorted(asked & held_there)


def _answered_all_the_same(outcome: Outcome, keep: int) -> Failed:
    question, answer = outcome.question, outcome.answer
    seen = held(question, answer.hits) if answer is not None else ()
    numbers = sorted(set().union(*seen))
    if numbers:
        evidence = question.evidence[numbers[0]]
        return Failed(question, Kind.SHOWN, f"a passage of {evidence.document} is in the answer's", evidence)
    reached = best_evidence(question.question, outcome.hits[:keep])
    return Failed(question, Kind.NOT_COVERED, _of_answer(answer), reached=reached)


def _after_search(index: Index, outcome: Outcome, judge: Judge) -> Failed:
    """Where a question failed of which all evidence was kept, and the answer is not right."""
    question, answer = outcome.question, outcome.answer
    if answer is None:
        raise ValueError("a question without an answer fails by its evidence alone")
    below = _missing(question, answer.hits)
    if below:
        return _under_floor(index, outcome, below)
    left_out = _missing(question, outcome.read)
    if left_out:
        detail = f"{len(outcome.read)} of {len(answer.hits)} passages fit"
        return Failed(question, Kind.NOT_IN_PROMPT, detail, left_out[0])
    against = _contradiction(question, answer, judge)
    if against:
        return Failed(question, Kind.CONTRADICTED, against)
    return Failed(question, Kind.UNUSED, _use(question, answer))


def _missing(question: Question, hits: Sequence[Hit]) -> list[Evidence]:
    """The evidence that none of the hits holds."""
    there = set().union(*held(question, hits))
    return [evidence for at, evidence in enumerate(question.evidence) if at not in there]


def _under_floor(index: Index, outcome: Outcome, lost: Sequence[Evidence]) -> Failed:
    """Of several that the floor took away, the one that is furthest below it."""
    question, kept = outcome.question, outcome.hits[: index.settings.retrieval.keep]
    reached = floor_evidence(question.question, kept)
    holding = [[at for at, hit in enumerate(kept) if holds(hit.passage, evidence)] for evidence in lost]
    best = [max(places, key=reached.__getitem__) for places in holding]
    evidence, at = min(zip(lost, best, strict=True), key=lambda each: reached[each[1]])
    how = f"evidence {reached[at]:.2f}" if reached[at] > -inf else "and none has the code that the question names"
    detail = f"its passage is number {at + 1} of the kept ones, {how}; the floor is {_told(index.floor)}"
    return Failed(question, Kind.BELOW_FLOOR, detail, evidence, reached=reached[at])


def _told(floor: Floor) -> str:
    """`0.40, built-in`, as `citewell status` has it."""
    return str(floor.origin) if floor.least is None else f"{floor.least:.2f}, {floor.origin}"


def _contradiction(question: Question, answer: Answer, judge: Judge) -> str:
    """What the answer says against the evidence; "" where nothing of it does."""
    if answer.abstained:
        return ""
    text = text_of(answer)
    wrong = next((part for part in question.must_not_contain if plain(part) in plain(text)), "")
    if wrong:
        return f"the answer holds {wrong!r}, which it must not"
    quotes = [evidence.quote for evidence in question.evidence if evidence.quote.strip()]
    claims = claims_of(text) if quotes else ()
    judged = judge.judge(claims, quotes, question.question)
    return next((one.reason or "the judge says so" for one in judged if one.contradicted), "")


def _use(question: Question, answer: Answer) -> str:
    """What the answer made of the passages that hold the evidence."""
    if answer.abstained:
        return _of_answer(answer)
    holding = {hit.passage.id for hit in answer.hits if any(held(question, [hit]))}
    if holding.isdisjoint(citation.chunk_id for citation in answer.citations):
        return f"{_of_answer(answer)}, and not the passage of the evidence"
    return "the answer cites the passage of the evidence"


def _of_answer(answer: Answer | None) -> str:
    if answer is None:
        return "there is no answer"
    if answer.abstained:
        return f"it was not answered: {answer.reason}"
    return f"the answer cites {', '.join(dict.fromkeys(each.title for each in answer.citations))}"
