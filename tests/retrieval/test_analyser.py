"""The analyser: what each kind of text becomes, and what holds for every text."""

from __future__ import annotations

import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.retrieval.analyser import analyse, analyse_query


def english(query: str) -> list[str]:
    """A query's tokens but for the stems of other languages."""
    return [token for token in analyse_query(query) if not re.match("[a-z]{2}:", token)]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Customers may dispute within 120 days.", ["custom", "may", "disput", "within", "120", "day"]),
        ("R-17", ["r", "17", "r17"]),
        ("ISO/IEC 27001:2022", ["iso", "iec", "isoiec", "27001", "2022", "27001:2022", "iec27001"]),
        ("O-RING-9/B", ["o", "ring", "9", "b", "oring9b", "ring9"]),
        ("§ 4.2(b)(ii)", ["4.2", "b", "ii", "4.2b", "4.2bii", "section"]),
        ("error_code_42", ["error", "code", "42", "errorcode42", "code42"]),
        ("run_target __init__", ["run", "target", "runtarget", "init"]),
        ("DiffExecutor", ["diffexecutor", "diff", "executor"]),
        ("parseHTTPRequest", ["parsehttprequest", "pars", "http", "request"]),
        ("C++ C# C", ["c++", "c#", "c"]),
        ("well-known e-mail", ["well", "known", "wellknown", "e", "mail", "email"]),
        ("john.doe@bank.example", ["john", "doe", "johndo", "bank", "exampl", "bankexampl"]),
        ("docs/fees.md", ["doc", "fee", "md", "docsfeesmd"]),
        ("€25", ["25", "eur25", "eur"]),
        ("25.00 €", ["25.00", "eur25", "25", "eur"]),
        ("$1,200.50", ["1200.50", "usd1200.5", "1200.5", "usd"]),
        ("1\u202f200 kg", ["1200", "kg"]),
        ("3.5%", ["3.5", "percent3.5", "percent"]),
        ("120² or 2½", ["120", "2", "or", "2", "1", "2", "1/2"]),
        ("1,2,3", ["1", "2", "3", "1,2,3"]),
        ("31.01.2026", ["31.01.2026"]),
        ("${name} $total %d", ["name", "total", "d"]),
        ("9f86d081884c7d65", ["9f86d081884c7d65"]),
        ("infor\u00admation", ["inform"]),
        ("ﬁle Ｖｉｓａ™", ["file", "visatm", "visa", "tm"]),
        ("customer's customers’", ["custom", "custom"]),
        ("银行卡", ["银", "行", "卡", "银行", "行卡"]),
        ("हिन्दी", ["हिन्द"]),
        ("שָׁלוֹם", ["שלום"]),
        ("", []),
        ("?! … ---", []),
    ],
)
def test_a_document_gives_these_tokens(text: str, tokens: list[str]) -> None:
    assert analyse(text) == tokens


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("café", "cafe"),
        ("CAFÉ", "cafe\u0301"),
        ("Straße", "STRASSE"),
        ("naïve", "naive"),
        ("smørrebrød", "smorrebrod"),
        ("Kraków", "krakow"),
        ("don’t", "don't"),
        ("policies", "policy"),
        ("e-mails", "email"),
        ("शाखाएँ", "शाखा"),
        ("ёлка", "елка"),
        ("Λόγος", "λογοσ"),
        ("١٢٠", "120"),
        ("½", "1/2"),
    ],
)
def test_two_spellings_meet(one: str, other: str) -> None:
    assert set(english(one)) & set(analyse(other))
    assert set(english(other)) & set(analyse(one))


@pytest.mark.parametrize(
    ("language", "query", "text"),
    [
        ("de", "Kündigung", "Kündigungen"),
        ("de-AT", "kundigungen", "Kündigung"),
        ("fr", "l'argent", "argents"),
        ("fr", "déclaré", "déclarée"),
        ("fr", "declare", "déclarée"),
        ("es", "reservación", "reservaciones"),
        ("it", "dell'anno", "anno"),
        ("nb", "kontoen", "konto"),
        ("pt-BR", "contestações", "contestação"),
        ("xx", "policies", "policy"),
    ],
)
def test_a_document_is_stemmed_by_its_language_and_a_query_by_all(language: str, query: str, text: str) -> None:
    assert set(analyse_query(query)) & set(analyse(text, language))


def test_no_rule_of_another_language_makes_an_english_word_match() -> None:
    # Cut by the rules of several of the other languages, "organic" is "organ".
    assert not set(analyse_query("organic")) & set(analyse("organ"))


def test_a_query_leaves_out_the_words_that_only_ask() -> None:
    assert english("How many days does a customer have to dispute the payment?") == [
        "mani",
        "day",
        "custom",
        "disput",
        "payment",
    ]


@pytest.mark.parametrize("query", ["to be or not to be", "The Who", "IT", "what is it?", "A"])
def test_a_query_of_nothing_else_still_finds_what_it_says(query: str) -> None:
    assert set(analyse_query(query)) & set(analyse(query))


def test_an_acronym_is_not_taken_for_a_word_that_asks() -> None:
    assert english("What does the WHO say?") == ["who", "say"]
    assert english("WHAT DOES THE BANK SAY") == ["bank", "say"]


@pytest.mark.parametrize("text", ["R-71", "Section 17 R applies", "open 9 to 17", "R-171", "R-1.7", "17R", "a 17"])
def test_only_letters_before_the_number_make_the_code(text: str) -> None:
    assert "r17" in analyse_query("R-17")
    assert "r17" not in analyse(text)


def test_prose_around_numbers_gives_no_false_codes() -> None:
    text = "Within 30 days of 12 May a 5 day limit applies to 17 of 20 cases"
    assert len(analyse(text)) == len(text.split())


@given(st.text(), st.sampled_from(["", "de", "fr", "tr", "zh", "no such language"]))
def test_a_token_is_never_empty_long_or_cut_by_white_space(text: str, language: str) -> None:
    for token in analyse(text, language) + analyse_query(text):
        assert token.split() == [token]
        assert len(token) < 200


WORDS = st.text("abcRS179-./(),:'€% éß银ก", max_size=12)


@given(WORDS)
def test_a_text_finds_itself_if_it_holds_anything(text: str) -> None:
    tokens = set(analyse(text))
    assert bool(tokens) == bool(set(analyse_query(text)) & tokens)
    assert tokens or not any(char.isalnum() for char in text)


@given(WORDS)
def test_a_query_names_each_token_once(text: str) -> None:
    query = analyse_query(f"{text} {text}")
    assert len(query) == len(set(query))


@pytest.mark.parametrize(
    "piece",
    [
        "1",
        "1.1",
        "1,1,",
        "a-",
        "a1",
        "4.2(b)",
        "(b)",
        "a'",
        "€ 1",
        "e\u0301",
        "银",
        "ก",
        "A 1 ",
        "1'111",
        "c++",
        "R -",
        "_",
    ],
)
def test_hostile_repetition_takes_time_in_proportion_to_its_length(piece: str) -> None:
    def seconds(length: int) -> float:
        """The best of three: what else runs on the machine makes a run longer, never shorter."""
        text, runs = piece * (length // len(piece)), []
        for _ in range(3):
            begin = time.process_time()
            analyse(text)
            runs.append(time.process_time() - begin)
        return min(runs)

    analyse(piece)
    # Four times the text: 16 times the time, were it quadratic. The constant is for the clock's grain.
    assert seconds(40_000) < 10 * seconds(10_000) + 0.1


def test_threads_do_not_disturb_each_other() -> None:
    words = [f"{stem}{chr(97 + n % 26)}{chr(97 + n // 26)}ations" for stem in ("disput", "gener") for n in range(600)]
    stemmer = import_module("snowballstemmer.english_stemmer").EnglishStemmer()
    expected = [stemmer.stemWord(word) for word in words]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(analyse, [" ".join(words[n::4]) for n in range(4)]))
    finally:
        sys.setswitchinterval(interval)
    assert results == [expected[n::4] for n in range(4)]
