"""`citewell diagnose TESTSET`"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import typer

from citewell.cli.bench_options import (
    DEFAULT_WORKBENCH,
    JudgeName,
    RetrievalOnly,
    TestSet,
    WorkbenchFolder,
    asking,
    read_questions,
)
from citewell.cli.options import DEFAULT_INDEX, IndexPlace, Json, SettingsFile, load_settings
from citewell.cli.terminal import complain, count, one_line, out, print_indented, print_json, print_table
from citewell.shapes import VERSION, Shape

if TYPE_CHECKING:
    from rich.table import Table

    from citewell.evaluation.diagnosing import Diagnosis, Proposal
    from citewell.evaluation.failures import Failed
    from citewell.evaluation.stages import Kind
    from citewell.evaluation.techniques import Cost

SHOWN = 6
"""Proposals in full; --json has all."""


def diagnose(
    testset: TestSet,
    judge: JudgeName = "aligned",
    retrieval_only: RetrievalOnly = False,
    workbench: WorkbenchFolder = DEFAULT_WORKBENCH,
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """Say at which stage each failed question of a test set was lost, and what to try for it."""
    questions = read_questions(testset)
    loaded = load_settings(settings)
    from citewell.evaluation.diagnosing import diagnose as placed
    from citewell.evaluation.judging.configured import judge_for, remembering_llm
    from citewell.evaluation.scored import score
    from citewell.index import Index
    from citewell.models.minilm import MiniLM

    judging = judge_for(judge, loaded, workbench)
    llm = None if retrieval_only else remembering_llm(loaded, workbench)
    with Index.open(at, settings=loaded, llm=llm) as index, asking("questions") as on_question:
        scored = score(
            index,
            questions,
            judge=judging,
            embedder=MiniLM(loaded.models.threads),
            answers=not retrieval_only,
            llm=llm,
            on_question=on_question,
        )
        found = placed(index, scored, judging)
        size = index.status().bytes_on_disk
    for outcome in scored.unanswered:
        complain(f"{outcome.question.id} has no answer: {outcome.error}")
    if as_json:
        print_json(_shape(found))
    else:
        _print(found, size)
    if scored.unanswered:
        raise typer.Exit(1)


def _print(found: Diagnosis, size: int) -> None:
    out().print(f"{count(found.questions, 'question')}, {len(found.failed):,} failed.", style="bold")
    if found.untold:
        out().print(f"Of {count(len(found.untold), 'question')} nobody can tell; --json lists them.", soft_wrap=True)
    if not found.failed:
        return
    print()
    print_table(_kinds(found))
    print()
    print_table(_questions(found))
    if found.proposals:
        print()
        out().print("What to try first", style="bold")
    for number, proposal in enumerate(found.proposals[:SHOWN], start=1):
        _print_proposal(number, proposal, size)
    more = [proposal.technique.name for proposal in found.proposals[SHOWN:]]
    if more:
        out().print(f"Then: {', '.join(more)}. --json has them all.", soft_wrap=True)
    if found.later:
        names = ", ".join(f"{each.technique.name} ({each.questions})" for each in found.later)
        out().print(f"Not in this version: {names}.", soft_wrap=True)


def _kinds(found: Diagnosis) -> Table:
    from rich.table import Table

    from citewell.evaluation.stages import MEANING

    table = Table("where lost", "failed", "of", "what it means", box=None, pad_edge=False)
    labels = found.by_label
    for kind, number in found.by_kind.items():
        of = ", ".join(f"{one_line(label)} {kinds[kind]}" for label, kinds in labels.items() if kind in kinds)
        table.add_row(kind, f"{number:,}", of, MEANING[kind])
    return table


def _questions(found: Diagnosis) -> Table:
    from rich.table import Table

    table = Table("question", "where lost", "how", box=None, pad_edge=False)
    for failed in sorted(found.failed, key=lambda each: each.kind.stage):
        table.add_row(one_line(failed.question.id), failed.kind, one_line(failed.detail))
    return table


def _print_proposal(number: int, proposal: Proposal, size: int) -> None:
    technique = proposal.technique
    what = technique.do or ", ".join(f"{key} = {_value(value)}" for key, value in proposal.patch.items())
    out().print(
        f"{number}. {technique.name}: could mend {proposal.questions:,} ({_counted(proposal.could_mend)})",
        soft_wrap=True,
    )
    print_indented(what, 3)
    print_indented(f"Cost: {_cost(technique.cost, size)}. Risk: {technique.risk}", 3)


def _counted(kinds: Mapping[Kind, int]) -> str:
    return ", ".join(f"{kind} {number:,}" for kind, number in kinds.items())


def _value(value: object) -> str:
    import json

    return json.dumps(value)


def _cost(cost: Cost | None, size: int) -> str:
    return "not measured" if cost is None else ", ".join(_costs(cost, size)) or "none"


def _costs(cost: Cost, size: int) -> Iterator[str]:
    if cost.build:
        yield f"indexing again, {cost.build:g} times the work"
    if cost.bytes != 1:
        yield f"{cost.bytes:g} times the room ({size / 1e6:,.0f} MB to {size * cost.bytes / 1e6:,.0f} MB)"
    if cost.query_ms:
        yield f"{cost.query_ms:+,.0f} ms a question"
    if cost.model_calls:
        yield f"{cost.model_calls:g} call{'' if cost.model_calls == 1 else 's'} of a language model a question"


def _shape(found: Diagnosis) -> Shape:
    return {
        "version": VERSION,
        "questions": found.questions,
        "failed": [_failed(each) for each in found.failed],
        "untold": [question.id for question in found.untold],
        "kinds": _numbers(found.by_kind),
        "labels": [{"name": label, "kinds": _numbers(kinds)} for label, kinds in found.by_label.items()],
        "proposals": [_proposal(each) for each in (*found.proposals, *found.later)],
    }


def _numbers(kinds: Mapping[Kind, int]) -> list[Shape]:
    return [{"kind": kind, "questions": number} for kind, number in kinds.items()]


def _failed(failed: Failed) -> Shape:
    evidence = failed.evidence
    return {
        "id": failed.question.id,
        "kind": failed.kind,
        "detail": failed.detail,
        "evidence": {"document": evidence.document, "quote": evidence.quote, "section": evidence.section}
        if evidence is not None
        else None,
        "rank": failed.rank,
        "ranks": dict(failed.ranks),
    }


def _proposal(proposal: Proposal) -> Shape:
    technique = proposal.technique
    return {
        "name": technique.name,
        "questions": proposal.questions,
        "could_mend": _numbers(proposal.could_mend),
        "settings": dict(proposal.patch),
        "do": technique.do,
        "available": technique.available,
        "cost": technique.cost.model_dump() if technique.cost is not None else None,
        "risk": technique.risk,
    }
