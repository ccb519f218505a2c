"""An answer's text, taken apart into its sentences and put together again with those that stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from citewell.checking.claims import OPENING
from citewell.checking.support import Standing, Support
from citewell.generation.answer import Draft
from citewell.types import Citation, Sentence


@dataclass(frozen=True, slots=True)
class Part:
    """A sentence, what stands before it in the answer's text, and how it stands to what it cites.

    `leads`: it is a line that leads in to the part after it, and cites what that cites.
    """

    sentence: Sentence
    before: str
    support: Support
    leads: bool = False

    @property
    def opens_line(self) -> bool:
        return self.before != " "

    @property
    def mark(self) -> str:
        """What makes it an item of a list; "" where it is none."""
        mark = OPENING.match(self.sentence.text) if self.opens_line else None
        return mark[0] if mark else ""

    @property
    def is_unsupported(self) -> bool:
        return self.support.standing is Standing.UNSUPPORTED

    @property
    def why(self) -> str:
        """Why it is not supported, for a user."""
        return self.support.reason or "what it cites does not support it"

    def citing(self, citations: tuple[int, ...]) -> Part:
        return replace(self, sentence=replace(self.sentence, citations=citations))

    def mended(self, text: str, citations: tuple[int, ...], support: Support) -> Part:
        """With this text, which has no mark, in the place of its own."""
        return replace(self, sentence=Sentence(self.mark + text, citations), support=support, leads=False)


def parts_of(draft: Draft, judged: Callable[[Sentence], Support]) -> list[Part]:
    """The sentences of an answer, in order."""
    parts = [Part(sentence, before, judged(sentence)) for sentence, before in _placed(draft)]
    leading = [
        replace(one, leads=_leads_in(one) and one.sentence.citations == after.sentence.citations)
        for one, after in pairwise(parts)
    ]
    return [*leading, *parts[-1:]]


def without_unsupported(parts: Sequence[Part]) -> list[Part]:
    """Those that are not unsupported. A line that leads in goes with the last of what it leads in to.

    What is left of a line begins as the line did, with its mark.
    """
    stays = [not part.is_unsupported for part in parts]
    for place in reversed(range(len(parts))):
        led = _led(parts, place)
        stays[place] &= not led or any(stays[at] for at in led)
    kept: list[Part] = []
    lost: str | None = None
    for part, is_kept in zip(parts, stays, strict=True):
        if part.opens_line:
            lost = None if is_kept else part.mark
        if is_kept and lost is not None:
            sentence = replace(part.sentence, text=lost + part.sentence.text)
            part, lost = replace(part, sentence=sentence, before="\n"), None
        if is_kept:
            kept.append(part)
    return kept


def joined(parts: Sequence[Part], made: Sequence[Citation], warnings: tuple[str, ...]) -> Draft:
    """The answer of these parts, which cite what was `made`: numbered anew in the order of first use."""
    sentences = _citing(parts)
    used = dict.fromkeys(n for sentence in sentences for n in sentence.citations)
    numbers = {n: place for place, n in enumerate(used, start=1)}
    sentences = [replace(sentence, citations=tuple(numbers[n] for n in sentence.citations)) for sentence in sentences]
    gaps = ["" if place == 0 else part.before for place, part in enumerate(parts)]
    by_number = {each.n: each for each in made}
    doubts = tuple("" if part.support.standing is Standing.SUPPORTED else part.why for part in parts)
    return Draft(
        text="".join(gap + _shown(sentence) for gap, sentence in zip(gaps, sentences, strict=True)),
        sentences=tuple(sentences),
        citations=tuple(replace(by_number[n], n=numbers[n]) for n in used),
        warnings=warnings,
        doubts=doubts if any(doubts) else (),
    )


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


def _leads_in(part: Part) -> bool:
    return part.sentence.text.rstrip("*_").endswith(":")


def _led(parts: Sequence[Part], place: int) -> range:
    """The places of what a part leads in to: the items right after it, or else the one part after it."""
    first = stop = place + 1
    if stop == len(parts) or not _leads_in(parts[place]):
        return range(0)
    while stop < len(parts) and (parts[stop].mark or (stop > first and not parts[stop].opens_line)):
        stop += 1
    return range(first, max(stop, first + 1))


def _citing(parts: Sequence[Part]) -> list[Sentence]:
    """The sentences; one that leads in cites what the one now after it cites."""
    found: list[Sentence] = []
    for part in reversed(parts):
        leads = part.leads and found
        found.append(replace(part.sentence, citations=found[-1].citations) if leads else part.sentence)
    return found[::-1]
