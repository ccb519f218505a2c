from __future__ import annotations

import importlib.util
from dataclasses import replace
from importlib.machinery import ModuleSpec

import pytest

from citewell.errors import SettingsError
from citewell.evaluation.calibration import Evidenced, fit
from citewell.evaluation.report import html
from citewell.evaluation.report.evaluated import Evaluated
from citewell.evaluation.report.figures import figure
from citewell.evaluation.report.html import as_html, parts_held
from citewell.evaluation.report.shape import as_shape
from citewell.evaluation.testset import Question
from tests.evaluation.report.conftest import failed, made, right
from tests.evaluation.report.page import assert_harmless, parsed, said

SEEN = "<script>alert('x')</script> & ⟨U+202E⟩txt.exe⟨U+001B⟩[31m"


@pytest.fixture(scope="module")
def page(small: Evaluated) -> str:
    return as_html(small)


def test_the_page_loads_nothing_runs_nothing_and_hides_nothing(page: str) -> None:
    assert_harmless(page)
    assert "<script" not in page
    assert "somewhere" not in page


def test_texts_of_documents_are_shown_as_they_are(page: str) -> None:
    tree = parsed(page)
    (question,) = tree.xpath("//details[@id='question-2']")
    assert said(question.find("summary")).startswith(f"✗ What is the fee? {SEEN} wrong {SEEN}")
    (answer,) = question.xpath(".//p[@class='text']")
    assert said(answer) == f"It is free. {SEEN} [1]"
    passage = question.xpath(".//table[@class='passages']/tbody/tr[2]//div[@class='text']")[0]
    assert passage.text_content() == f"The fee is EUR 45. {SEEN}"
    assert f"Bank {SEEN}" in said(tree.find(".//h1"))
    assert f"Spearman 0.41 {SEEN}" in said(tree.xpath("//div[@class='judge note']")[0])


def test_the_figures_are_those_of_the_shape(small: Evaluated, page: str) -> None:
    tree, shape = parsed(page), as_shape(small)
    for slice_, table in zip(shape["slices"], tree.xpath("//section[@id='measures']//table"), strict=True):
        rows = [[said(cell) for cell in row] for row in table.xpath("./tbody/tr")]
        assert rows == [
            [name, figure(of["mean"], name), _interval(name, of), str(of["questions"])]
            for name, of in slice_["measures"].items()
        ]
    cards = {card.get("data-measure"): said(card.find("b")) for card in tree.xpath("//div[@class='card']")}
    assert cards == {name: figure(shape["slices"][0]["measures"][name]["mean"], name) for name in cards}
    assert list(cards) == [
        "correct",
        "recall@5",
        "nDCG@10",
        "faithfulness",
        "refusal precision",
        "refusal recall",
        "seconds",
    ]


def test_every_question_can_be_opened_and_only_the_failed_be_shown(page: str) -> None:
    questions = parsed(page).xpath("//details[starts-with(@class, 'question')]")
    assert len(questions) == 5
    assert ["failed" in each.get("class").split() for each in questions] == [False, True, True, False, True]
    assert "body:has(#only-failed:checked) .question:not(.failed) { display: none; }" in page
    assert "body:has(#label-0:checked) .question:not(.l0) { display: none; }" in page
    assert "l0" in questions[0].get("class").split()
    assert "3 of 5 questions have a problem" in page


def test_a_question_shows_what_it_was_asked_and_what_came_of_it(page: str) -> None:
    (question,) = parsed(page).xpath("//details[@id='question-1']")
    text = said(question)
    assert "Asked by audit, staff, as of 2026-05-01" in text
    assert "Expected 120 days. must hold 120" in text
    assert "rules.pdf, 4.2 Limits, page 22: at rank 1" in text
    rows = [[said(cell) for cell in row] for row in question.xpath(".//table[@class='passages']/tbody/tr")]
    assert rows[0][0] == "1"
    assert rows[0][1].startswith("Rules, 4 Disputes > 4.0 Part, page 22–23 evidence 1")
    assert rows[0][2:] == ["2", "1", "0.5000", "0.400"]
    assert rows[2] == ["3", "Rules, 4 Disputes > 4.2 Part, page 22–23", "–", "4", "0.1667", "0.400"]
    assert said(question.find(".//mark")) == "within 120 days"
    assert [row.get("class") for row in question.xpath(".//table[@class='passages']/tbody/tr")] == [
        None,
        None,
        "unread",
    ]
    assert "dense 4.2 1 50" in text


def test_what_was_not_judged_is_named_and_refusals_are_counted(page: str) -> None:
    (refusals,) = parsed(page).xpath("//section[@id='refusals']")
    text = said(refusals)
    assert "has an answer 2 1 has none 0 1" in text
    assert "citation recall time-out 1" in text


def test_without_answers_there_is_nothing_about_refusals_and_judges() -> None:
    tree = parsed(as_html(made([failed()])))
    assert not tree.xpath("//section[@id='refusals']")
    assert not tree.xpath("//div[@class='judge note']")
    assert tree.xpath("//section[@id='curves']//figcaption/text()") == [
        "Recall among the first k passages, with its 95 % interval",
        "How long each search took, in milliseconds",
    ]


def test_a_calibration_is_drawn_and_an_unknown_judge_said_to_be_one() -> None:
    found = [Evidenced(Question(question="q", answerable=at >= 3), at / 10) for at in range(8)]
    page = as_html(replace(made([right()]), floor_curve=fit(found), judge="new", agreement=()))
    assert_harmless(page)
    assert "Judged by new. How well it agrees with people is not known here." in page
    assert "0.25 is best" in parsed(page).xpath("//section[@id='curves']//figcaption/text()")[1]


def test_the_same_evaluation_gives_the_same_bytes(small: Evaluated, page: str) -> None:
    assert as_html(small) == page


def test_quotes_are_found_whatever_their_spaces_bars_and_capitals() -> None:
    text = "Fee | EUR\n45 and fee eur 45."
    assert list(parts_held(text, ["fee EUR | 45", ""])) == [
        ("", False),
        ("Fee | EUR\n45", True),
        (" and ", False),
        ("fee eur 45", True),
        (".", False),
    ]
    assert list(parts_held(text, [".*"])) == [(text, False)]


def test_what_is_not_installed_is_named_with_the_way_to_get_it(
    small: Evaluated, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec

    def scripted_find_spec(name: str) -> ModuleSpec | None:
        return None if name == "jinja2" else real(name)

    monkeypatch.setattr(html, "find_spec", scripted_find_spec)
    with pytest.raises(SettingsError, match="jinja2") as caught:
        as_html(small)
    assert "citewell[bench]" in caught.value.remedy


def _interval(name: str, of: dict[str, float | None]) -> str:
    return f"{figure(of['low'], name)} to {figure(of['high'], name)}" if of["mean"] is not None else ""
