"""Cutting by meaning, with the real embedder."""

from citewell.chunking.semantic import split_after
from citewell.types import ElementKind
from tests.chunking.conftest import Cut, Make, Part, small

HEADING, PARAGRAPH, TABLE = ElementKind.HEADING, ElementKind.PARAGRAPH, ElementKind.TABLE
CATS = [
    "The cat sleeps on the warm sofa all day.",
    "Cats sleep on the sofa because it is warm.",
    "A sleeping cat likes a warm sofa.",
    "On the sofa the warm cat goes on sleeping.",
]
RATES = [
    "The central bank raised its interest rate by half a point.",
    "Higher interest rates make loans from the bank more expensive.",
    "The bank will raise interest rates again next month.",
    "Loans cost more when the central bank raises interest rates.",
]


def test_a_section_is_cut_where_its_subject_changes(make: Make, cut: Cut) -> None:
    document = make([(HEADING, "1 Mixed"), (PARAGRAPH, " ".join([*CATS, *RATES]))])

    pieces = small(cut(document, size=200, method="semantic", semantic_cut=1.5))

    assert [piece.text for piece in pieces] == ["1 Mixed\n\n" + " ".join(CATS), " ".join(RATES)]
    assert len(small(cut(document, size=200))) == 1


def test_inside_a_structure_only_what_is_too_long_is_cut_by_meaning(make: Make, cut: Cut) -> None:
    mixed = " ".join([*CATS, *RATES])
    document = make(
        [(HEADING, "1 Long"), (PARAGRAPH, mixed), (HEADING, "2 Short"), (PARAGRAPH, f"{CATS[0]} {RATES[0]}")]
    )

    pieces = small(cut(document, size=70, semantic_inside=True, semantic_cut=1.5))

    assert [piece.text for piece in pieces] == [
        "1 Long\n\n" + " ".join(CATS),
        " ".join(RATES),
        f"2 Short\n\n{CATS[0]} {RATES[0]}",
    ]


def test_what_is_too_long_between_two_cuts_is_cut_by_structure(make: Make, cut: Cut) -> None:
    document = make([(PARAGRAPH, " ".join([*CATS, *CATS, *RATES, *RATES]))])

    pieces = small(cut(document, size=50, method="semantic", semantic_cut=2))

    assert len(pieces) >= 4
    assert not [piece for piece in pieces if CATS[3] in piece.text and RATES[0] in piece.text]
    assert " ".join(piece.text for piece in pieces) == document.text


def test_a_table_counts_as_one_sentence(make: Make, cut: Cut) -> None:
    rows = "\n".join(f"{number} | {text}" for number, text in enumerate([CATS[0], RATES[0], CATS[1], RATES[1]]))
    parts: list[Part] = [(PARAGRAPH, " ".join(CATS)), (TABLE, rows), (PARAGRAPH, " ".join(RATES))]

    pieces = small(cut(make(parts), size=120, method="semantic", semantic_cut=0))

    assert [piece for piece in pieces if rows in piece.text]


def test_a_crumb_goes_to_its_nearer_neighbour(make: Make, cut: Cut) -> None:
    crumb = "Cats do."
    document = make([(PARAGRAPH, " ".join([*CATS, crumb, *RATES]))])

    pieces = small(cut(document, size=200, method="semantic", semantic_cut=0.5))

    assert next(piece for piece in pieces if crumb in piece.text).text.endswith(f"{CATS[3]} {crumb}")


def test_equal_distances_are_not_cut_at() -> None:
    assert split_after([0.1] * 10, 1) == []
    assert split_after([0.1] * 10, 0) == []
    assert split_after([], 1) == []


def test_a_percentile_cuts_at_what_is_above_it() -> None:
    distances = [0.1, 0.5, 0.2, 0.9, 0.3]

    assert split_after(distances, 75, percentile=True) == [4]
    assert split_after(distances, 50, percentile=True) == [2, 4]
    assert split_after(distances, 100, percentile=True) == []
