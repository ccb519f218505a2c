"""Every way to fail, in a real index, placed where it happened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from math import inf
from typing import Literal

import pytest

from citewell.checking.judge import Failure, Judgement
from citewell.evaluation.answers import measured
from citewell.evaluation.diagnosing import propose
from citewell.evaluation.facts import Fact, of_index
from citewell.evaluation.failures import Failed, has_failed, place
from citewell.evaluation.measures import Measured
from citewell.evaluation.runs import run
from citewell.evaluation.stages import MEANING, Kind
from citewell.evaluation.testset import Evidence, Question
from citewell.index import Index
from citewell.loading.given import from_text
from citewell.models.llm import Completion, Prompt
from citewell.models.minilm import MiniLM
from citewell.retrieval.floor import best_evidence, evidence
from citewell.settings import Chunking, Generation, Models, Retrieval, Settings, Storage
from citewell.types import Document, Element, ElementKind, Trust
from tests.evaluation.scripted_judge import ScriptedJudge

EMBEDDER = MiniLM()
WRITTEN = Models(llm="openai:scripted", llm_url="http://localhost:9/v1")
QUOTE = "A customer may dispute a card payment within 120 days of the transaction date."
LONG = (
    "Whoever loses a card abroad calls the number on the back of it, says where and when the card was last used, names "
    "the payments that are not theirs, and is sent another card within five working days to any address that they give."
)


class ScriptedLLM:
    """Writes one reply."""

    def __init__(self, reply: str) -> None:
        self._reply = reply

    def complete(self, prompt: Prompt) -> Completion:  # noqa: ARG002  # the protocol's
        return Completion(self._reply, 100, 10, "stop")


def documents() -> Iterator[Document]:
    def text(name: str, text: str, **more: object) -> Document:
        return from_text(text, source=f"https://bank.example/{name}.md", title=name, **more)  # type: ignore[arg-type]  # of the test

    yield text("disputes", QUOTE)
    yield text("limits", "Alerts above a score of 85 are declined with code R-17.", groups=["fraud_team"])
    yield text("sealed", "The vault opens with two keys.", groups=[])
    yield text("fees-2025", "In 2025 a chargeback cost EUR 40.", valid_to=date(2025, 12, 31))
    yield text("fees-2026", "In 2026 a chargeback costs EUR 45.", valid_from=date(2026, 1, 1))
    yield text("lost-cards", LONG)
    yield replace(text("scan", "The first page of the scan is text."), lost="page 2: an image without text")
    yield replace(text("approved", "Complaints are answered in writing."), trust=Trust.APPROVED)
    yield replace(
        text("table", "Fee | EUR\nTransfer | 25"),
        elements=(Element(kind=ElementKind.TABLE, start=0, end=24, heading_path=(), header_rows=1),),
    )
    yield text("gone", "This goes away.")
    for town in ("Ashford", "Bexley", "Corby", "Denham", "Epsom", "Frome", "Goole", "Hove"):
        yield text(town, f"The branch in {town} opens at nine and closes at five on weekdays.")


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> str:
    settings = Settings(chunking=Chunking(size=40, overlap=0))
    with Index.create(tmp_path_factory.mktemp("failures") / "index", settings=settings) as index:
        index.add_documents(list(documents()))
        index.delete("https://bank.example/gone.md")
        return index.location


def placed(
    at: str,
    question: Question,
    settings: Settings | None = None,
    reply: str = "",
    judge: ScriptedJudge | None = None,
) -> Failed | None:
    """Where it failed, and with a `reply` what a language model made of the passages."""
    judge = judge or ScriptedJudge()
    with Index.open(at, settings=settings or Settings(), llm=ScriptedLLM(reply) if reply else None) as index:
        (outcome,) = run(index, [question])
        return place(index, index.stored(texts=False), outcome, measured(outcome, judge, EMBEDDER), judge)


def asked(question: str, document: str, quote: str, **more: object) -> Question:
    evidence = [{"document": f"{document}.md", "quote": quote}]
    return Question.model_validate({"id": "q", "question": question, "evidence": evidence, **more})


DISPUTE = asked("How many days to dispute a card payment?", "disputes", "within 120 days", must_contain=["120 days"])
OPENS = asked("When does the branch open on weekdays?", "Goole", "closes at five")
MIXED = asked("dispute in the branch of Hove after five days", "Hove", "closes at five")
COST = "What did a chargeback cost?"


def retrieving(keep: int, candidates: int = 12) -> Settings:
    return Settings(retrieval=Retrieval(keep=keep, candidates=candidates, floor="off", rerank=False, fusion="rrf"))


@pytest.mark.parametrize(
    ("question", "kind", "detail"),
    [
        (asked("What?", "nowhere", "x"), Kind.NOT_LOADED, "no document of the index is named nowhere.md"),
        (asked("What?", "gone", "This goes away."), Kind.NOT_LOADED, "gone.md was removed from the index on "),
        (asked("What?", "scan", "the second page"), Kind.NOT_LOADED, "page 2: an image without text"),
        (asked("What?", "disputes", "within 90 days"), Kind.NOT_LOADED, "of disputes.md, which was read whole"),
        (asked("Which?", "limits", "score of 85"), Kind.NOT_ALLOWED, "is for fraud_team; asked as everyone"),
        (asked("How?", "sealed", "two keys"), Kind.NOT_ALLOWED, "is for nobody; asked as everyone"),
        (asked(COST, "fees-2025", "EUR 40", as_of=date(2026, 3, 1)), Kind.NOT_IN_FORCE, "in force until 2025-12-31"),
        (asked(COST, "fees-2026", "EUR 45", as_of=date(2025, 3, 1)), Kind.NOT_IN_FORCE, "in force from 2026-01-01"),
        (asked("Lost my card?", "lost-cards", LONG), Kind.CUT, "29 of 44 words"),
    ],
)
def test_lost_before_the_search(at: str, question: Question, kind: Kind, detail: str) -> None:
    failed = placed(at, question)
    assert failed is not None
    assert failed.kind is kind
    assert detail in failed.detail
    assert failed.evidence == question.evidence[0]


def rank_in(at: str, leg: Literal["dense", "keyword"], question: Question) -> int:
    """Of the document that the question's evidence is in, by that leg alone."""
    alone = Settings(retrieval=Retrieval(legs=(leg,), keep=12, floor="off", rerank=False))
    with Index.open(at, settings=alone) as index:
        found = [f"{hit.passage.title}.md" for hit in index.search(question.question, k=12)]
    return found.index(question.evidence[0].document) + 1


@pytest.mark.parametrize(
    ("question", "settings", "kind", "least"),
    [
        (OPENS, retrieving(1, candidates=2), Kind.NOT_A_CANDIDATE, 3),
        (OPENS, retrieving(1), Kind.BELOW_K, 2),
        (MIXED, retrieving(1), Kind.LOST_IN_FUSION, 1),
    ],
)
def test_lost_in_the_search(at: str, question: Question, settings: Settings, kind: Kind, least: int) -> None:
    failed = placed(at, question, settings)
    assert failed is not None
    # Cosines that are near each other come in another order on another processor.
    ranks = {"dense": rank_in(at, "dense", question), "keyword": rank_in(at, "keyword", question)}
    assert (failed.kind, failed.ranks) == (kind, ranks)
    assert min(ranks.values()) >= least
    assert failed.rank is not None
    assert failed.detail == (
        f"dense {ranks['dense']}, keyword {ranks['keyword']}, joined {failed.rank}; keep is 1, candidates "
        f"{settings.retrieval.candidates}"
    )
    kept = settings.model_copy(update={"retrieval": settings.retrieval.model_copy(update={"keep": failed.rank})})
    assert placed(at, question, kept) is None  # with as many passages as its rank it is found


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Sixty branches that are told apart by their names alone."""
    with Index.create(tmp_path_factory.mktemp("many") / "index") as index:
        towns = (f"{chr(65 + number % 26)}{number}" for number in range(60))
        texts = {town: f"The branch in town {town} opens at nine and closes at five." for town in towns}
        index.add_documents([from_text(text, source=f"https://bank.example/{town}.md") for town, text in texts.items()])
        return index.location


def at_rank(at: str, rank: int, settings: Settings) -> Question:
    """A question whose evidence is the passage at this rank."""
    asked_for = "When does the branch open?"
    with Index.open(at, settings=settings) as index:
        source = index.search(asked_for, k=rank)[-1].chunk.source
    return asked(asked_for, source.rsplit("/", 1)[1].removesuffix(".md"), "opens at nine", must_contain=["midnight"])


def test_as_many_passages_are_looked_at_as_are_kept(many: str) -> None:
    """Evidence at rank 31 is kept where 40 are: no stage of the search lost it, and the floor may."""
    settings = Settings(retrieval=Retrieval(keep=40, floor="off"))
    question = at_rank(many, 31, settings)
    with Index.open(many, settings=settings) as index:
        (outcome,) = run(index, [question], answers=False)
        assert has_failed(outcome, Measured(question, {}), keep=40) is False
    failed = placed(many, question, settings)
    assert failed is not None
    assert failed.kind is Kind.UNUSED
    failed = placed(many, question, Settings(retrieval=Retrieval(keep=40, floor=1.15)))
    assert failed is not None
    assert failed.kind is Kind.BELOW_FLOOR
    assert failed.detail.startswith("its passage is number 31 of the kept ones, evidence 0.")
    failed = placed(many, question, Settings(retrieval=Retrieval(keep=30, floor="off")))
    assert failed is not None
    assert failed.kind is Kind.LOST_IN_FUSION
    assert "joined beyond 30; keep is 30" in failed.detail


def test_more_candidates_are_for_what_a_deeper_search_shows(many: str) -> None:
    """Of 20 candidates none has it, and 26th it is in a leg."""
    few = Settings(retrieval=Retrieval(candidates=20, rrf_k=1, legs=("dense",), floor="off", rerank=False))
    failed = placed(many, at_rank(many, 26, few), few)
    assert failed is not None
    assert (failed.kind, failed.ranks) == (Kind.NOT_A_CANDIDATE, {"dense": 26})
    assert failed.detail == "dense 26, joined beyond 20; keep is 5, candidates 20"
    proposed = {each.technique.name: each for each in propose([failed], few)}
    assert proposed["more candidates"].questions == 1


def test_an_analyser_that_is_broken_leaves_a_leg_without_a_word(at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    question = asked("Which branch in Corby opens on weekdays?", "Hove", "closes at five on weekdays")
    assert placed(at, question, retrieving(1)) is not None
    monkeypatch.setattr("citewell.retrieval.legs.analyse_query", lambda text: [text[::-1]])
    failed = placed(at, question, retrieving(1))
    assert failed is not None
    assert failed.kind is Kind.BROKEN_LEG
    assert failed.detail == "the keyword leg found 0 passages and not this one, though both hold weekdays"


def test_a_leg_that_has_nothing_to_find_is_not_broken(at: str) -> None:
    failed = placed(at, asked("Unbekanntes Wort", "Hove", "closes at five"), retrieving(1))
    assert failed is not None
    assert failed.kind in (Kind.BELOW_K, Kind.LOST_IN_FUSION)
    assert "keyword beyond 48" in failed.detail


def test_below_the_floor(at: str) -> None:
    failed = placed(at, DISPUTE, Settings(retrieval=Retrieval(floor=1.15)))
    assert failed is not None
    assert failed.kind is Kind.BELOW_FLOOR
    assert failed.reached is not None
    said = f"its passage is number 1 of the kept ones, evidence {failed.reached:.2f}; the floor is 1.15, settings"
    assert failed.detail == said
    with Index.open(at) as index:
        hits = index.search(DISPUTE.question)
        assert failed.reached == evidence(DISPUTE.question, hits)[0] > hits[0].cosine


def test_below_the_floor_that_nobody_calibrated(at: str) -> None:
    question = asked("Is it dear to stay a night?", "Hove", "closes at five", must_contain=["five"])
    failed = placed(at, question, Settings(retrieval=Retrieval(keep=20)))
    assert failed is not None
    assert failed.kind is Kind.BELOW_FLOOR
    assert failed.detail.endswith("; the floor is 0.40, built-in")
    assert failed.reached is not None
    assert failed.reached < 0.4


def test_below_the_floor_for_a_code_that_no_passage_has(at: str) -> None:
    question = asked("How many days to dispute by rule Q-99?", "disputes", "within 120 days", must_contain=["120"])
    failed = placed(at, question)
    assert failed is not None
    assert (failed.kind, failed.reached) == (Kind.BELOW_FLOOR, -inf)
    assert "number 1 of the kept ones, and none has the code that the question names;" in failed.detail


def test_of_several_below_the_floor_the_furthest_counts(at: str) -> None:
    both = Question(
        id="q",
        question="When does the branch in Hove open on weekdays, and how long to dispute a card payment?",
        evidence=(*DISPUTE.evidence, Evidence(document="lost-cards.md", quote="Whoever loses a card abroad")),
        must_contain=("120",),
    )
    failed = placed(at, both, Settings(retrieval=Retrieval(keep=20, floor=1.15)))
    assert failed is not None
    assert failed.kind is Kind.BELOW_FLOOR
    with Index.open(at) as index:
        hits = index.search(both.question, k=20)
    reached = dict(zip(((hit.chunk.title, hit.chunk.text) for hit in hits), evidence(both.question, hits), strict=True))
    of_title = {title: value for (title, text), value in reached.items() if text.startswith(("A cust", "Whoever"))}
    assert failed.reached == min(of_title.values())
    assert failed.evidence is not None
    assert failed.evidence.document == f"{min(of_title, key=of_title.__getitem__)}.md"


def test_without_room_in_the_prompt(at: str) -> None:
    """The passages of the branches go before, and 200 tokens hold not many of them."""
    question = asked("When do branches open?", "lost-cards", "Whoever loses a card abroad", must_contain=["x"])
    retrieval = Retrieval(keep=20, floor="off", rerank=False)
    settings = Settings(models=WRITTEN, generation=Generation(passage_tokens=200), retrieval=retrieval)
    with Index.open(at, settings=settings, llm=ScriptedLLM("At nine [1].")) as index:
        assert len(index.ask(question.question).hits) > 12
    failed = placed(at, question, settings, reply="At nine [1].")
    assert failed is not None
    assert failed.kind is Kind.NOT_IN_PROMPT
    assert failed.evidence is not None


@pytest.mark.parametrize(
    ("reply", "kind", "detail"),
    [
        ("I don't know.", Kind.UNUSED, "it was not answered: the language model found no answer in the passages"),
        ("You call the bank [1].", Kind.UNUSED, "the answer cites the passage of the evidence"),
        ("Branches open at nine [2].", Kind.UNUSED, ", and not the passage of the evidence"),
        ("You have 90 days for it [1].", Kind.CONTRADICTED, "the answer holds '90 days', which it must not"),
        ("You have 12 days for it [1].", Kind.CONTRADICTED, "12 is not 120"),
    ],
)
def test_what_the_answer_made_of_it(at: str, reply: str, kind: Kind, detail: str) -> None:
    def rule(claim: str, passages: object) -> Judgement:
        is_wrong = "12 days" in claim and passages == ["within 120 days"]
        return Judgement(0.0, contradicted=is_wrong, reason="12 is not 120")

    question = DISPUTE.model_copy(update={"must_not_contain": ("90 days",)})
    failed = placed(at, question, Settings(models=WRITTEN), reply, ScriptedJudge(rule))
    assert failed is not None
    assert failed.kind is kind
    assert detail in failed.detail
    assert failed.evidence is None


def test_marks_of_citations_are_no_figures_of_the_answer(at: str) -> None:
    """`[1]` is not the 1 that is not to be said, and no claim that is judged."""
    question = DISPUTE.model_copy(update={"must_not_contain": ("[1]",)})
    judge = ScriptedJudge()
    failed = placed(at, question, Settings(models=WRITTEN), "You call the bank [1].", judge)
    assert failed is not None
    assert failed.kind is Kind.UNUSED
    assert "You call the bank." in judge.asked
    assert not any("[" in claim for claim in judge.asked)


def test_an_answer_that_should_not_be(at: str) -> None:
    written, reply = Settings(models=WRITTEN), "Within 120 days [1]."
    uncovered = Question(id="q", question="How many days to dispute a loan?", answerable=False)
    failed = placed(at, uncovered, written, reply)
    assert failed is not None
    assert (failed.kind, failed.detail) == (Kind.NOT_COVERED, "the answer cites disputes")
    with Index.open(at) as index:
        assert failed.reached == best_evidence(uncovered.question, index.search(uncovered.question))
    shown = DISPUTE.model_copy(update={"answerable": False, "must_contain": ()})
    failed = placed(at, shown, written, reply)
    assert failed is not None
    assert (failed.kind, failed.evidence) == (Kind.SHOWN, shown.evidence[0])
    assert placed(at, uncovered, written, "I don't know.") is None


def test_without_evidence_a_wrong_answer_has_no_place(at: str) -> None:
    question = Question(id="q", question="How many days to dispute a card payment?", must_contain=("90 days",))
    failed = placed(at, question)
    assert failed is not None
    assert (failed.kind, failed.detail) == (Kind.NO_EVIDENCE, "the answer cites disputes")


def test_the_first_stage_that_lost_something_counts(at: str) -> None:
    evidence = (*MIXED.evidence, Evidence(document="limits.md", quote="score of 85"))
    failed = placed(at, MIXED.model_copy(update={"evidence": evidence}), retrieving(1))
    assert failed is not None
    assert (failed.kind, failed.evidence) == (Kind.NOT_ALLOWED, evidence[1])


def test_a_section_is_evidence_too(at: str) -> None:
    question = Question(id="q", question="What?", evidence=(Evidence(document="disputes.md", section="4.2 Limits"),))
    failed = placed(at, question)
    assert failed is not None
    assert failed.detail == "the section 4.2 Limits is not in the text of disputes.md, which was read whole"


def test_what_did_not_fail_has_no_place(at: str) -> None:
    assert placed(at, DISPUTE) is None
    assert placed(at, asked(COST, "fees-2025", "EUR 40", as_of=date(2025, 3, 1))) is None
    mine = asked("From which score on are alerts declined?", "limits", "score of 85", groups=["fraud_team"])
    assert placed(at, mine) is None


def test_where_the_judge_failed_nobody_can_tell(at: str) -> None:
    with Index.open(at) as index:
        (outcome,) = run(index, [DISPUTE])
        scored = Measured(DISPUTE, {}, {"correct": Failure.TIME_OUT})
        assert has_failed(outcome, scored, keep=5) is None
        assert place(index, index.stored(texts=False), outcome, scored, ScriptedJudge()) is None
        assert has_failed(replace(outcome, error="no answer", answer=None), Measured(DISPUTE, {}), keep=5) is None
        lost = replace(outcome, held=(), answer=None)
        assert has_failed(lost, Measured(DISPUTE, {}), keep=5) is True


def test_every_kind_is_explained() -> None:
    assert set(MEANING) == set(Kind)
    assert [kind.stage for kind in Kind] == list(range(len(Kind)))


def facts(at: str, question: Question, settings: Settings | None = None) -> frozenset[Fact]:
    failed = placed(at, question, settings)
    assert failed is not None
    return failed.facts


def test_what_a_technique_needs_is_looked_at(at: str) -> None:
    assert {Fact.ABSENT} <= facts(at, asked("What?", "nowhere", "x")) - {Fact.PRESENT}
    scan = facts(at, asked("What?", "scan", "the second page"))
    assert {Fact.PRESENT, Fact.UNREAD} <= scan
    assert Fact.ABSENT not in scan
    assert not {Fact.UNREAD, Fact.APPROVED, Fact.IN_TABLE, Fact.IS_SEVERAL} & facts(at, asked("What?", "disputes", "x"))
    assert Fact.APPROVED in facts(at, asked("What?", "approved", "x"))
    fees = facts(at, asked("What is the fee?", "table", "of another table"))
    assert Fact.IN_TABLE in fees
    several = "What is the fee of a transfer and how long does it take?"
    assert Fact.IS_SEVERAL in facts(at, asked(several, "disputes", "x"))


def test_more_sentences_are_proposed_only_where_the_answer_has_as_many_as_it_may(at: str) -> None:
    wrong = asked(DISPUTE.question, "disputes", "within 120 days", must_contain=["not in it"])
    named = {}
    for most in (1, 3):
        settings = Settings(generation=Generation(max_sentences=most), retrieval=Retrieval(floor="off"))
        failed = placed(at, wrong, settings)
        assert failed is not None
        assert failed.kind is Kind.UNUSED
        named[most] = {each.technique.name for each in propose([failed], settings)}
    assert "more sentences" in named[1]
    assert "more sentences" not in named[3], "the answer has one sentence, and might have had three"


def test_what_is_so_of_the_index(at: str) -> None:
    for settings, wanted in (
        (Settings(), {Fact.SEVERAL_LEGS, Fact.TOKEN_VECTORS}),
        (Settings(retrieval=Retrieval(legs=("dense",)), storage=Storage(token_vectors=False)), set()),
        (Settings(storage=Storage(exact_up_to=2)), {Fact.SEVERAL_LEGS, Fact.TOKEN_VECTORS, Fact.VECTORS_INDEXED}),
    ):
        with Index.open(at, settings=settings) as index:
            assert of_index(index) == wanted
