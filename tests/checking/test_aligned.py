"""The default judge: right and wrong answers of the kinds that it is for, and hostile ones."""

from __future__ import annotations

import pytest

from citewell.checking.aligned import CONTRADICTED, LACKING, NAME, AlignedJudge
from citewell.checking.judge import SUPPORTED, Judgement
from citewell.models.embedder import Embedder
from citewell.models.minilm import MiniLM
from citewell.models.shortened import Shortened

POLICY = (
    """A customer may dispute a card payment within 120 days of the transaction date. Cash withdrawals cannot be
    disputed after 30 days. The chargeback fee is EUR 25 since 14 March 2026.""",
    "Alerts above a score of 85 are declined with code R-17 at once. Louise Brown signs the report on alerts.",
)
FEES = ("Fee | Debit | Credit\nChargeback | 15 | 20\nCopy | 5 | 6",)
GERMAN = (
    """Kunden können eine Kartenzahlung innerhalb von 120 Tagen nach der Buchung reklamieren. Bargeldabhebungen können
    nicht reklamiert werden. Die Gebühr beträgt 25 Euro.""",
)
FRENCH = (
    """Le client peut contester un paiement dans un délai de 120 jours. Les retraits d'espèces ne peuvent pas être
    contestés. Les frais sont de 25 €.""",
)
CHINESE = ("客户可以在交易日起120天内对银行卡付款提出异议。现金提款不能提出异议。手续费为25欧元。",)
REPLACED = ("A card that is not released within 72 hours is replaced.",)
RAILWAY = ("The railway runs on a standard gauge track.",)
HOW_LONG = "How long may a payment be disputed?"


@pytest.fixture(scope="module")
def judge() -> AlignedJudge:
    return AlignedJudge(MiniLM(threads=1))


def one(judge: AlignedJudge, claim: str, passages: tuple[str, ...], question: str = "") -> Judgement:
    (judged,) = judge.judge([claim], passages, question)
    assert judged.support is not None
    assert judged.failure is None
    assert judged.reason
    return judged


@pytest.mark.parametrize(
    ("claim", "passages", "question"),
    [
        ("Card payments can be disputed for 120 days.", POLICY, ""),
        ("120 days", POLICY, HOW_LONG),
        ("Yes", POLICY, "Can a card payment be disputed within 120 days?"),
        ("No.", POLICY, "Can cash withdrawals be disputed after 30 days?"),
        ("No, cash withdrawals can't be disputed after 30 days.", POLICY, "Can cash be disputed?"),
        ("The fee is 25 €.", POLICY, ""),
        ("The fee applies since 2026-03-14.", POLICY, ""),
        ("R 17", POLICY, "With which code are alerts above 85 declined?"),
        ("Reports on alerts are signed by Louise Brown.", POLICY, ""),
        ("The chargeback fee for credit is 20.", FEES, ""),
        ("After 72 hours without release.", REPLACED, "After how many hours is a card replaced?"),
        ("37 per cent", ("Business 37 %",), "Which share of the chargebacks on business cards was cross-border?"),
        ("From 210.", ("Disputes older than the target 100 210",), "From which value on is the indicator red?"),
        ("Eine Kartenzahlung kann 120 Tage lang reklamiert werden.", GERMAN, ""),
        ("Die Gebühr ist 25 EUR.", GERMAN, ""),
        ("Un paiement peut être contesté dans les 120 jours.", FRENCH, ""),
        ("Les retraits d'espèces ne peuvent pas être contestés.", FRENCH, ""),
        ("25 euros", FRENCH, "Quels sont les frais ?"),
        ("银行卡付款可以在120天内提出异议。", CHINESE, ""),
    ],
)
def test_supported(judge: AlignedJudge, claim: str, passages: tuple[str, ...], question: str) -> None:
    assert one(judge, claim, passages, question).is_supported


@pytest.mark.parametrize(
    ("claim", "passages", "question"),
    [
        ("The branch opens at nine.", POLICY, ""),
        ("90 days", POLICY, HOW_LONG),
        ("120 hours", POLICY, HOW_LONG),
        ("Yes", POLICY, "Can cash withdrawals be disputed after 30 days?"),
        ("No.", POLICY, "Does the branch open at nine?"),  # silence denies nothing
        ("No.", POLICY, "Can a card payment be disputed within 120 days?"),
        ("The fee is 25 USD.", POLICY, ""),
        ("The fee applies since 15 March 2026.", POLICY, ""),
        ("R-18", POLICY, "With which code are alerts above 85 declined?"),
        ("Alerts above 85 are declined with code R-18.", POLICY, ""),
        ("Alerts above 85 are declined by Martha Green.", POLICY, ""),
        ("The railway runs on a narrow gauge track.", RAILWAY, "On what kind of track does the railway run?"),
        ("Eine Kartenzahlung kann 90 Tage lang reklamiert werden.", GERMAN, ""),
        ("Un paiement peut être contesté dans les 90 jours.", FRENCH, ""),
        ("银行卡付款可以在90天内提出异议。", CHINESE, ""),
        ("分行九点开门。", CHINESE, ""),
    ],
)
def test_unsupported(judge: AlignedJudge, claim: str, passages: tuple[str, ...], question: str) -> None:
    judged = one(judge, claim, passages, question)
    assert judged.support is not None
    assert judged.support <= LACKING < SUPPORTED


@pytest.mark.parametrize(
    ("claim", "passages"),
    [
        ("The chargeback fee is EUR 45.", POLICY),
        ("A customer may dispute a card payment within 90 days.", POLICY),
        ("Cash withdrawals can be disputed after 30 days.", POLICY),
        ("Alerts above a score of 85 are not declined at once.", POLICY),
        ("Alerts above a score of 85 are approved at once.", POLICY),
        ("Bargeldabhebungen können reklamiert werden.", GERMAN),
        ("Les retraits d'espèces peuvent être contestés.", FRENCH),
        ("现金提款可以提出异议。", CHINESE),
        ("Chargeback – Debit: 15; Credit: 6", FEES),  # a figure of another row
    ],
)
def test_contradicted(judge: AlignedJudge, claim: str, passages: tuple[str, ...]) -> None:
    judged = one(judge, claim, passages)
    assert judged.contradicted
    assert judged.support is not None
    assert judged.support <= CONTRADICTED


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Cash withdrawals cannot be disputed after 30 days.", POLICY[0]),
        ("Chargeback – Debit: 15; Credit: 20", FEES[0]),
        ("Chargeback – Debit: 15; Credit: 20", "Chargeback | 15 | 20"),  # a citation quotes the bare row
        (
            "CB-E – First portal: 7-05 Not as described, 7-06 Counterfeit; Second portal: W44",
            "CB-E | 7-05 Not as described, 7-06 Counterfeit | W44",
        ),
        ("may dispute a card payment within 120 days", POLICY[0].replace("card payment", "card\npayment")),
        ("Due: eleventh business day of the month", "- Due: eleventh business day of the month.\n- Owner: risk"),
    ],
)
def test_a_quote_is_fully_supported(judge: AlignedJudge, claim: str, passage: str) -> None:
    assert one(judge, claim, (passage,)).support == 1


def test_a_row_with_another_cell_is_no_quote(judge: AlignedJudge) -> None:
    assert not one(judge, "Chargeback – Debit: 15; Credit: 25", ("Chargeback | 15 | 20",)).is_supported


def test_without_passages_nothing_is_supported(judge: AlignedJudge) -> None:
    for passages in ([], ["", " \n"]):
        assert [each.support for each in judge.judge(["Anything.", "At all."], passages)] == [0, 0]
    assert judge.judge([], POLICY) == []


def test_claims_are_judged_alike_in_any_company(judge: AlignedJudge) -> None:
    claims = ["120 days", "The branch opens at nine.", "The fee is 25 €."]
    together = judge.judge(claims, POLICY, HOW_LONG)
    assert together == [judge.judge([claim], POLICY, HOW_LONG)[0] for claim in claims]
    assert together == AlignedJudge(MiniLM(threads=1)).judge(claims, POLICY, HOW_LONG)


@pytest.mark.parametrize("claim", ["", "(((", "\x00", "\ud800 is", "9" * 5_000, "not " * 500, "15 March 2026 " * 200])
def test_hostile_claims_are_judged(judge: AlignedJudge, claim: str) -> None:
    (judged,) = judge.judge([claim], POLICY, HOW_LONG)
    assert judged.support is not None
    assert 0 <= judged.support < SUPPORTED


def test_another_embedder_signs_another_name() -> None:
    other: Embedder = Shortened(MiniLM(threads=1), 128)
    assert AlignedJudge(MiniLM(threads=1)).name == NAME
    assert AlignedJudge(other).name.startswith(f"{NAME}, ")
