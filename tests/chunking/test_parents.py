"""Small to big."""

from citewell.chunking import Chunked
from citewell.types import Chunk, ElementKind
from tests.chunking.conftest import Cut, Make, Part, small

HEADING, PARAGRAPH, TABLE = ElementKind.HEADING, ElementKind.PARAGRAPH, ElementKind.TABLE


def text_of(*numbers: int) -> str:
    """Ten tokens for each number."""
    return " ".join(f"The bank must answer the customer within {number} days." for number in numbers)


def families(chunked: Chunked) -> list[tuple[Chunk, list[Chunk]]]:
    parents = [piece for piece in chunked.chunks if "#p" in piece.id]
    return [(parent, [piece for piece in small(chunked) if piece.parent_id == parent.id]) for parent in parents]


def test_small_sections_under_one_heading_are_read_together(make: Make, cut: Cut) -> None:
    parts: list[Part] = [
        (HEADING, "4 Fees", 1),
        (PARAGRAPH, text_of(1)),
        (HEADING, "4.1 Card", 2),
        (PARAGRAPH, text_of(2)),
        (HEADING, "4.2 Cash", 2),
        (PARAGRAPH, text_of(3)),
        (HEADING, "5 Limits", 1),
        (PARAGRAPH, text_of(4)),
    ]
    document = make(parts)

    chunked = cut(document, parents=100)

    ((parent, children),) = families(chunked)
    assert parent.text == document.text[: document.text.index("\n\n5 Limits")]
    assert parent.heading_path == ("4 Fees",)
    assert [child.id for child in children] == [f"doc@1#{number}" for number in range(3)]
    assert small(chunked)[3].parent_id is None  # alone under its heading
    assert [entry.chunk_id for entry in chunked.entries] == [piece.id for piece in small(chunked)]


def test_a_section_that_is_too_long_is_read_in_runs_of_its_own_chunks(make: Make, cut: Cut) -> None:
    parts: list[Part] = [(HEADING, "4 Fees"), (PARAGRAPH, text_of(*range(30))), (HEADING, "5 B"), (PARAGRAPH, "Text.")]

    chunked = cut(make(parts), parents=120, overlap=20)

    found = families(chunked)
    assert [len(children) for _, children in found] == [3, 3, 4]
    for parent, children in found:
        assert (parent.start, parent.end) == (children[0].start, children[-1].end)
        assert parent.heading_path == ("4 Fees",)
    assert small(chunked)[-1].parent_id is None


def test_pieces_of_a_table_keep_the_table(make: Make, cut: Cut) -> None:
    table = "\n".join(f"Type {number} | {number} EUR" for number in range(30))
    parts: list[Part] = [(PARAGRAPH, text_of(1, 2, 3, 4)), (TABLE, table), (PARAGRAPH, text_of(*range(10)))]

    chunked = cut(make(parts), parents=1_000)

    around, whole = families(chunked)
    assert table in whole[0].text
    assert all("Type" in child.text for child in whole[1])
    assert around[0].text == make(parts).text
    assert len(whole[1]) + len(around[1]) == len(small(chunked))


def test_windows_are_read_with_their_neighbours(make: Make, cut: Cut) -> None:
    parts: list[Part] = [
        (HEADING, "4 Fees"),
        (PARAGRAPH, text_of(*range(9))),
        (HEADING, "5 B"),
        (PARAGRAPH, text_of(9)),
    ]

    found = families(cut(make(parts), method="fixed", parents=150))

    assert [len(children) for _, children in found] == [2]
