"""One question that holds several, taken apart, so that each part is searched for alone."""

from __future__ import annotations

from datetime import date

from citewell.models.llm import LLM, Prompt
from citewell.models.reply import Listed, listed
from citewell.queries.decomposition_rules import MOST_PARTS, split
from citewell.queries.marks import marks, negations, same_language
from citewell.queries.periods import days, years
from citewell.retrieval.analyser import analyse_query
from citewell.retrieval.query import Query, Role

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


def parts_by(llm: LLM, question: str, today: date) -> tuple[Query, ...]:
    """The parts of a question, by a model (least-to-most prompting's first step, Zhou et al. 2022).

    A part with a code or number that the question has not, in another language, or of other words for the most part, is
    dropped; a day in a year that the question does not name is not taken. The rules answer where the reply is no list,
    no part is left, or a code, a number or a negation of the question is in none.

    Raises:
        ServiceError: the model's endpoint failed.
    """
    completion = llm.complete(Prompt(_RULES, f"Question: {question}", MAX_REPLY_TOKENS))
    found = _checked(question, listed(completion.text))
    return parts(question, today) if found is None else found


def _checked(question: str, items: tuple[Listed, ...] | None) -> tuple[Query, ...] | None:
    """The parts that may be searched; None where the reply cannot be used."""
    if items is None:
        return None
    asked = question.strip().casefold()
    dated = {item.text: _day(item, question) for item in items if item.text.casefold() != asked}
    kept = [text for text in dated if _is_of(text, question)][:MOST_PARTS]
    together = " ".join(kept)
    # A year may have gone from a part's text into its day.
    held = marks(together) | {str(day.year) for text in kept if (day := dated[text])}
    if dated and not (kept and marks(question) <= held and negations(question) <= negations(together)):
        return None
    return tuple(Query(text, Role.PART, as_of=dated[text]) for text in kept)


def _is_of(part: str, question: str) -> bool:
    """Whether a part asks nothing but of the question: at least half of its words that say something are in that."""
    telling = set(analyse_query(part))
    known = telling.intersection(analyse_query(question))
    return marks(part) <= marks(question) and same_language(part, question) and 2 * len(known) >= len(telling) > 0


def _day(item: Listed, question: str) -> date | None:
    """The day that a part asks about, if the question names its year."""
    try:
        day = date.fromisoformat(item.fields.get("as_of", ""))
    except ValueError:
        return None
    return day if day.year in years(question) else None
