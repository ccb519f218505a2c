"""The names that passages give for the next search."""

from __future__ import annotations

import pytest

from citewell.queries.chains import innermost
from citewell.queries.decomposition_rules import LONGEST
from citewell.queries.second_hop import MOST, onward
from citewell.retrieval.query import Query, Role

ALIEN = "Alien is a 1979 film written by Dan O'Bannon and directed by Ridley Scott. It stars Sigourney Weaver."
KWAIDAN = "Kwaidan is a film of 1964 directed by Masaki Kobayashi, based on stories by Lafcadio Hearn."


def texts(question: str, *passages: str) -> list[str]:
    return [query.text for query in onward(question, passages)]


def test_the_name_behind_the_relation_stands_for_what_it_answers() -> None:
    assert onward("Where was the director of film Alien born?", [ALIEN]) == (
        Query("Where was Ridley Scott born", Role.PART),
    )
    assert texts("When did Alien's writer die?", ALIEN) == ["When did Dan O'Bannon die"]


def test_of_a_comparison_each_passage_gives_a_name() -> None:
    question = "Which film has the director who is older, Alien or Kwaidan?"
    assert texts(question, ALIEN, KWAIDAN) == ["Ridley Scott", "Masaki Kobayashi"]


def test_where_no_word_is_like_the_relation_the_first_new_name_is_taken() -> None:
    passage = "Anna Lisbeth Palme was married to Olof Palme. Her brother was Carl Beck."
    assert texts("Where was Lisbeth Palme's spouse born?", passage) == ["Where was Olof Palme born"]


@pytest.mark.parametrize(
    "question",
    [
        "Who directed Alien?",
        "Who is the director of Alien?",
        "Which film is older, Alien or Kwaidan?",
        "",
        "x" * LONGEST,
    ],
)
def test_what_is_no_chain_leads_nowhere(question: str) -> None:
    assert onward(question, [ALIEN]) == ()


def test_without_passages_or_names_there_is_nothing_to_search() -> None:
    question = "Where was the director of film Alien born?"
    assert onward(question, []) == ()
    assert onward(question, ["it was directed by someone."]) == ()


def test_no_more_passages_are_read_than_may_be_searched_for() -> None:
    passages = [f"It was directed by Anna B{'abcdefgh'[at]}rg." for at in range(8)]
    assert len(onward("Where was the director of film Alien born?", passages)) == MOST


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is the mother of the director of film Alien", "director of film Alien"),
        ("What is the place of birth of the performer of song Changed It", "performer of song Changed It"),
        ("Where did Coulson Wallop's father study", "Coulson Wallop's father"),
        ("Which country Ann Lee's father is from", "Ann Lee's father"),
        ("What is the capital of Australia", ""),
        ("Who was the first elected president of Egypt", ""),
        ("When did Warsaw become the capital of the Commonwealth", ""),
        ("Compare A and B", ""),
    ],
)
def test_the_innermost_of_a_chain(question: str, expected: str) -> None:
    assert innermost(question) == expected
