"""Code: cut at its statements; read, not embedded, with the signature and imports that a piece does not show."""

from citewell.loading.parsed import Details
from citewell.types import ElementKind
from tests.chunking.conftest import Cut, Make, small

CODE = ElementKind.CODE
BODY = [f"    if amount > {number}:\n        fee = fee + {number}" for number in range(12)]
FUNCTION = "\n".join(["@rule", "def fee(amount):", *BODY, "    return fee"])


def test_a_piece_shows_its_signature_or_has_it_above(make: Make, cut: Cut) -> None:
    details = Details(preamble="import bank\nfrom bank import rule\n\ndef fee(amount):")

    chunked = cut(make([(CODE, FUNCTION, details)], title="rules.py"), size=60)

    first, *others = small(chunked)
    assert first.preamble == "import bank\nfrom bank import rule"
    assert chunked.entries[0].text.startswith("rules.py\n@rule\ndef fee(amount):\n")
    assert len(others) >= 2
    assert {piece.preamble for piece in others} == {"import bank\nfrom bank import rule\ndef fee(amount):"}
    assert "\n".join(piece.text for piece in small(chunked)) == FUNCTION


def test_a_whole_function_has_its_imports_above(make: Make, cut: Cut) -> None:
    source = "def fee(amount):\n    return amount"

    chunked = cut(make([(CODE, source, Details(preamble="import bank\ndef fee(amount):"))]))

    assert [(piece.preamble, piece.text) for piece in chunked.chunks] == [("import bank", source)]
    assert chunked.entries[0].text == f"Manual\n{source}"


def test_what_a_piece_shows_whole_is_not_said_above_it(make: Make, cut: Cut) -> None:
    chunked = cut(make([(CODE, "import bank\n\nprint(bank)", Details(preamble="import bank"))]))

    assert [piece.preamble for piece in chunked.chunks] == [""]


def test_code_is_cut_at_the_places_that_it_names(make: Make, cut: Cut) -> None:
    starts = [FUNCTION.index(statement) for statement in BODY]
    # The loader may point at the statement or at the beginning of its line.
    cuts = tuple(start + 4 * (number % 2) for number, start in enumerate(starts))

    pieces = small(cut(make([(CODE, FUNCTION, Details(cuts=cuts))]), size=50))

    assert len(pieces) >= 3
    assert all(piece.text.startswith("    if amount") for piece in pieces[1:])
    assert "\n".join(piece.text for piece in pieces) == FUNCTION
