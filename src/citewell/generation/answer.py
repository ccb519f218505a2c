"""Hits to a cited answer, or the honest "I don't know"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from citewell.generation.citations import Citations, PageOf
from citewell.generation.compression import Shown, compress
from citewell.generation.extractive import ANYTHING, Candidate, Place, extract, units_to_quote
from citewell.generation.planted import without_planted
from citewell.generation.prompt import Built, build_prompt
from citewell.generation.reply import check, says_dont_know
from citewell.generation.siblings import AskedFor
from citewell.generation.strips import is_row, quoted_with
from citewell.generation.units import Unit, units
from citewell.models.embedder import Embedder
from citewell.models.llm import LLM, Completion, stream
from citewell.settings import Settings
from citewell.types import Citation, Hit, Listener, Sentence, Trace

ABSTENTION = "I don't know: the documents do not cover this."
"""The same whether nothing is there or nothing may be read by who asks."""

MORE_ROWS = 10
"""Rows of a table looked at beyond those that are shown."""

NO_PASSAGE = "nothing found is near enough to the question"
NO_SENTENCE = "no sentence of the passages found is about the question"
NO_OWN_SENTENCE = "no sentence found is about the question and has a word that the follow-up adds"
MODEL_DECLINED = "the language model found no answer in the passages"
NOTHING_CITED = "the language model wrote nothing that cites a passage"


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer but for its question, hits and trace, which the caller has.

    `doubts` say of each sentence why it is not certain, "" where it is; () where none is doubted.
    """

    text: str
    sentences: tuple[Sentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    abstained: bool = False
    reason: str = ""
    warnings: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def told(self) -> tuple[str, ...]:
        """The warnings, with those about its sentences as they are numbered now."""
        doubted = ((n, why) for n, why in enumerate(self.doubts, start=1) if why)
        return (*self.warnings, *(f"Sentence {n} is not certain: {why}." for n, why in doubted))


def answer(
    question: str,
    hits: Sequence[Hit],
    *,
    llm: LLM | None,
    embedder: Embedder,
    settings: Settings,
    page_of: PageOf,
    trace: Trace,
    asked: AskedFor = ANYTHING,
) -> Draft:
    """Answer from `hits`, best first: by `llm`, or in the documents' own words where it is None, and then what is
    `asked` for tells which.

    `trace` gets the steps "compress", of units, where that is on, and "answer", from passages to sentences. Its
    listener hears what `llm` writes, unless what is unsupported is to be struck.

    Raises:
        ServiceError: the language model's endpoint failed.
    """
    shown = Shown(tuple(hits))
    if llm is not None and settings.generation.compress != "off":
        shown = compress(question, hits, settings, embedder=embedder, llm=llm, trace=trace)
    if llm is not None and settings.security.untrusted == "cut":
        shown = without_planted(shown, settings)
    with trace.step("answer", len(shown.hits)) as step:
        if not shown.hits:
            draft = _abstention(NO_PASSAGE)
        elif llm is None:
            draft = _quoted(question, hits, embedder, settings.generation.max_sentences, page_of, asked)
        else:
            # What may be struck is not shown before.
            listener = None if settings.generation.may_strike else trace.listener
            draft = _written(question, shown, llm, settings, page_of, listener)
        step.out = len(draft.sentences)
    return draft


def _quoted(
    question: str, hits: Sequence[Hit], embedder: Embedder, most: int, page_of: PageOf, asked: AskedFor
) -> Draft:
    citations = Citations(page_of)
    found = extract(question, hits, embedder, most + MORE_ROWS, asked)
    if not found:
        return _abstention(NO_OWN_SENTENCE if asked.own else NO_SENTENCE)
    quoted = _with_what_belongs(found[:most], most)
    keys = {_key(*place) for place in quoted}
    shown = [item for item in found if _key(item.hit, item.unit) in keys]
    warnings = _more_rows(shown, [item for item in found if item not in shown])
    sentences = tuple(Sentence(unit.shown, (citations.cite(hit, unit),)) for hit, unit in _in_reading_order(quoted))
    text = "\n".join(f"{sentence.text} [{sentence.citations[0]}]" for sentence in sentences)
    return Draft(text, sentences, citations.made, warnings=warnings)


def _more_rows(shown: Sequence[Candidate], left: Sequence[Candidate]) -> tuple[str, ...]:
    """A word on the rows left out of a table of which some are shown: half a table must not pass for the whole."""
    tables = {item.hit.passage.id for item in shown if is_row(item.hit.passage, item.unit)}
    count = sum(item.hit.passage.id in tables and is_row(item.hit.passage, item.unit) for item in left)
    many = f"at least {count}" if count == MORE_ROWS else str(count)
    rows = "row matches" if count == 1 else "rows match"
    return (f"Of the table quoted, {many} more {rows} too; generation.max_sentences shows more.",) if count else ()


def _with_what_belongs(found: Sequence[Candidate], most: int) -> list[Place]:
    """At most so many units: those found, best first, each with the sentences without which it would be misread. One
    that leans on more than there is room for is left out, but for the best."""
    quoted: dict[tuple[str, int, int], Place] = {}
    for item in found:
        passage = item.hit.passage
        every, open_to_all = units(passage), set(units_to_quote(passage))
        before, after = quoted_with(passage, every, every.index(item.unit))
        needed, added = (
            {_key(item.hit, every[at]): (item.hit, every[at]) for at in some if every[at] in open_to_all}
            for some in (before, after)
        )
        group = {_key(item.hit, item.unit): (item.hit, item.unit), **needed}
        if not quoted or len(quoted | group) <= most:
            quoted = dict(list((quoted | group | added).items())[:most])
    return list(quoted.values())


def _key(hit: Hit, unit: Unit) -> tuple[str, int, int]:
    """The same for what overlapping passages share."""
    return hit.passage.document_id, unit.start, unit.end


def _in_reading_order(found: Sequence[Place]) -> tuple[Place, ...]:
    """Best passage first; what is quoted of one passage as it stands there: "so is the second" follows the first."""
    first = {hit.passage.id: place for place, (hit, _) in reversed(list(enumerate(found)))}
    return tuple(sorted(found, key=lambda each: (first[each[0].passage.id], each[1].start)))


def _written(
    question: str, shown: Shown, llm: LLM, settings: Settings, page_of: PageOf, listener: Listener | None
) -> Draft:
    built = build_prompt(question, shown.hits, settings, shown.strips)
    reply = _completed(llm, built, listener)
    written = built.asked.meant(reply.text)
    if says_dont_know(written):
        return _abstention(MODEL_DECLINED, shown.warnings)
    citations = Citations(page_of)
    checked = check(written, built.hits, citations, shown.strips)
    warnings = shown.warnings + checked.warnings
    if reply.finish_reason == "length":
        warnings += ("The model's answer was cut off; raise models.llm_max_tokens.",)
    if reply.finish_reason == "content_filter":
        warnings += ("The endpoint's content filter cut the answer off.",)
    if not checked.sentences:
        return _abstention(NOTHING_CITED, warnings)
    return Draft(checked.text, checked.sentences, citations.made, warnings=warnings)


def _completed(llm: LLM, built: Built, listener: Listener | None) -> Completion:
    if listener is None:
        return llm.complete(built.prompt)
    with stream(llm, built.prompt) as pieces:
        for piece in pieces:
            listener.draft(built.asked.meant(piece))
    return pieces.completion


def _abstention(reason: str, warnings: tuple[str, ...] = ()) -> Draft:
    return Draft(ABSTENTION, abstained=True, reason=reason, warnings=warnings)
