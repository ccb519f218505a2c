"""What an answer may never say, or only with a certain source: rules of the settings, asked of every sentence.

A rule is data (`[[generation.rules]]`): what a sentence says, what one of its citations must then be, and what becomes
of the sentence where none is. It holds for quoted sentences as for those of a language model.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from fnmatch import translate
from functools import lru_cache

import regex

from citewell.checking.parts import Part, joined, parts_of, without_unsupported
from citewell.checking.support import Standing, Support
from citewell.generation.answer import ABSTENTION, Draft
from citewell.settings import Rule
from citewell.types import Citation, Sentence

SECONDS = 1.0
"""For one pattern on one text: a pattern that takes longer counts as one that says so, for safety."""

RULED_OUT = "a rule of the settings keeps it back"


def ruled(draft: Draft, rules: Sequence[Rule]) -> Draft:
    """The draft without what breaks a rule, or with a warning where the rule says "flag"; an abstention where it says
    so, or where nothing is left."""
    if draft.abstained or not rules:
        return draft
    broken: list[Rule] = []
    doubts = iter(draft.doubts or [""] * len(draft.sentences))

    def judged(sentence: Sentence) -> Support:
        cited, doubt = [draft.citations[n - 1] for n in sentence.citations], next(doubts)
        found = next((rule for rule in rules if _breaks(rule, sentence.text, cited)), None)
        if found is None:
            return Support(Standing.UNSURE, reason=doubt) if doubt else Support(Standing.SUPPORTED)
        broken.append(found)
        if found.otherwise != "flag":
            return Support(Standing.UNSUPPORTED, reason=_why(found))
        return Support(Standing.UNSURE, reason="; ".join(filter(None, (doubt, _why(found)))))

    parts = parts_of(draft, judged)
    if not broken:
        return draft
    if any(rule.otherwise == "abstain" for rule in broken):
        return _abstention(draft)
    warnings = draft.warnings + tuple(f"A sentence was struck: {part.why}." for part in parts if part.is_unsupported)
    kept: list[Part] = without_unsupported(parts)
    return joined(kept, draft.citations, warnings) if kept else _abstention(draft)


def _abstention(draft: Draft) -> Draft:
    return Draft(ABSTENTION, abstained=True, reason=RULED_OUT, warnings=draft.warnings)


def _breaks(rule: Rule, text: str, cited: Sequence[Citation]) -> bool:
    if not (_says(rule.says, text) or _says(rule.says, _as_read(text))):
        return False
    if not rule.source and not rule.quote:
        return True
    return not any(_fits(rule, citation) for citation in cited)


def _fits(rule: Rule, citation: Citation) -> bool:
    of_source = not rule.source or bool(regex.fullmatch(translate(rule.source), citation.source))
    return of_source and (not rule.quote or _matches(rule.quote, citation.quote, if_slow=False))


def _as_read(text: str) -> str:
    """Without what no reader sees, and with letters in their ordinary width."""
    plain = unicodedata.normalize("NFKC", text)
    return "".join(sign for sign in plain if unicodedata.category(sign) != "Cf")


def _says(pattern: str, text: str) -> bool:
    return _matches(pattern, text, if_slow=True)


def _matches(pattern: str, text: str, *, if_slow: bool) -> bool:
    try:
        return _compiled(pattern).search(text, timeout=SECONDS) is not None
    except TimeoutError:
        return if_slow


@lru_cache(maxsize=1_000)
def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern, regex.IGNORECASE)


def _why(rule: Rule) -> str:
    if not rule.source and not rule.quote:
        return f'the rule "{rule.name}" forbids it'
    return f'the rule "{rule.name}" asks for another source'
