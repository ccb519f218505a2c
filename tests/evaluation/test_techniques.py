"""The decision table agrees with the settings, and proposes only what changes something."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from importlib.resources import files
from math import inf
from typing import Literal

import pytest
from pydantic import ValidationError

from citewell.evaluation.arms import singles
from citewell.evaluation.diagnosing import Proposal, propose
from citewell.evaluation.facts import Fact
from citewell.evaluation.failures import Failed
from citewell.evaluation.stages import Kind
from citewell.evaluation.techniques import TABLE, Patch, Technique, Techniques, patched, read, techniques
from citewell.evaluation.testset import Question
from citewell.settings import Chunking, Generation, Models, Queries, Retrieval, Settings

TEXT = files("citewell.evaluation").joinpath(TABLE).read_text(encoding="utf-8")


BY_RANKS = Retrieval(fusion="rrf", rerank=False)
FLOORED = Settings(retrieval=Retrieval(floor=0.4))
"""With the built-in floor, as `diagnose` proposes for it."""


def failed(
    kind: Kind,
    rank: int | None = None,
    reached: float | None = None,
    facts: Collection[Fact] = tuple(Fact),
    **ranks: int,
) -> Failed:
    """With all that a technique can need, but for what the test is about."""
    return Failed(
        Question(id="q", question="?"), kind, "", rank=rank, ranks=ranks, reached=reached, facts=frozenset(facts)
    )


def named(failed: Sequence[Failed], settings: Settings, *, can_calibrate: bool = True) -> dict[str, int]:
    """The names of what is proposed, best first, and for how many."""
    return {each.technique.name: each.questions for each in propose(failed, settings, can_calibrate=can_calibrate)}


NEEDING = [each for each in techniques().techniques.values() if each.needs is not None]


@pytest.mark.parametrize("technique", NEEDING, ids=[each.name for each in NEEDING])
def test_a_technique_is_counted_only_for_the_failures_that_have_what_it_needs(technique: Technique) -> None:
    kind = next(kind for kind in Kind if technique in techniques().for_kind(kind))
    settings = Settings(retrieval=Retrieval(fusion="rrf", rrf_k=60, rerank=False))
    without = failed(kind, rank=1, facts=set(Fact) - {technique.needs}, dense=1)
    assert technique.name not in named([without], settings)
    assert named([without, failed(kind, rank=1, dense=1)], settings)[technique.name] == 1


def test_what_is_so_of_the_index_holds_for_every_question() -> None:
    lost = [failed(Kind.NOT_A_CANDIDATE, facts=())]
    assert "whole vectors" not in named(lost, Settings())
    proposed = propose(lost, Settings(), frozenset({Fact.VECTORS_INDEXED}))
    assert "whole vectors" in {each.technique.name for each in proposed}


def test_a_leg_is_added_and_none_is_taken_away() -> None:
    both = techniques().techniques["both legs"]
    sparse = Models(sparse="onnx:folder")

    def patch(*legs: Literal["dense", "keyword", "sparse"]) -> Patch:
        return both.patch(Settings(models=sparse, retrieval=Retrieval(legs=legs)))

    assert patch("dense", "keyword", "sparse") == {}
    assert patch("keyword", "dense") == {}
    assert patch("dense", "sparse") == {"retrieval.legs": ("dense", "sparse", "keyword")}


def test_what_a_model_does_is_not_given_to_a_rule() -> None:
    by_model = Settings(
        models=Models(llm="openai:m"), queries=Queries(decompose="llm"), generation=Generation(check="llm")
    )
    proposed = named([failed(Kind.BELOW_K), failed(Kind.NOT_COVERED)], by_model)
    assert not {"sub-questions", "graded passages"} & proposed.keys()


def test_calibrating_is_for_what_a_floor_can_tell() -> None:
    of_codes = [failed(Kind.BELOW_FLOOR, reached=-inf), failed(Kind.NOT_COVERED, reached=inf), failed(Kind.NOT_COVERED)]
    assert "calibrate the floor" not in named(of_codes, FLOORED)


def test_every_kind_has_something_to_try_in_this_version() -> None:
    for kind in Kind:
        assert any(each.available for each in techniques().for_kind(kind)), kind


def test_what_changes_settings_makes_settings() -> None:
    changed = [each for each in techniques().techniques.values() if each.set_ or each.raise_ or each.lower]
    assert len(changed) > 10
    for technique in changed:
        for settings in (
            Settings(retrieval=BY_RANKS),
            Settings(retrieval=Retrieval(legs=("dense",), keep=1, fusion="rrf")),
        ):
            patch = technique.patch(settings)
            after = patched(settings, patch)
            assert (after == settings) is (not patch)
            assert technique.suits(settings) is bool(patch)
            assert technique.patch(after) == {}  # it is not to be tried twice


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            lambda text: text.replace('"retrieval.keep" = 5', '"retrieval.kept" = 5'),
            "there is no setting retrieval.kept",
        ),
        (lambda text: text.replace('"retrieval.keep" = 5', '"search.keep" = 5'), "no setting search.keep"),
        (lambda text: text.replace('"retrieval.keep" = 5', '"retrieval.keep" = 500'), "less than or equal to 100"),
        (lambda text: text.replace('"more overlap", ', ""), "not named: {'more overlap'}"),
        (lambda text: text.replace('"not covered" =', '"not known" ='), "not covered"),
        (lambda text: text.replace("query_ms = 10 ", "queries = 10 "), "Extra inputs are not permitted"),
        (lambda text: text.replace('do = "Fit', 'dont = "Fit'), "Extra inputs are not permitted"),
        (lambda text: re.sub(r'do = "Fit.*', "", text), "calibrate the floor must change settings, or be for a person"),
        (
            lambda text: text.replace("\navailable = false", "\navailable = false\ncost = {}", 1),
            "what it costs is a guess",
        ),
    ],
)
def test_a_table_that_is_wrong_is_refused(wrong: Callable[[str], str], said: str) -> None:
    assert isinstance(read(TEXT), Techniques)
    assert wrong(TEXT) != TEXT
    with pytest.raises(ValidationError, match=re.escape(said)):
        read(wrong(TEXT))


def test_raising_and_lowering_go_one_way() -> None:
    table = techniques().techniques
    assert table["keep 10"].patch(Settings(retrieval=Retrieval(keep=1))) == {"retrieval.keep": 10}
    assert table["keep 10"].patch(Settings(retrieval=Retrieval(keep=50))) == {}
    assert table["steeper fusion"].patch(Settings(retrieval=Retrieval(rrf_k=60))) == {"retrieval.rrf_k": 2}
    assert table["steeper fusion"].patch(Settings(retrieval=Retrieval(rrf_k=1))) == {}
    assert table["both legs"].patch(Settings(retrieval=Retrieval(legs=("dense",)))) == {
        "retrieval.legs": ("dense", "keyword")
    }


def test_a_floor_is_lowered_and_raised_and_not_the_other_way() -> None:
    lower, higher = techniques().techniques["lower floor"], techniques().techniques["higher floor"]

    def at(floor: float | Literal["off", "calibrated"]) -> Settings:
        return Settings(retrieval=Retrieval(floor=floor))

    assert (lower.patch(at(0.2)), higher.patch(at(0.6))) == ({}, {})
    assert (lower.patch(at(0.4)), higher.patch(at(0.4))) == ({"retrieval.floor": 0.3}, {"retrieval.floor": 0.5})
    assert (lower.patch(at("off")), higher.patch(at("off"))) == ({}, {"retrieval.floor": 0.5})
    assert lower.patch(at("calibrated")) == {}  # `propose` is given the floor in force; so there is none


def test_a_floor_is_a_number_on_the_scale_of_one_embedder() -> None:
    lost = [failed(Kind.BELOW_FLOOR, reached=0.35), failed(Kind.NOT_COVERED, reached=0.45)]
    assert {"lower floor", "higher floor"} <= named(lost, FLOORED).keys()
    other = FLOORED.model_copy(update={"models": Models(embedder="onnx:/a/folder")})
    assert named(lost, other).keys() == {"calibrate the floor", "no floor", "a language model", "graded passages"}


@pytest.mark.parametrize("floor", ["calibrated", 0.4])
def test_a_floor_is_for_the_questions_that_it_would_change(floor: float | Literal["calibrated"]) -> None:
    below = [failed(Kind.BELOW_FLOOR, reached=value) for value in (-inf, 0.1, 0.29, 0.3, 0.39)]
    above = [failed(Kind.NOT_COVERED, reached=value) for value in (0.41, 0.5, 0.8, inf)]
    settings = Settings(retrieval=Retrieval(floor=floor))
    counted = named([*below, *above], settings)
    assert counted.get("lower floor") == (2 if floor == 0.4 else None)
    assert counted["no floor"] == 5
    assert counted["higher floor"] == 1
    assert "higher floor" not in named([failed(Kind.NOT_COVERED, reached=0.5)], settings)


def test_calibrating_is_not_proposed_where_it_would_be_refused() -> None:
    lost = [failed(Kind.BELOW_FLOOR, reached=0.35)]
    assert next(iter(named(lost, FLOORED))) == "calibrate the floor"
    assert list(named(lost, FLOORED, can_calibrate=False)) == ["lower floor", "no floor"]


def test_a_technique_of_several_settings_is_nothing_without_the_first() -> None:
    table = techniques().techniques
    assert table["keep 20"].patch(Settings()) == {"retrieval.keep": 20, "generation.passage_tokens": 6000}
    long_prompt = Settings(generation=Generation(passage_tokens=8000))
    assert table["keep 20"].patch(long_prompt) == {"retrieval.keep": 20}
    kept = Settings(retrieval=Retrieval(keep=20))
    assert table["keep 20"].patch(kept) == {}
    assert not table["keep 20"].suits(kept)
    parents = Settings(chunking=Chunking(parents=500))
    assert table["small to big"].patch(parents) == {}
    assert table["smaller chunks"].patch(parents) == {"chunking.size": 100}


def test_two_techniques_with_one_outcome_are_tried_once() -> None:
    def proposed(name: str, patch: Patch) -> Proposal:
        return Proposal(techniques().techniques[name].model_copy(update={"name": name}), patch, {Kind.CUT: 1})

    small: Patch = {"chunking.size": 100}
    proposals = [
        proposed("smaller chunks", small),
        proposed("keep 10", {"retrieval.keep": 10}),
        proposed("small to big", small),
        proposed("index it", {}),
    ]
    assert [arm.name for arm in singles(proposals, Settings())] == ["smaller chunks", "keep 10"]


def test_what_does_not_fit_beside_the_other_settings_is_left_out() -> None:
    overlap = techniques().techniques["more overlap"]
    assert overlap.patch(Settings()) == {"chunking.overlap": 60}
    assert overlap.patch(Settings(chunking=Chunking(size=80, overlap=10))) == {}


def test_one_passage_kept_is_named_first() -> None:
    """The planted regression: keep = 1."""
    below = [failed(Kind.BELOW_K, rank=rank, dense=rank) for rank in (2, 3, 3, 5, 8)]
    first, *others = propose(below, Settings(retrieval=Retrieval(keep=1)))
    assert (first.technique.name, first.patch, first.questions) == ("keep 5", {"retrieval.keep": 5}, 4)
    assert next(each.questions for each in others if each.technique.name == "keep 10") == 5


def test_a_broken_analyser_is_named() -> None:
    first, *others = propose([failed(Kind.BROKEN_LEG)] * 3 + [failed(Kind.NOT_A_CANDIDATE)] * 30, Settings())
    assert (first.technique.name, first.questions) == ("mend the keyword leg", 3)
    assert "citewell doctor" in first.technique.do
    assert others


def test_only_as_many_as_it_could_mend_are_counted() -> None:
    deep = [failed(Kind.NOT_A_CANDIDATE, dense=100), failed(Kind.NOT_A_CANDIDATE, dense=300, keyword=201)]
    counted = {each.technique.name: each.questions for each in propose(deep, Settings())}
    assert counted["more candidates"] == 1
    assert counted["smaller chunks"] == 2
    out_of_reach = propose([failed(Kind.BELOW_K)], Settings())
    assert not any("retrieval.keep" in each.patch for each in out_of_reach)


def test_the_first_to_try_for_most_comes_first() -> None:
    names = list(named([failed(Kind.BELOW_FLOOR, reached=0.35)] * 5 + [failed(Kind.CUT)], FLOORED))
    assert names[:3] == ["calibrate the floor", "lower floor", "no floor"]
    assert names.index("small to big") > 2
    merged = propose([failed(Kind.BELOW_FLOOR, reached=0.3), failed(Kind.NOT_COVERED, reached=0.5)], Settings())
    assert merged[0].could_mend == {Kind.BELOW_FLOOR: 1, Kind.NOT_COVERED: 1}


def test_a_language_model_is_proposed_where_there_is_none() -> None:
    unused = [failed(Kind.UNUSED)]
    without = [each.technique.name for each in propose(unused, Settings())]
    assert {"more sentences", "a language model"} <= set(without)
    with_one = [each.technique.name for each in propose(unused, Settings(models=Models(llm="openai:m")))]
    assert not {"more sentences", "a language model"} & set(with_one)
