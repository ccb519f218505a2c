"""Rules of the settings, asked of each sentence of an answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from citewell.checking.rules import RULED_OUT, ruled
from citewell.generation.answer import ABSTENTION, Draft
from citewell.settings import Rule
from citewell.types import Citation, Sentence

REGISTER, MAIL = "file:///docs/approval-register.xlsx", "file:///mail/ann.eml"
APPROVALS = Rule(name="approvals", says=r"\bapproved\b", source="*approval-register*", quote=r"AP-\d+")


def citation(n: int, source: str, quote: str) -> Citation:
    return Citation(n, f"c{n}", f"d{n}", "T", source, (), "", None, quote, 0, len(quote), source)


def draft(*sentences: tuple[str, str, str]) -> Draft:
    """Of sentences, each with the source and the text of what it cites."""
    cited = tuple(citation(n, source, quote) for n, (_, source, quote) in enumerate(sentences, start=1))
    made = tuple(Sentence(text, (n,)) for n, (text, _, _) in enumerate(sentences, start=1))
    text = "\n".join(f"{sentence.text} [{sentence.citations[0]}]" for sentence in made)
    return Draft(text, made, cited)


IN_ORDER = ("The purchase was approved.", REGISTER, "AP-17 | purchase | approved")
HEARSAY = ("The budget was Approved.", MAIL, "AP-18: I think the budget was approved")
WITHOUT_NUMBER = ("The trip was approved.", REGISTER, "trip | approved")
ELSE = ("The fee is EUR 25.", MAIL, "The fee is EUR 25.")


def test_what_keeps_the_rules_stays_as_it_is() -> None:
    made = draft(IN_ORDER, ELSE)
    assert ruled(made, [APPROVALS]) == made
    assert ruled(made, []) == made


@pytest.mark.parametrize("broken", [HEARSAY, WITHOUT_NUMBER])
def test_a_sentence_without_the_source_it_needs_is_struck(broken: tuple[str, str, str]) -> None:
    made = ruled(draft(IN_ORDER, broken, ELSE), [APPROVALS])
    assert made.text == "The purchase was approved. [1]\nThe fee is EUR 25. [2]"
    assert [each.source for each in made.citations] == [REGISTER, MAIL]
    assert made.told == ('A sentence was struck: the rule "approvals" asks for another source.',)


def test_one_citation_that_fits_is_enough() -> None:
    made = draft(IN_ORDER, HEARSAY)
    both = Draft("The budget was approved. [1][2]", (Sentence("The budget was approved.", (1, 2)),), made.citations)
    assert ruled(both, [APPROVALS]) == both


def test_a_rule_may_only_warn() -> None:
    made = ruled(draft(HEARSAY), [APPROVALS.model_copy(update={"otherwise": "flag"})])
    assert made.sentences == draft(HEARSAY).sentences
    assert made.told == ('Sentence 1 is not certain: the rule "approvals" asks for another source.',)


def test_a_rule_may_end_the_answer_as_does_nothing_left() -> None:
    for rule, some in (
        (APPROVALS.model_copy(update={"otherwise": "abstain"}), (HEARSAY, ELSE)),
        (APPROVALS, (HEARSAY,)),
    ):
        made = ruled(draft(*some), [rule])
        assert (made.text, made.abstained, made.reason, made.sentences) == (ABSTENTION, True, RULED_OUT, ())


def test_a_rule_without_a_source_forbids() -> None:
    advice = Rule(name="no advice", says=r"you should (sue|sell)")
    made = ruled(draft(("You should sue them.", MAIL, "You should sue them."), ELSE), [advice])
    assert [sentence.text for sentence in made.sentences] == ["The fee is EUR 25."]
    assert made.told == ('A sentence was struck: the rule "no advice" forbids it.',)


def test_a_pattern_that_takes_too_long_counts_as_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("citewell.checking.rules.SECONDS", 0.05)
    slow = Rule(name="slow", says=r"(a+b?)+$|(a|aa)+\d\d$")
    made = ruled(draft(("a" * 60 + "!", MAIL, "x"), ELSE), [slow])
    assert [sentence.text for sentence in made.sentences] == ["The fee is EUR 25."]


def test_a_pattern_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="no regular expression"):
        Rule(name="bad", says="(")


@pytest.mark.parametrize("word", ["ap\u200bproved", "appro\u00adved", "\u2060approved", "ａｐｐｒｏｖｅｄ"])
def test_what_no_reader_sees_hides_nothing(word: str) -> None:
    made = ruled(draft((f"The budget was {word}.", MAIL, "x"), ELSE), [APPROVALS])
    assert [sentence.text for sentence in made.sentences] == [ELSE[0]]


def test_doubts_follow_their_sentences() -> None:
    """One is struck, and what was doubted before is named by the number that it has then."""
    doubted = replace(draft(HEARSAY, ELSE), doubts=("", "the passage says little of it"))
    made = ruled(doubted, [APPROVALS])
    assert [sentence.text for sentence in made.sentences] == [ELSE[0]]
    assert made.told[-1] == "Sentence 1 is not certain: the passage says little of it."
    both = ruled(doubted, [APPROVALS.model_copy(update={"says": "fee", "otherwise": "flag"})])
    assert both.told == (
        'Sentence 2 is not certain: the passage says little of it; the rule "approvals" asks for another source.',
    )
    held = ruled(doubted, [APPROVALS.model_copy(update={"otherwise": "abstain"})])
    assert held.told == (), "nothing is told of sentences that are held back"
