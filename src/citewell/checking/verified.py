"""An answer that a language model wrote, checked against what it cites before it goes out.

Each sentence - is it supported? - if not, written once more by the model with the cited text - checked again - and
what fails is flagged, or struck.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from citewell.checking.narrowing import narrowed
from citewell.checking.repair import repair_prompt, repaired
from citewell.checking.support import Standing, Support, support
from citewell.generation.answer import ABSTENTION, Draft
from citewell.models.embedder import Embedder
from citewell.models.llm import LLM
from citewell.types import Chunk, Citation, Hit, Sentence, Trace

NOTHING_SUPPORTED = "nothing that the language model wrote is supported by what it cites"


@dataclass(frozen=True, slots=True)
class _Part:
    """A sentence, what stands before it in the answer's text, and how it stands to what it cites."""

    sentence: Sentence
    before: str
    support: Support


def verified(
    question: str,
    draft: Draft,
    hits: Sequence[Hit],
    way: Literal["flag", "strike"],
    *,
    llm: LLM,
    embedder: Embedder,
    trace: Trace,
) -> Draft:
    """The draft with its unsupported sentences repaired, or else flagged by a warning or struck, as `way` says.

    A sentence of which it is not sure is flagged in any case. `hits` are the passages that it could cite.

    Raises:
        ServiceError: the language model's endpoint failed.
    """
    if draft.abstained:
        return draft
    with trace.step("verify", len(draft.sentences)) as step:
        cited = _Cited({hit.passage.id: hit.passage for hit in hits}, {each.n: each for each in draft.citations})
        parts = [
            _Part(sentence, before, support(sentence.text, cited.texts(sentence), embedder, question))
            for sentence, before in _placed(draft)
        ]
        parts = _mended(question, parts, cited, llm, embedder)
        step.out = sum(part.support.standing is Standing.SUPPORTED for part in parts)
    unsupported = [part for part in parts if way == "strike" and part.support.standing is Standing.UNSUPPORTED]
    struck = tuple(f"A sentence was struck: {_why(part.support)}." for part in unsupported)
    kept = _without(parts, unsupported)
    if not kept:
        return Draft(ABSTENTION, abstained=True, reason=NOTHING_SUPPORTED, warnings=draft.warnings + struck)
    return _joined(replace(draft, warnings=draft.warnings + struck), kept)


@dataclass(frozen=True, slots=True)
class _Cited:
    """The passages by id, and the citations by number."""

    passages: dict[str, Chunk]
    citations: dict[int, Citation]

    def texts(self, sentence: Sentence) -> tuple[str, ...]:
        """What a sentence cites: its quotes, then the passages around them with what stands above these."""
        cited = [self.citations[n] for n in sentence.citations]
        around = dict.fromkeys(self.passages[each.chunk_id] for each in cited if each.chunk_id in self.passages)
        return (*(each.quote for each in cited), *map(_whole, around))


def _whole(chunk: Chunk) -> str:
    return "\n".join(filter(None, (chunk.title, chunk.section, chunk.preamble, chunk.text)))


def _placed(draft: Draft) -> Iterator[tuple[Sentence, str]]:
    """Each sentence with what stands between it and the one before."""
    end = 0
    for sentence in draft.sentences:
        start = draft.text.index(sentence.text, end)
        yield sentence, draft.text[end:start]
        end = start + len(_shown(sentence))


def _shown(sentence: Sentence) -> str:
    """A sentence with its markers, as `generation.reply` writes it."""
    return f"{sentence.text} {''.join(f'[{n}]' for n in sentence.citations)}"


def _mended(question: str, parts: Sequence[_Part], cited: _Cited, llm: LLM, embedder: Embedder) -> list[_Part]:
    """With what the model makes of the unsupported ones, where that is supported; one call for all of them."""
    wrong = [part for part in parts if part.support.standing is Standing.UNSUPPORTED]
    if not wrong:
        return list(parts)
    texts = [cited.texts(part.sentence) for part in wrong]
    prompt = repair_prompt(
        question, [part.sentence.text for part in wrong], texts, [part.support.reason for part in wrong]
    )
    rewritten = repaired(llm.complete(prompt).text, len(wrong))
    better: dict[int, _Part] = {}
    for part, given, text in zip(wrong, texts, rewritten, strict=True):
        # That the passage says nothing is supported by any passage, and answers nothing.
        if text is None or not any(narrowed(text, each) for each in given):
            continue
        found = support(text, given, embedder, question)
        if found.standing is Standing.SUPPORTED:
            better[id(part)] = replace(part, sentence=replace(part.sentence, text=text), support=found)
    return [better.get(id(part), part) for part in parts]


def _without(parts: Sequence[_Part], struck: Sequence[_Part]) -> list[_Part]:
    """A line that began with what was struck begins with what comes after it."""
    kept: list[_Part] = []
    begins = False
    for part in parts:
        begins = begins or "\n" in part.before
        if part not in struck:
            kept.append(replace(part, before="\n") if begins else part)
            begins = False
    return kept


def _joined(draft: Draft, parts: Sequence[_Part]) -> Draft:
    """The answer of these parts: its citations are numbered anew, in the order of their first use."""
    used = dict.fromkeys(n for part in parts for n in part.sentence.citations)
    numbers = {n: place for place, n in enumerate(used, start=1)}
    sentences = tuple(
        replace(part.sentence, citations=tuple(numbers[n] for n in part.sentence.citations)) for part in parts
    )
    gaps = ["" if place == 0 else part.before for place, part in enumerate(parts)]
    old = {each.n: each for each in draft.citations}
    flags = tuple(
        f"Sentence {place} is not certain: {_why(part.support)}."
        for place, part in enumerate(parts, start=1)
        if part.support.standing is not Standing.SUPPORTED
    )
    return Draft(
        text="".join(gap + _shown(sentence) for gap, sentence in zip(gaps, sentences, strict=True)),
        sentences=sentences,
        citations=tuple(replace(old[n], n=numbers[n]) for n in used),
        warnings=draft.warnings + flags,
    )


def _why(found: Support) -> str:
    return found.reason or "what it cites does not support it"
