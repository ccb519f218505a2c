"""A small evaluation made by hand: one question right, one wrong, one rightly and one wrongly refused, one in error."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from citewell.checking.judge import Failure
from citewell.evaluation.measures import Measured, retrieval
from citewell.evaluation.placing import held
from citewell.evaluation.report.evaluated import Evaluated, asked, not_default
from citewell.evaluation.runs import Outcome
from citewell.evaluation.scored import Scored
from citewell.evaluation.summary import summarise
from citewell.evaluation.testset import Evidence, Question
from citewell.settings import Models, Retrieval, Settings
from citewell.types import (
    Answer,
    Chunk,
    Citation,
    ElementKind,
    Floor,
    FloorOrigin,
    Hit,
    Rights,
    Scale,
    Sentence,
    Step,
    Trust,
    Usage,
)

HOSTILE = "<script>alert('x')</script> & \u202etxt.exe\x1b[31m"
TEXTS = (
    "A dispute is opened within 120\n days of the transaction date.",
    f"The fee is EUR 45. {HOSTILE}",
    "The branch opens at nine.",
)
SETTINGS = Settings(
    retrieval=Retrieval(keep=2, legs=("keyword",)),
    models=Models(llm="openai:small", llm_url="https://user:secret@host.example/v1?key=secret"),
)
DISPUTES = Evidence(document="rules.pdf", quote="within 120 days", section="4.2 Limits", page="22")
FEES = Evidence(document="rules.pdf", quote="EUR 45")
BRANCH = Evidence(document="rules.pdf", quote="opens at nine")


def hit(number: int, rank: int, lists: dict[str, int]) -> Hit:
    """A passage with `TEXTS[number]`."""
    text = TEXTS[number]
    chunk = Chunk(
        id=f"chunk-{number}",
        document_id="doc-1",
        title=f"Rules {HOSTILE}" if number == 1 else "Rules",
        source="file:///somewhere/rules.pdf",
        version="",
        text=text,
        start=0,
        end=len(text),
        heading_path=("4 Disputes", f"4.{number} Part"),
        pages=((3, "22"), (4, "23")),
        kind=ElementKind.PARAGRAPH,
        rights=Rights(frozenset({"staff"})),
        trust=Trust.APPROVED,
    )
    return Hit(chunk, f"entry-{number}", 0.5 / rank, Scale.RRF, rank, lists, 0.4)


HITS = (hit(0, 1, {"keyword": 1, "dense": 2}), hit(1, 2, {"dense": 1}), hit(2, 3, {"keyword": 4}))


def answer(question: Question, text: str, *, abstained: bool = False, reason: str = "") -> Answer:
    citation = Citation(
        1, "chunk-0", "doc-1", "Rules", "file:///r", ("4 Disputes",), "22", 3, TEXTS[0], 0, 9, "file:///r"
    )
    return Answer(
        question=question.question,
        text=text,
        sentences=() if abstained else (Sentence(text, (1,)),),
        citations=() if abstained else (citation,),
        abstained=abstained,
        reason=reason,
        hits=HITS[:2],
        warnings=(),
        usage=Usage(),
        trace=(Step("dense", 4.25, 1, 50), Step("floor", 0.5, 5, 2)),
    )


def outcome(question: Question, said: Answer | None, *, search_ms: float = 10.0, error: str = "") -> Outcome:
    return Outcome(question, HITS, held(question, HITS), search_ms, said, 4 * search_ms if said else 0.0, HITS, error)


def measured(of: Outcome, failed: dict[str, Failure] | None = None, **values: float) -> Measured:
    return Measured(of.question, retrieval(of) | values, failed or {})


def right() -> tuple[Outcome, Measured]:
    question = Question(
        id="right-1",
        question="How long may one dispute?",
        expected_answer="120 days.",
        evidence=(DISPUTES,),
        groups=("staff", "audit"),
        as_of=date(2026, 5, 1),
        kind="factoid",
        must_contain=("120",),
    )
    of = outcome(question, answer(question, "Within 120 days."))
    return of, measured(of, refused=0, correct=1, faithfulness=1, seconds=0.04)


def wrong() -> tuple[Outcome, Measured]:
    question = Question(
        id=f"wrong {HOSTILE}", question=f"What is the fee? {HOSTILE}", evidence=(FEES, BRANCH), kind=f"kind {HOSTILE}"
    )
    of = outcome(question, answer(question, f"It is free. {HOSTILE}"), search_ms=20)
    return of, measured(of, {"citation recall": Failure.TIME_OUT}, refused=0, correct=0, faithfulness=0.5, seconds=0.08)


def refused(*, answerable: bool) -> tuple[Outcome, Measured]:
    evidence = (DISPUTES,) if answerable else ()
    question = Question(
        id=f"refused-{answerable}", question="Who?", answerable=answerable, evidence=evidence, kind="who"
    )
    of = outcome(question, answer(question, "I don't know.", abstained=True, reason="nothing is near"), search_ms=30)
    return of, measured(of, refused=1, correct=float(not answerable), seconds=0.12)


def failed() -> tuple[Outcome, Measured]:
    question = Question(id="error-1", question="When?", evidence=(DISPUTES,), tags=("late",))
    of = outcome(question, None, search_ms=40, error=f"no route to {HOSTILE}")
    return of, measured(of)


def made(pairs: list[tuple[Outcome, Measured]], title: str = f"Bank {HOSTILE}") -> Evaluated:
    each = tuple(one for _, one in pairs)
    scored = Scored(tuple(of for of, _ in pairs), each, summarise(each))
    questions = [*(one.question for one in each), Question(question="draft", answerable=False, reviewed=False)]
    return Evaluated(
        title=title,
        at=datetime(2026, 11, 30, 8, 15, tzinfo=UTC),
        citewell="0.1.0",
        documents=2,
        chunks=1_234,
        embedder="all-MiniLM-L6-v2-int8",
        floor=Floor(FloorOrigin.CALIBRATED, 0.334),
        settings=not_default(SETTINGS),
        keep=SETTINGS.retrieval.keep,
        testset=asked("bank.jsonl", questions),
        judge="scripted",
        agreement=(f"Spearman 0.41 {HOSTILE}",),
        scored=scored,
    )


@pytest.fixture(scope="session")
def small() -> Evaluated:
    return made([right(), wrong(), refused(answerable=True), refused(answerable=False), failed()])
