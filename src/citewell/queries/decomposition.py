"""One question that holds several, taken apart, so that each part is searched for alone."""

from __future__ import annotations

from datetime import date

from citewell.models.llm import LLM, Prompt
from citewell.queries.decomposition_rules import MOST_PARTS, split
from citewell.queries.marks import marks, same_language
from citewell.queries.periods import days, years
from citewell.queries.reply import Listed, Written, listed, usage_of
from citewell.retrieval.query import Query, Role

PROMPT_VERSION = 1
"""Changes with every change of the prompt."""

MAX_REPLY_TOKENS = 250

_RULES = f"""\
Split the question into the questions that must be looked up one by one to answer it: at most {MOST_PARTS}, as few as \
possible. Each stands alone. Copy names, codes and numbers exactly; keep every "not". Stay in the language of the \
question. Give "as_of", a day, only where the question sets years or days against each other. A simple question is \
not split: []
Reply with a JSON array and nothing else.

Question: Who is the mother of the director of Alien?
[{{"question": "Who is the director of Alien?"}}]
Question: Which is older, Rome or Jericho?
[{{"question": "When was Rome founded?"}}, {{"question": "When was Jericho founded?"}}]
Question: How did the fee for K-3 change between 2021 and 2022?
[{{"question": "What is the fee for K-3?", "as_of": "2021-12-31"}}, \
{{"question": "What is the fee for K-3?", "as_of": "2022-12-31"}}]
Question: How long is the warranty of model K-3?
[]"""


def parts(question: str, today: date) -> tuple[Query, ...]:
    """The parts of a question, by rule; () where it is one question.

    Where the parts name different years or days, each is asked `as_of` its own: the last day of a year, or `today`.
    """
    texts = split(question)
    return tuple(Query(text, Role.PART, as_of=day) for text, day in zip(texts, days(texts, today), strict=True))


def parts_by(llm: LLM, question: str, today: date) -> Written:
    """The parts of a question, by a model (least-to-most prompting's first step, Zhou et al. 2022).

    A part with a code or number that the question has not, or in another language, is dropped; a day in a year that it
    does not name is not taken. The rules answer where the reply is no list, or where a code or number of the question
    is in none of its parts.

    Raises:
        ServiceError: the model's endpoint failed.
    """
    completion = llm.complete(Prompt(_RULES, f"Question: {question}", MAX_REPLY_TOKENS))
    found = _checked(question, listed(completion.text))
    return Written(parts(question, today) if found is None else found, usage_of(completion))


def _checked(question: str, items: tuple[Listed, ...] | None) -> tuple[Query, ...] | None:
    """The parts that may be searched; None where the reply cannot be used."""
    if items is None:
        return None
    asked, known = question.strip().casefold(), marks(question)
    texts = {item.text: _day(item, question) for item in items if item.text.casefold() != asked}
    kept = {text: day for text, day in texts.items() if marks(text) <= known and same_language(text, question)}
    if items and not kept:
        return None if len(items) > 1 else ()
    # A year may have gone from a part's text into its day.
    held = frozenset().union(*map(marks, kept)) | {str(day.year) for day in kept.values() if day}
    if kept and not known <= held:
        return None
    return tuple(Query(text, Role.PART, as_of=day) for text, day in list(kept.items())[:MOST_PARTS])


def _day(item: Listed, question: str) -> date | None:
    """The day that a part asks about, if the question names its year."""
    try:
        day = date.fromisoformat(item.fields.get("as_of", ""))
    except ValueError:
        return None
    return day if day.year in years(question) else None
