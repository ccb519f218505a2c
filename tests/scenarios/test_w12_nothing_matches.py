"""W12: nothing matches. A help centre that says nothing of returns, then 200 questions outside a corpus, half of which
reuse its names, and 200 inside it. A rank cannot say no; the floor can, if something separates, and says so if not."""

from __future__ import annotations

import gzip
import json
import math
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from citewell import Index
from citewell.errors import FingerprintMismatch
from citewell.evaluation.calibration import Curve, Evidenced, evidenced, fit
from citewell.evaluation.testset import Question
from citewell.loading.given import from_text
from citewell.models.llm import Completion, Prompt
from citewell.retrieval.floor import BUILT_IN, NO_CALIBRATION, NOTHING_SEPARATES, best_evidence
from citewell.settings import Models, Settings
from citewell.types import FloorOrigin

SHARED = Path(os.environ.get("CITEWELL_SHARED", Path(__file__).parents[2] / ".." / "shared")).resolve()
SQUAD = SHARED / "data" / "squad2"

HELP = {
    "What selling costs": (
        "When your item sells, the marketplace keeps a commission of 11.5 % of the price and a fixed charge of "
        "EUR 0.40 for the order."
    ),
    "Following a parcel": (
        "After you hand a parcel to the carrier, its tracking page may stay empty for up to two days."
    ),
    "Checking luxury goods": (
        "Handbags and watches above EUR 600 go to our inspection centre first, where an expert confirms that they are "
        "genuine."
    ),
    "Keeping your account safe": (
        "Turn on two-step sign-in before your first withdrawal; without it we do not send money."
    ),
    "When you are paid": "We transfer your earnings three working days after the buyer has received the item.",
}
RETURN = "Can I return an item if I just don't like it?"
RETURN_IN_SHORT = "Can I return an item?"
"""Of this one the first by meaning is so by far, on whatever processor."""
WATCHES = "How are expensive watches checked?"


class ScriptedLLM:
    """Cites the first passage, whatever is asked."""

    def __init__(self) -> None:
        self.calls = 0

    def complete(self, prompt: Prompt) -> Completion:  # noqa: ARG002  # the protocol's
        self.calls += 1
        return Completion("An expert at the inspection centre confirms that they are genuine [1].", 100, 10, "stop")


@pytest.fixture(scope="module")
def help_centre(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("help") / "index"
    with Index.create(path) as index:
        index.add_documents(
            [
                from_text(text, source=f"https://help.example/{number}", title=title)
                for number, (title, text) in enumerate(HELP.items())
            ]
        )
    return path


def set_floor(index: Index, least: float | None) -> None:
    index.set_floor(least, answerable=40, unanswerable=40, refusal_precision=0.9, refusal_recall=0.8)


# The help centre


def test_a_first_rank_in_every_list_is_no_match(help_centre: Path) -> None:
    by_legs = Settings.model_validate({"retrieval": {"rerank": False}})
    with Index.open(help_centre, settings=by_legs) as index:
        wrong, right = index.search(RETURN_IN_SHORT), index.search(WATCHES)
        # The fused score is as high as it can be for both: it says which passage comes first, and no more.
        assert wrong[0].lists == right[0].lists == {"dense": 1, "keyword": 1}
        assert wrong[0].score == right[0].score
        assert best_evidence(RETURN_IN_SHORT, wrong) < BUILT_IN < best_evidence(WATCHES, right)
        assert best_evidence(RETURN, index.search(RETURN)) < 0.25
        for question in (RETURN, RETURN_IN_SHORT):
            answer = index.ask(question)
            assert (answer.abstained, answer.hits, answer.citations) == (True, (), ())
            assert answer.reason == "nothing found is near enough to the question"
        assert "genuine" in index.ask(WATCHES).text


def test_where_nothing_separates_the_check_for_a_sentence_takes_over(help_centre: Path) -> None:
    model = ScriptedLLM()
    with Index.open(help_centre) as quoting, Index.open(help_centre, llm=model) as writing:
        set_floor(quoting, None)
        for index in (quoting, writing):
            assert index.status().floor.origin is FloorOrigin.NOTHING_SEPARATES
            refused = index.ask(RETURN)
            assert refused.abstained
            assert refused.warnings == (NOTHING_SEPARATES,)
            assert not index.ask(WATCHES).abstained
        assert model.calls == 1  # it was not asked what the passages do not say
        set_floor(quoting, 0.4)
        assert writing.ask(WATCHES).warnings == ()


def test_a_floor_is_one_embedders_and_comes_back_with_it(help_centre: Path) -> None:
    with Index.open(help_centre) as index:
        set_floor(index, 0.3)
        assert (index.status().floor.origin, index.status().floor.least) == (FloorOrigin.CALIBRATED, 0.3)
        short = index.settings.model_copy(update={"models": Models(dimensions=128)})
    with Index.open(help_centre, settings=short) as index:
        with pytest.raises(FingerprintMismatch):
            set_floor(index, 0.2)
        with pytest.raises(ValueError, match="nan is no floor"):
            set_floor(index, math.nan)
        index.migrate()
        floor = index.status().floor
        assert (floor.origin, floor.least) == (FloorOrigin.NOT_CALIBRATED, None)
        assert NO_CALIBRATION in index.ask(WATCHES).warnings
        index.migrate_back()
        assert index.status().floor.least == 0.3
        assert index.ask(WATCHES).warnings == ()
    with Index.open(help_centre) as index:
        assert index.ask(RETURN).abstained
        off = Settings.model_validate({"retrieval": {"floor": "off"}})
    with Index.open(help_centre, settings=off) as index:
        assert len(index.ask(RETURN).hits) == len(HELP)


# 200 inside, 200 outside

INDEXED = ("Force", "Imperialism")
EACH = 100


def lines(name: str) -> Iterator[dict[str, Any]]:
    for line in gzip.decompress((SQUAD / f"{name}.jsonl.gz").read_bytes()).decode().splitlines():
        yield json.loads(line)


def article(paragraph: str) -> str:
    return paragraph.rpartition("#")[0]


def spread(some: list[Question], number: int) -> list[Question]:
    """So many of them, at even distances."""
    return [some[place * len(some) // number] for place in range(number)]


def squad_questions() -> dict[str, list[Question]]:
    """Inside: of the articles indexed. Outside: made by people to look like those, with their names, and of others."""
    kinds: dict[str, list[Question]] = {"inside": [], "reusing names": [], "elsewhere": []}
    for line in lines("queries"):
        is_indexed = article(line["paragraph_id"]) in INDEXED
        kind = "elsewhere" if not is_indexed else "reusing names" if line["is_impossible"] else "inside"
        kinds[kind].append(Question(question=line["text"], answerable=kind == "inside", kind=kind))
    return {kind: spread(some, 2 * EACH if kind == "inside" else EACH) for kind, some in kinds.items()}


@pytest.fixture(scope="module")
def squad(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Index, tuple[Evidenced, ...]]]:
    if not SQUAD.exists():
        pytest.skip("the shared SQuAD is not there (CITEWELL_SHARED)")
    with Index.create(tmp_path_factory.mktemp("squad") / "index") as index:
        index.add_documents(
            [
                from_text(line["text"], source=f"squad:{line['_id']}", title=line["title"])
                for line in lines("corpus")
                if article(line["_id"]) in INDEXED
            ]
        )
        yield index, evidenced(index, [question for some in squad_questions().values() for question in some])


def of_kinds(found: tuple[Evidenced, ...], *kinds: str) -> tuple[Evidenced, ...]:
    return tuple(each for each in found if each.question.kind in kinds)


def test_a_floor_is_fitted_and_its_refusals_are_reported(squad: tuple[Index, tuple[Evidenced, ...]]) -> None:
    index, found = squad
    curve = fit(found)
    assert (curve.answerable, curve.unanswerable, curve.objective.unanswerable) == (200, 200, 0.5)
    assert curve.separates
    assert len(curve.points) > 300
    recalls = [point.refusal_recall for point in curve.points]
    assert recalls == sorted(recalls)
    precision, recall = curve.held_out.refusal_precision, curve.held_out.refusal_recall
    assert precision is not None
    assert 0.7 < precision.low < precision.mean < precision.high
    assert 0.4 < recall.low < recall.mean < recall.high < 0.8
    kept = index.set_floor(
        curve.floor, answerable=200, unanswerable=200, refusal_precision=precision.mean, refusal_recall=recall.mean
    )
    assert (index.status().floor.least, index.status().floor.made) == (curve.best.floor, kept.made)


def test_other_articles_are_told_apart_and_traps_with_the_same_names_hardly(
    squad: tuple[Index, tuple[Evidenced, ...]],
) -> None:
    _, found = squad

    def against(kind: str, rate: float | None = None) -> Curve:
        return fit(of_kinds(found, "inside", kind), unanswerable=rate)

    far, near = against("elsewhere"), against("reusing names")
    assert far.auc.low > 0.95
    assert far.held_out.answered.mean > 0.9
    assert near.auc.high < 0.75
    # Where one question in ten is such a trap, no floor is better than none, and none is set.
    rare = against("reusing names", 0.1)
    assert not rare.separates
    assert rare.floor is None
    assert against("elsewhere", 0.1).separates


def test_where_the_two_kinds_are_alike_it_says_that_nothing_separates(
    squad: tuple[Index, tuple[Evidenced, ...]],
) -> None:
    index, found = squad
    inside = of_kinds(found, "inside")
    alike = [
        replace(each, question=each.question.model_copy(update={"answerable": place % 2 == 0}))
        for place, each in enumerate(inside)
    ]
    curve = fit(alike)
    assert curve.auc.low < 0.5 < curve.auc.high
    assert curve.floor is None
    index.set_floor(None, answerable=100, unanswerable=100, refusal_precision=None, refusal_recall=0)
    asked = [index.ask(each.question.question) for each in (*inside[::20], *of_kinds(found, "elsewhere")[::5])]
    assert all(NOTHING_SEPARATES in answer.warnings for answer in asked)
    assert sum(answer.abstained for answer in asked[:10]) <= 1
    assert sum(answer.abstained for answer in asked[10:]) >= 12
