"""The loop of Self-RAG from outside, with any language model: it is asked what a trained one says with its tokens.

    relevant? (each passage) - draft - supported? (each sentence) - useful? - search again? - and once more from the top

Asai et al. 2023 (arXiv:2310.11511). A draft that is supported and useful ends it; else the best one goes out, without
what is not supported, or none. What comes first, whether to search at all, was decided before (`queries.small_talk`,
`queries.routing`): there is no answer without passages here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from citewell.checking.parts import Part, joined, parts_of, without_unsupported
from citewell.checking.support import Standing
from citewell.checking.verified import NOTHING_SUPPORTED
from citewell.errors import PromptRefused
from citewell.generation.answer import ABSTENTION, NO_PASSAGE, Draft, answer
from citewell.generation.citations import PageOf
from citewell.models.embedder import Embedder
from citewell.models.llm import LLM
from citewell.reflection.decisions import Decision
from citewell.reflection.judging import ENOUGH, Judge
from citewell.settings import Settings
from citewell.types import Hit, Trace

Search = Callable[[str], Sequence[Hit]]
"""The passages for a query, best first, of those that the reader may see."""

USELESS = 1
"""Of use, 1 to 5: such a draft is none."""

NONE_RELEVANT = "the language model finds none of the passages relevant"
NOT_USEFUL = "the language model finds that what it wrote does not answer the question"
UNREAD = "Decisions of the language model about its own answer could not be read; they count as the careful ones."
IN_PART = "The language model finds that this answers the question only in part."

_NO_PASSAGE = "Nothing was found."
_NONE_RELEVANT = "No passage that was found is relevant."
_NO_DRAFT = "What was found does not answer it."
_UNSUPPORTED = "What was written from it is not supported."
_NOT_USEFUL = "What was written from it does not answer the question in full."


@dataclass(frozen=True, slots=True)
class Reflected:
    """The answer, the passages seen for it (ranked anew, so that a decision's passage is the hit of that rank), what
    was searched for besides the question, and every decision in order."""

    draft: Draft
    hits: tuple[Hit, ...]
    searched: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True, slots=True)
class _Segment:
    """A draft, judged. `useful` is None where that could not be read."""

    draft: Draft
    parts: tuple[Part, ...]
    useful: int | None

    @property
    def is_supported(self) -> bool:
        return all(part.support.standing is Standing.SUPPORTED for part in self.parts)

    @property
    def is_good(self) -> bool:
        return self.is_supported and (self.useful or 0) >= ENOUGH

    @property
    def worth(self) -> tuple[bool, bool, bool, int]:
        is_sound = not any(part.is_unsupported for part in self.parts)
        return self.useful != USELESS, is_sound, self.is_supported, self.useful or 0


def reflected(
    question: str,
    search: Search,
    hits: Sequence[Hit],
    *,
    llm: LLM,
    embedder: Embedder,
    settings: Settings,
    page_of: PageOf,
    trace: Trace,
) -> Reflected:
    """Answer from `hits`, and from what `search` finds, in at most `generation.reflect_rounds` rounds.

    `trace` gets the steps "relevant", "answer", "supported", "useful" and "search again" of each round. Its listener
    hears no draft: it may not be the answer.

    Raises:
        ServiceError: the language model's endpoint failed; or refused the first draft's prompt.
    """
    judge = Judge(question, llm, embedder, settings, trace)
    seen: list[Hit] = []
    relevant: list[Hit] = []
    segments: list[_Segment] = []
    declined: Draft | None = None
    searched, found = [question], list(hits)
    while True:
        fresh = judge.relevant(found, len(seen) + 1) if found else []
        seen += found
        relevant += fresh
        why = _NONE_RELEVANT if seen else _NO_PASSAGE
        if fresh:
            draft = _drafted(relevant, judge, page_of, is_first=not segments and declined is None)
            why = _NO_DRAFT
            if draft is not None and draft.abstained:
                declined = draft
            elif draft is not None:
                segments.append(_judged(draft, relevant, judge))
                why = _NOT_USEFUL if segments[-1].is_supported else _UNSUPPORTED
        if (segments and segments[-1].is_good) or judge.round == settings.generation.reflect_rounds:
            break
        found = _again(judge, search, searched, why, seen)
        if not found:
            break
        judge.round += 1
    draft = _best(segments) if segments else declined or _nothing(seen)
    if judge.is_unread:
        draft = replace(draft, warnings=(*draft.warnings, UNREAD))
    ranked = tuple(replace(hit, rank=rank) for rank, hit in enumerate(seen, start=1))
    return Reflected(draft, ranked, tuple(searched[1:]), tuple(judge.decisions))


def _drafted(relevant: Sequence[Hit], judge: Judge, page_of: PageOf, *, is_first: bool) -> Draft | None:
    """None where the endpoint refuses the prompt, as one too long, and an earlier draft can stand."""
    quiet = Trace()
    try:
        return answer(
            judge.question,
            relevant,
            llm=judge.llm,
            embedder=judge.embedder,
            settings=judge.settings,
            page_of=page_of,
            trace=quiet,
        )
    except PromptRefused:
        if is_first:
            raise
        return None
    finally:
        judge.trace.add(*quiet.steps)


def _judged(draft: Draft, relevant: Sequence[Hit], judge: Judge) -> _Segment:
    stands = judge.supported(draft, relevant)
    parts = parts_of(draft, lambda sentence: stands[sentence])
    return _Segment(draft, tuple(parts), judge.useful(draft))


def _again(judge: Judge, search: Search, searched: list[str], why: str, seen: Sequence[Hit]) -> list[Hit]:
    """What another search finds that was not seen before."""
    with judge.trace.step("search again", 1) as step:
        query = judge.more(searched, why)
        if query is None:
            return []
        searched.append(query)
        known = {hit.passage.id for hit in seen}
        found = {hit.passage.id: hit for hit in search(query) if hit.passage.id not in known}
        step.out = len(found)
    return list(found.values())


def _best(segments: Sequence[_Segment]) -> Draft:
    """The first of the best ones, without its sentences that are not supported."""
    best = max(segments, key=lambda segment: segment.worth)
    struck = tuple(f"A sentence was struck: {part.why}." for part in best.parts if part.is_unsupported)
    warnings = best.draft.warnings + struck
    kept = without_unsupported(best.parts)
    if best.useful == USELESS or not kept:
        reason = NOTHING_SUPPORTED if not kept else NOT_USEFUL
        return Draft(ABSTENTION, abstained=True, reason=reason, warnings=warnings)
    if best.useful is not None and best.useful < ENOUGH:
        warnings += (IN_PART,)
    return joined(kept, best.draft.citations, warnings)


def _nothing(seen: Sequence[Hit]) -> Draft:
    return Draft(ABSTENTION, abstained=True, reason=NONE_RELEVANT if seen else NO_PASSAGE)
