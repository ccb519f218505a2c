from __future__ import annotations

from markdown_it import MarkdownIt

from citewell.evaluation.report.evaluated import Evaluated
from citewell.evaluation.report.figures import figure
from citewell.evaluation.report.markdown import WORST, as_markdown, inline
from citewell.evaluation.report.shape import as_shape
from tests.evaluation.report.conftest import made, refused, right


def test_the_tables_have_the_figures_of_the_shape(small: Evaluated) -> None:
    text, measures = as_markdown(small), as_shape(small)["slices"][0]["measures"]
    for name, of in measures.items():
        cells = [name, *(figure(of[key], name) for key in ("mean", "low", "high")), str(of["questions"])]
        assert f"| {' | '.join(cells)} |" in text
    assert "| citation recall | – | – | – | 0 | 1 time-out |" in text
    assert "| has an answer | 2 | 1 |" in text


def test_failed_questions_are_listed_the_worst_first(small: Evaluated) -> None:
    text = as_markdown(small)
    listed = text[text.index("## 3 questions of 5 with a problem") :]
    assert listed.index("error-1") < listed.index("refused-True")
    assert "right-1" not in listed
    assert "| refused-True | Who? | Refused, though there is an answer: nothing is near. | 1 |" in listed


def test_of_many_failed_questions_the_worst_are_shown_and_the_others_counted() -> None:
    text = as_markdown(made([refused(answerable=True)] * (WORST + 3)))
    assert text.count("| refused-True |") == WORST
    assert "3 more are in the JSON and HTML reports." in text


def test_where_nothing_failed_it_says_so() -> None:
    assert "## 0 questions of 1 with a problem\n\nNone." in as_markdown(made([right()]))


def test_a_text_is_shown_as_it_is_and_does_nothing(small: Evaluated) -> None:
    text = as_markdown(small)
    assert "⟨U+202E⟩" in text
    assert not {"\u202e", "\x1b"} & set(text)
    drawn = MarkdownIt("commonmark").enable("table").render(text)
    assert "<script" not in drawn
    assert "&lt;script&gt;alert('x')&lt;/script&gt; &amp; ⟨U+202E⟩txt.exe⟨U+001B⟩[31m" in drawn


def test_signs_of_markdown_are_only_signs() -> None:
    hostile = "a|b *c* _d_ snake_case `e` [f](g) ![h](i) <b> ~~j~~ # k &amp; \\ __l__\n- m"
    drawn = MarkdownIt("commonmark").enable("strikethrough").render(inline(hostile))
    assert drawn == ("<p>a|b *c* _d_ snake_case `e` [f](g) ![h](i) &lt;b&gt; ~~j~~ # k &amp;amp; \\ __l__ - m</p>\n")
    assert "snake_case" in inline(hostile)
