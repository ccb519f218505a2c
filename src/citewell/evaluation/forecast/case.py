"""What a forecast is of and what it says, and the two that all others are seen beside: the settings as they are."""

from __future__ import annotations

from dataclasses import dataclass

from citewell.evaluation.forecast import formulas
from citewell.evaluation.forecast.collection import Asking, Collection
from citewell.evaluation.forecast.rates import Assumptions
from citewell.evaluation.forecast.work import NOTHING, Work

LANGUAGE_MODEL = "a language model"
RERANKER = "a re-ranking model"
LATE_INTERACTION = "a late-interaction model"
VISION_MODEL = "a vision model"


@dataclass(frozen=True, slots=True)
class Case:
    """What a forecast is of. `context_tokens` is the most that the language model takes in a prompt, `enriching` the
    work of writing what the settings want of the documents."""

    collection: Collection
    asking: Asking
    assumed: Assumptions
    context_tokens: int
    enriching: Work = NOTHING


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a technique takes. Nothing is called for it, only counted.

    `once` is what is paid to get there from the index as it is, `per_question` all that a question then takes, the
    answer with it. `stored_bytes` are of vectors, and come on top of what is stored. `needs` is the model that it
    takes, "" where none; `note` says what the numbers do not.
    """

    name: str
    once: Work = NOTHING
    per_question: Work = NOTHING
    stored_bytes: int = 0
    needs: str = ""
    note: str = ""


def built(case: Case) -> Forecast:
    """The index as it is; a question is answered in quotes, without a language model."""
    texts = case.collection
    return Forecast(
        "current settings",
        once=Work(embedding_tokens=texts.embedded_tokens) + case.enriching,
        per_question=Work(embedding_tokens=case.assumed.question_tokens),
        stored_bytes=formulas.vector_bytes(texts.entries, texts.dimensions) + texts.embedded_tokens * texts.token_bytes,
    )


def answered(case: Case) -> Forecast:
    """The index as it is; a language model reads the passages found and writes the answer."""
    return Forecast("with a language model", per_question=question(case), needs=LANGUAGE_MODEL)


def question(case: Case, passages: int | None = None) -> Work:
    """One question whose answer a language model writes from so many passages; by default those of the settings."""
    asking = case.asking
    shown = asking.passages if passages is None else passages
    return Work(
        calls=1,
        input_tokens=formulas.prompt_tokens(shown, asking.passage_tokens, asking.instruction_tokens),
        output_tokens=asking.answer_tokens,
        embedding_tokens=case.assumed.question_tokens,
    )


def read_once(case: Case) -> int:
    """Every passage in a prompt of its own."""
    texts = case.collection
    return formulas.prompt_tokens(
        texts.passages, texts.passage_tokens, texts.passages * case.assumed.instruction_tokens
    )
