"""Every way to fail, in a real index, placed where it happened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import pytest

from citewell.evaluation.answers import measured
from citewell.evaluation.failures import Failed, has_failed, place
from citewell.evaluation.judging.judge import Failure, Judgement
from citewell.evaluation.measures import Measured
from citewell.evaluation.runs import run
from citewell.evaluation.stages import MEANING, Kind
from citewell.evaluation.testset import Evidence, Question
from citewell.index import Index
from citewell.loading.given import from_text
from citewell.models.llm import Completion, Prompt
from citewell.models.minilm import MiniLM
from citewell.settings import Chunking, Generation, Models, Retrieval, Settings
from citewell.types import Document
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
OPENS = asked("When does the branch open on weekdays?", "Hove", "closes at five")
MIXED = asked("dispute in the branch of Hove after five days", "Hove", "closes at five")
COST = "What did a chargeback cost?"


def retrieving(keep: int, candidates: int = 12) -> Settings:
    return Settings(retrieval=Retrieval(keep=keep, candidates=candidates, floor="off"))


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


@pytest.mark.parametrize(
    ("question", "settings", "kind", "ranks"),
    [
        (OPENS, retrieving(1, candidates=2), Kind.NOT_A_CANDIDATE, {"dense": 3, "keyword": 4}),
        (OPENS, retrieving(1), Kind.BELOW_K, {"dense": 3, "keyword": 4}),
        (MIXED, retrieving(1), Kind.LOST_IN_FUSION, {"dense": 1, "keyword": 2}),
    ],
)
def test_lost_in_the_search(at: str, question: Question, settings: Settings, kind: Kind, ranks: dict[str, int]) -> None:
    failed = placed(at, question, settings)
    assert failed is not None
    assert (failed.kind, failed.ranks) == (kind, ranks)
    assert failed.rank is not None
    assert failed.detail == (
        f"dense {ranks['dense']}, keyword {ranks['keyword']}, joined {failed.rank}; keep is 1, candidates "
        f"{settings.retrieval.candidates}"
    )
    kept = settings.model_copy(update={"retrieval": Retrieval(keep=failed.rank, floor="off")})
    assert placed(at, question, kept) is None  # with as many passages as its rank it is found


def test_an_analyser_that_is_broken_leaves_a_leg_without_a_word(at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    question = asked("Which branch in Corby opens on weekdays?", "Hove", "closes at five on weekdays")
    assert placed(at, question, retrieving(1)) is not None
    monkeypatch.setattr("citewell.retrieval.search.analyse_query", lambda text: [text[::-1]])
    failed = placed(at, question, retrieving(1))
    assert failed is not None
    assert failed.kind is Kind.BROKEN_LEG
    assert failed.detail == "the keyword leg found 0 passages and not this one, though both hold weekdays"


def test_a_leg_that_has_nothing_to_find_is_not_broken(at: str) -> None:
    failed = placed(at, asked("Unbekanntes Wort", "Hove", "closes at five"), retrieving(1))
    assert failed is not None
    assert failed.kind in (Kind.BELOW_K, Kind.LOST_IN_FUSION)
    assert "keyword beyond 12" in failed.detail


def test_below_the_floor(at: str) -> None:
    failed = placed(at, DISPUTE, Settings(retrieval=Retrieval(floor=1.15)))
    assert failed is not None
    assert failed.kind is Kind.BELOW_FLOOR
    assert failed.detail.startswith("its passage is number 1 of the kept ones, cosine 0.")
    assert failed.detail.endswith("the floor is 1.15")


def test_without_room_in_the_prompt(at: str) -> None:
    """The passages of the branches go before, and 200 tokens hold not many of them."""
    question = asked("When do branches open?", "lost-cards", "Whoever loses a card abroad", must_contain=["x"])
    retrieval = Retrieval(keep=20, floor="off")
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


def test_an_answer_that_should_not_be(at: str) -> None:
    written, reply = Settings(models=WRITTEN), "Within 120 days [1]."
    uncovered = Question(id="q", question="How many days to dispute a loan?", answerable=False)
    failed = placed(at, uncovered, written, reply)
    assert failed is not None
    assert (failed.kind, failed.detail) == (Kind.NOT_COVERED, "the answer cites disputes")
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
