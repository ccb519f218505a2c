from citewell.generation.answer import Draft
from citewell.generation.lost import lost_warnings
from citewell.types import Citation, Document, Rights


def lossy(name: str, lost: str = "page 3: it could not be read") -> Document:
    rights = Rights(frozenset({"everyone"}))
    return Document(name, "", f"The {name}", f"file:///{name}", "1", "", (), rights, lost=lost)


def citing(*ids: str) -> Draft:
    made = tuple(Citation(1, f"{one}#0", one, one, f"file:///{one}", (), "", None, "", 0, 0, "") for one in ids)
    return Draft("An answer.", citations=made)


SCHEDULE, PLAN, MENU = lossy("card fee schedule"), lossy("floor plan"), lossy("menu")
QUESTION = "What is the highest card fee?"


def test_an_abstention_names_the_nearest_first_and_counts_the_rest() -> None:
    draft = Draft("I don't know.", abstained=True)
    warnings = lost_warnings(QUESTION, draft, [PLAN, MENU, lossy("map"), SCHEDULE, lossy("index")])
    assert warnings[0] == (
        "What could not be read of The card fee schedule may hold the answer (page 3: it could not be read)."
    )
    assert len(warnings) == 4
    assert warnings[3] == "2 more documents could not be read whole."
    assert lost_warnings(QUESTION, draft, []) == ()


def test_an_answer_names_what_it_cites_and_what_the_question_names() -> None:
    assert lost_warnings("Where is the kitchen?", citing("menu"), [PLAN, MENU]) == (
        "What could not be read of The menu may say more (page 3: it could not be read).",
    )
    (warning,) = lost_warnings(QUESTION, citing("other"), [PLAN, SCHEDULE])
    assert warning.startswith("What could not be read of The card fee schedule may say more")
    assert lost_warnings("Where is the kitchen?", citing("other"), [PLAN, SCHEDULE]) == ()


def test_a_long_list_of_losses_is_cut() -> None:
    (warning,) = lost_warnings("?", citing("menu"), [lossy("menu", "page 1: x; " * 200)])
    assert len(warning) < 400
