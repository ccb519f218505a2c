"""A test set proposed from an index: a beginning for whoever knows the documents, to be checked and corrected."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import cycle

from citewell import clock
from citewell.evaluation.naming import short_names
from citewell.evaluation.placing import plain
from citewell.evaluation.proposals.found import found_in
from citewell.evaluation.proposals.proposal import LONGEST_QUESTION, Proposal
from citewell.evaluation.proposals.written import sections_of, write
from citewell.evaluation.references import References
from citewell.evaluation.testset import Evidence, Question
from citewell.evaluation.words import words
from citewell.index import Index
from citewell.models.llm import LLM
from citewell.types import EVERYONE, Document, Trust

NEARLY_THE_SAME = 0.75
"""Share of common words (Jaccard) from which the second of two questions is dropped."""

# Which kind a document gives next: those with exact answers come more often.
_TURNS = ("figure", "table", "definition", "figure", "table", "section")
_SMALL_WORDS = frozenset(
    "a an and are at by do does for from how in is it of on or the to what which who with".split()  # noqa: SIM905
)

OnQuestion = Callable[[int, int], None]
"""Called with how many questions there are, and how many are wanted."""

Proposed = tuple[Document, Proposal]


@dataclass(frozen=True, slots=True)
class Draft:
    """Unreviewed questions. `unusable` counts what a language model wrote that was no question with its quote."""

    questions: tuple[Question, ...]
    unusable: int = 0


def draft(
    index: Index, count: int, llm: LLM | None = None, seed: int = 0, *, on_question: OnQuestion | None = None
) -> Draft:
    """Up to `count` questions, spread over the documents; the same for the same index, seed and model.

    `llm` writes them from sections; without it they come from figures, tables, definitions and headings of English
    documents. Each quotes its document word for word, is asked by a group that may read it and on a day on which it is
    in force, and has passed `references.check`. Of two with nearly the same words one is left out, and what the
    documents answer in several ways (those that `llm` was shown until there were enough). Untrusted documents give
    none, and none is unanswerable: that no document answers something stands in no document.

    Raises:
        ServiceError: the language model's endpoint failed.
    """
    stored = index.stored()
    names = short_names([document.source for document in stored])
    trusted = [each for each in stored if each.rights.groups and each.trust is not Trust.UNTRUSTED]
    trusted.sort(key=lambda document: _place(seed, document.id))
    unusable: list[int] = []
    proposed = _written(trusted, llm, seed, unusable) if llm is not None else _found(trusted, seed)
    references = References(index)
    taken: dict[frozenset[str], Question | None] = {}  # None is what documents answer in several ways
    for document, proposal in proposed if count > 0 else ():
        asked = _words(proposal.question)
        if any(len(asked & other) >= NEARLY_THE_SAME * len(asked | other) for other in taken):
            if _differs(taken.get(asked), document, proposal):
                taken[asked] = None
            continue
        question = _question(document, names[document.source], proposal)
        if any(references.findings(question)):
            continue
        taken[asked] = question
        drafted = sum(each is not None for each in taken.values())
        if on_question is not None:
            on_question(drafted, count)
        if drafted == count:
            break
    return Draft(tuple(filter(None, taken.values())), sum(unusable))


def _differs(question: Question | None, document: Document, proposal: Proposal) -> bool:
    """Whether a document answers a question of the same words otherwise, on the same day."""
    return (
        question is not None
        and question.as_of == _day(document)
        and plain(question.expected_answer) != plain(proposal.answer)
    )


def _found(documents: Sequence[Document], seed: int) -> Iterator[Proposed]:
    """What the documents give without a model, one of each in turn."""
    found = {
        document.id: [each for each in found_in(document) if len(each.question) <= LONGEST_QUESTION]
        for document in documents
    }
    answers: dict[tuple[frozenset[str], date | None], set[str]] = defaultdict(set)
    for document in documents:
        for each in found[document.id]:
            answers[_words(each.question), _day(document)].add(each.answer)

    def of(document: Document) -> Iterator[Proposed]:
        for each in _mixed(found[document.id], seed):
            if len(answers[_words(each.question), _day(document)]) == 1:
                yield document, each

    return _in_turn(map(of, documents))


def _written(documents: Sequence[Document], llm: LLM, seed: int, unusable: list[int]) -> Iterator[Proposed]:
    """What a model writes on sections of the documents, one document after the other."""

    def of(document: Document) -> Iterator[Proposed]:
        for section in sorted(sections_of(document), key=lambda each: _place(seed, f"{document.id} {each.start}")):
            proposals, lost = write(llm, document, section)
            unusable.append(lost)
            yield from ((document, each) for each in proposals)

    return _in_turn(map(of, documents))


def _in_turn(streams: Iterable[Iterator[Proposed]]) -> Iterator[Proposed]:
    """One of each stream in turn, until all have ended."""
    left = list(streams)
    while left:
        for stream in list(left):
            try:
                yield next(stream)
            except StopIteration:
                left.remove(stream)


def _mixed(proposals: Sequence[Proposal], seed: int) -> Iterator[Proposal]:
    """Those of one document in chance order, the kinds by `_TURNS`."""
    kinds: dict[str, list[Proposal]] = defaultdict(list)
    for proposal in sorted(proposals, key=lambda each: _place(seed, f"{each.start} {each.question}")):
        kinds[proposal.kind].append(proposal)
    for kind in cycle(_TURNS):
        if kinds[kind]:
            yield kinds[kind].pop()
        elif not any(kinds.values()):
            return


def _question(document: Document, name: str, proposal: Proposal) -> Question:
    pages = document.pages_of(proposal.start, proposal.end)
    evidence = Evidence(
        document=name,
        quote="" if proposal.section else document.text[proposal.start : proposal.end],
        section=proposal.section,
        page=pages[0].label if pages else None,
    )
    digest = hashlib.sha256(f"{document.id}\0{proposal.question}".encode("utf-8", "surrogatepass")).hexdigest()
    return Question(
        id=f"draft-{digest[:8]}",
        question=proposal.question,
        expected_answer=proposal.answer,
        evidence=(evidence,),
        groups=() if EVERYONE in document.rights.groups else tuple(sorted(document.rights.groups)[:1]),
        as_of=_day(document),
        kind=proposal.kind,
        reviewed=False,
    )


def _day(document: Document) -> date | None:
    """A day on which it is in force; None where that is today."""
    today = clock.today()
    if document.valid_to is not None and document.valid_to < today:
        return document.valid_to
    return document.valid_from if document.valid_from is not None and document.valid_from > today else None


def _place(seed: int, name: str) -> bytes:
    """In an order that is chance, and stays when other things come or go."""
    return hashlib.sha256(f"{seed} {name}".encode("utf-8", "surrogatepass")).digest()


def _words(question: str) -> frozenset[str]:
    return words(question) - _SMALL_WORDS
