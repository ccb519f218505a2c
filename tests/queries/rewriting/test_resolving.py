"""What a question leans on is put in its place."""

import pytest

from citewell.queries.rewriting.resolving import MOST_CHARS, MOST_TURNS, leans, resolved
from citewell.types import Turn


def turns_of(*questions: str) -> tuple[Turn, ...]:
    return tuple(map(Turn, questions))


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        (("What is throat cancer?",), "Is it treatable?", "Is throat cancer treatable?"),
        (("What is the US Electoral College?",), "How does it work?", "How does US Electoral College work?"),
        (("Tell me about lavender plants.",), "Are they safe to eat?", "Are lavender plants safe to eat?"),
        (("Tell me about lavender plants.",), "They're safe, are they not?", "lavender plants are safe, are they not?"),
        (("What is blockchain?",), "Tell me about its invention.", "Tell me about blockchain's invention."),
        (("Who was Ben Franklin?",), "How did he cook turkey?", "How did Ben Franklin cook turkey?"),
        (("Who was Ada Lovelace?",), "What were her main works?", "What were Ada Lovelace's main works?"),
        (("What is worth seeing in Tokyo?",), "What is living there like?", "What is living in Tokyo like?"),
        (("What is Tió de Nadal?",), "How did this tradition start?", "How did the Tió de Nadal tradition start?"),
        (("What is the R-17 form?",), "Who signs that?", "Who signs R-17 form?"),
        (('Who wrote "War and Peace"?',), "When was it published?", "When was War and Peace published?"),
        (("What is a 529 plan?",), "What are the main advantages?", "What are the main advantages (529 plan)?"),
        (("What is a virtual machine?",), "What else should I know?", "What else should I know (virtual machine)?"),
        (
            ("How does the Christmas Lottery work?",),
            "How are the tickets sold?",
            "How are the tickets sold (Christmas Lottery)?",
        ),
        (("Where can I watch The Office?",), "any awards", "any awards (Office)"),
        (("Tell me about Visa and Mastercard.",), "Are they safe?", "Are Visa and Mastercard safe?"),
        (("What is keto?", "What is paleo?"), "What do they have in common?", "What do keto and paleo have in common?"),
    ],
)
def test_the_topic_takes_the_place(before: tuple[str, ...], question: str, expected: str) -> None:
    assert resolved(question, turns_of(*before)) == expected


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        (
            "What is the fee for debit cards?",
            "What about credit cards?",
            "What is the fee for debit cards? What about credit cards?",
        ),
        ("What was the profit in 2023?", "And in 2024?", "What was the profit in 2024?"),
        ("Can I not dispute R-17 after 60 days?", "Why?", "Can I not dispute R-17 after 60 days? Why?"),
        ("Is there a fee for transfers?", "How much?", "Is there a fee for transfers? How much?"),
    ],
)
def test_a_follow_up_takes_the_question_before(before: str, question: str, expected: str) -> None:
    assert resolved(question, turns_of(before)) == expected


def test_a_follow_up_of_a_follow_up_takes_the_question_that_was_asked() -> None:
    before = turns_of("What is the fee for debit cards?", "What about credit cards?")
    assert resolved("And prepaid cards?", before) == "What is the fee for debit cards? And prepaid cards?"


def test_a_topic_is_carried_through_turns_that_only_point_at_it() -> None:
    before = turns_of("What is throat cancer?", "Is it treatable?", "How long does that take?", "Is it painful?")
    assert resolved("What causes it?", before) == "What causes throat cancer?"


def test_a_new_topic_takes_over() -> None:
    before = turns_of("What is throat cancer?", "Is it treatable?", "Tell me about lung cancer.")
    assert resolved("What are its symptoms?", before) == "What are lung cancer's symptoms?"


def test_a_person_is_taken_from_the_answer_that_names_one() -> None:
    turn = Turn("Who wrote the report on money laundering?", "Andre Frank wrote it in 1967.")
    assert resolved("Was he a judge?", (turn,)) == "Was Andre Frank a judge?"
    assert resolved("Was he a judge?", (Turn("Who wrote it?", "Andre Frank did."),)) == "Was Andre Frank a judge?"


@pytest.mark.parametrize(
    ("before", "question"),
    [
        ("Was kostet die Debitkarte?", "Und für Kreditkarten?"),
        ("Was kostet die Debitkarte?", "Warum?"),
        ("Combien coûte une carte ?", "Et pour les comptes joints ?"),
        ("¿Cuánto cuesta la tarjeta?", "¿Por qué?"),
        ("Quanto costa la carta?", "Perché?"),
        ("Wat kost een betaalpas?", "En voor een creditcard?"),
    ],
)
def test_in_another_language_no_word_is_changed(before: str, question: str) -> None:
    assert resolved(question, turns_of(before)) == f"{before} {question}"


@pytest.mark.parametrize(
    ("before", "question"),
    [
        ("Was kostet die Debitkarte?", "Wie sperre ich sie?"),
        ("Combien coûte la carte ?", "Comment la bloquer ?"),
        ("デビットカードの年会費はいくらですか", "それはどうやって止めますか"),
        ("Сколько стоит карта?", "Как её заблокировать?"),
        ("What does a debit card cost?", "Wie sperre ich it?"),
    ],
)
def test_what_the_rules_do_not_know_is_left_alone(before: str, question: str) -> None:
    assert resolved(question, turns_of(before)) is None


def test_nothing_is_made_up_where_the_turns_name_nothing() -> None:
    assert leans("What is it?", turns_of("Hello!"))
    assert resolved("What is it?", turns_of("Hello!", "Thanks, great.")) is None


def test_only_the_last_turns_count() -> None:
    assert resolved("What is it?", turns_of("What is blockchain?", *["Thanks!"] * MOST_TURNS)) is None
    assert resolved("What is it?", turns_of("What is blockchain?", *["Thanks!"] * (MOST_TURNS - 1))) is not None


def test_a_page_of_text_is_no_follow_up() -> None:
    assert not leans("it " * MOST_CHARS, turns_of("What is blockchain?"))
