"""Windows over the text, whatever it holds."""

from collections.abc import Callable
from itertools import pairwise

import pytest

from citewell.models.embedder import TokenSpans
from citewell.types import ElementKind
from tests.chunking.conftest import Cut, Make, Part

HEADING, PARAGRAPH, TABLE = ElementKind.HEADING, ElementKind.PARAGRAPH, ElementKind.TABLE


@pytest.mark.parametrize(("size", "overlap"), [(16, 0), (16, 8), (60, 0), (60, 12)])
def test_windows_of_words_are_as_the_sum_says(
    make: Make, cut: Cut, token_spans: Callable[[str], TokenSpans], size: int, overlap: int
) -> None:
    """One token a word, and one for the title."""
    words = [word for number in range(100) for word in ("the", "bank", "must", "pay")]

    chunked = cut(make([(PARAGRAPH, " ".join(words))]), size=size, overlap=overlap, method="fixed")

    step = size - 1 - overlap
    assert chunked.chunks[1].text == " ".join(words[step : step + size - 1])
    assert len(chunked.chunks) == -(-(400 - overlap) // step)
    assert {len(token_spans(entry.text)) for entry in chunked.entries[:-1]} == {size}


def test_windows_go_over_structure_and_end_between_words(make: Make, cut: Cut) -> None:
    word = "unquestionably"  # three tokens
    parts: list[Part] = [
        (HEADING, "4 Fees", 1),
        (HEADING, "4.1 Card", 2),
        (PARAGRAPH, f"{word} " * 30),
        (HEADING, "4.2 Cash", 2),
        (TABLE, f"{word} | {word}\n" * 30),
    ]
    document = make(parts)

    chunked = cut(document, size=40, method="fixed")

    assert all(piece.text.split("\n")[-1].split(" ")[-1] in {word, "|", "Cash"} for piece in chunked.chunks)
    assert [earlier.end <= later.start for earlier, later in pairwise(chunked.chunks)] == [True] * (
        len(chunked.chunks) - 1
    )
    crossing = next(piece for piece in chunked.chunks if "4.2 Cash" in piece.text)
    assert crossing.heading_path == ("4 Fees",)
    assert {entry.text.partition("\n")[0] for entry in chunked.entries} == {"Manual"}
    assert {(piece.preamble, piece.parent_id) for piece in chunked.chunks} == {("", None)}


def test_an_overlap_that_leaves_no_room_for_a_long_word_is_given_up(make: Make, cut: Cut) -> None:
    long = "antidisestablishmentarianism" * 2
    document = make([(PARAGRAPH, f"one two three four five six seven {long} eight nine ten " * 4)])

    pieces = cut(document, size=20, overlap=10, method="fixed").chunks

    assert all(earlier.end < later.end for earlier, later in pairwise(pieces))
    assert all(not piece.text.startswith(("dis", "establish", "ment")) for piece in pieces)
    assert [piece.text for piece in pieces[:3]] == [
        "one two three four five six seven",
        f"{long} eight nine ten",
        "one two three four five six seven",
    ]


@pytest.mark.parametrize("hostile", ["x" + "\u200b" * 20_000, "ab1X" * 5_000, "\u0301" * 20_000, "👩\u200d" * 5_000])
def test_hostile_text_is_cut_to_size(
    hostile: str, make: Make, cut: Cut, token_spans: Callable[[str], TokenSpans]
) -> None:
    chunks = cut(make([(PARAGRAPH, hostile)]), method="fixed").chunks

    assert "".join(chunk.text for chunk in chunks) == hostile
    assert max(len(token_spans(f"Manual\n{chunk.text}")) for chunk in chunks) <= 60
    assert max(len(chunk.text) for chunk in chunks) <= 60 * 64
