"""The decision table agrees with the settings, and proposes only what changes something."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files

import pytest
from pydantic import ValidationError

from citewell.evaluation.diagnosing import propose
from citewell.evaluation.failures import Failed
from citewell.evaluation.stages import Kind
from citewell.evaluation.techniques import TABLE, Techniques, patched, read, techniques
from citewell.evaluation.testset import Question
from citewell.settings import Chunking, Models, Retrieval, Settings

TEXT = files("citewell.evaluation").joinpath(TABLE).read_text(encoding="utf-8")


def failed(kind: Kind, rank: int | None = None, **ranks: int) -> Failed:
    return Failed(Question(id="q", question="?"), kind, "", rank=rank, ranks=ranks)


def test_every_kind_has_something_to_try_in_this_version() -> None:
    for kind in Kind:
        assert any(each.available for each in techniques().for_kind(kind)), kind


def test_what_changes_settings_makes_settings() -> None:
    changed = [each for each in techniques().techniques.values() if each.set_ or each.raise_ or each.lower]
    assert len(changed) > 10
    for technique in changed:
        for settings in (Settings(), Settings(retrieval=Retrieval(legs=("dense",), keep=1))):
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
    names = [each.technique.name for each in propose([failed(Kind.BELOW_FLOOR)] * 5 + [failed(Kind.CUT)], Settings())]
    assert names[:3] == ["calibrate the floor", "lower floor", "no floor"]
    assert names.index("small to big") > 2
    merged = propose([failed(Kind.BELOW_FLOOR), failed(Kind.NOT_COVERED)], Settings())
    assert merged[0].could_mend == {Kind.BELOW_FLOOR: 1, Kind.NOT_COVERED: 1}


def test_a_language_model_is_proposed_where_there_is_none() -> None:
    unused = [failed(Kind.UNUSED)]
    without = [each.technique.name for each in propose(unused, Settings())]
    assert {"more sentences", "a language model"} <= set(without)
    with_one = [each.technique.name for each in propose(unused, Settings(models=Models(llm="openai:m")))]
    assert not {"more sentences", "a language model"} & set(with_one)
