"""What went wrong with one question, in words: what a reader of the report looks for first."""

from __future__ import annotations

from citewell.evaluation.measures import Measured
from citewell.evaluation.runs import Outcome


def problems(outcome: Outcome, measured: Measured, keep: int) -> tuple[str, ...]:
    """() where nothing did. All that `failures.has_failed` fails has one, and so has a claim without support.

    What the judge could not judge is no problem of the question's; `measured.failed` has it.
    """
    if outcome.error:
        return (f"The language model's service failed: {outcome.error}",)
    return (*_of_answer(outcome, measured), *_of_evidence(outcome, keep))


def first_ranks(outcome: Outcome) -> tuple[int | None, ...]:
    """For each piece of evidence the 1-based rank of the first passage that holds it; None where none does."""
    return tuple(
        next((rank for rank, numbers in enumerate(outcome.held, start=1) if at in numbers), None)
        for at in range(len(outcome.question.evidence))
    )


def _of_answer(outcome: Outcome, measured: Measured) -> list[str]:
    answer, found = outcome.answer, list[str]()
    if answer is None:
        return found
    if measured.values.get("correct") == 0:
        if not outcome.question.answerable:
            found.append("Answered, though it should have said that it does not know.")
        elif answer.abstained:
            found.append(f"Refused, though there is an answer: {answer.reason}.")
        else:
            found.append("The answer is not right.")
    supported = measured.values.get("faithfulness", 1.0)
    if supported < 1:
        found.append(f"{1 - supported:.0%} of the answer's claims are not supported by its passages.")
    return found


def _of_evidence(outcome: Outcome, keep: int) -> list[str]:
    if not outcome.question.answerable:
        return []
    read = {hit.chunk.id for hit in outcome.answer.hits} if outcome.answer is not None else set()
    found = []
    for number, rank in enumerate(first_ranks(outcome), start=1):
        if rank is None:
            found.append(f"Evidence {number} is not among the first {len(outcome.hits)} passages.")
        elif rank > keep and outcome.hits[rank - 1].chunk.id not in read:
            found.append(f"Evidence {number} is at rank {rank}, and only the first {keep} are read.")
    return found
