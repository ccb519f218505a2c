from __future__ import annotations

from dataclasses import replace

import pytest

from citewell.evaluation.comparison import compare
from citewell.evaluation.report.compared import as_html
from citewell.evaluation.report.evaluated import Evaluated
from citewell.evaluation.report.figures import figure, signed
from tests.evaluation.report.conftest import made, refused, right, wrong
from tests.evaluation.report.page import assert_harmless, parsed, said


@pytest.fixture
def both() -> tuple[Evaluated, Evaluated]:
    """The question that was answered wrongly is answered rightly afterwards, and the other way round."""
    of, scores = wrong()
    better = replace(scores, values={**scores.values, "correct": 1.0})
    of_right, of_scores = right()
    worse = replace(of_scores, values={**of_scores.values, "correct": 0.0})
    unchanged = refused(answerable=False)
    before = made([right(), wrong(), unchanged], "before")
    after = made([(of_right, worse), (of, better), unchanged], "after")
    return before, replace(after, settings={"retrieval.keep": 2, "retrieval.floor": "off"})


def test_the_page_is_harmless_and_the_same_each_time(both: tuple[Evaluated, Evaluated]) -> None:
    compared = compare(both[0].scored.measured, both[1].scored.measured)
    page = as_html(compared, *both)
    assert_harmless(page)
    assert page == as_html(compared, *both)


def test_measures_stand_before_and_after_with_the_verdict(both: tuple[Evaluated, Evaluated]) -> None:
    compared = compare(both[0].scored.measured, both[1].scored.measured)
    tree = parsed(as_html(compared, *both))
    assert said(tree.xpath("//section[@id='verdict']/h2")[0]) == f"Verdict: {compared.verdict.value}"
    rows = [[said(cell) for cell in row] for row in tree.xpath("//section[@id='verdict']//tbody/tr")]
    for row, each in zip(rows, compared.headline, strict=True):
        assert row[0] == each.measure
        assert row[2:6] == [str(each.changed), figure(each.before), figure(each.after), signed(each.difference)]
        assert row[6] == f"{signed(each.low)} to {signed(each.high)}"
        assert row[8:10] == [figure(each.p), figure(each.p_holm)]
        assert row[10].startswith(each.verdict.value)


def test_who_got_better_and_worse_can_be_opened_with_both_answers(both: tuple[Evaluated, Evaluated]) -> None:
    tree = parsed(as_html(compare(both[0].scored.measured, both[1].scored.measured), *both))
    (worse,) = tree.xpath("//section[@id='worse']/details")
    (better,) = tree.xpath("//section[@id='better']/details")
    assert "How long may one dispute?" in said(worse.find("summary"))
    assert "What is the fee?" in said(better.find("summary"))
    assert "correct 0.000 → 1.000" in said(better)
    before, after = better.xpath(".//div[@class='sides']/div")
    assert "The answer is not right." in said(before)
    assert "The answer is not right." not in said(after)


def test_the_settings_that_differ_are_named(both: tuple[Evaluated, Evaluated]) -> None:
    tree = parsed(as_html(compare(both[0].scored.measured, both[1].scored.measured), *both))
    (settings,) = tree.xpath("//dt[.='Settings']/following-sibling::dd[1]")
    assert said(settings) == (
        'models.llm: "openai:small" → default, models.llm_url: "https://host.example/v1" → default, '
        'retrieval.legs: ["keyword"] → default, retrieval.floor: default → "off"'
    )
