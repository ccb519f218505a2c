"""What is found wrong with a test set after its documents have changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from citewell.evaluation import references
from citewell.evaluation.naming import short_names
from citewell.evaluation.references import Fault, check
from citewell.evaluation.testset import Evidence, Question
from citewell.index import Index
from citewell.loading.given import from_text
from citewell.settings import Chunking, Settings

POLICY = """\
# Policy

## 4.2 Time limits for disputes

A customer may dispute a card payment within 120 days of the transaction date. Cash is another matter.

## 4.3 Fees

| Card | Fee |
| --- | --- |
| Debit | £12.00 |
| Credit | £18.00 |
"""
LONG = " ".join(f"Word {number} stands here and goes on and on without an end" for number in range(80)) + "."


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """A policy for everyone, thresholds for the fraud team, last year's policy, and two files of one name."""
    folder = tmp_path_factory.mktemp("references")
    files = folder / "files"
    (files / "one").mkdir(parents=True)
    (files / "two").mkdir()
    (files / "policy.md").write_text(POLICY, encoding="utf-8")
    (files / "one" / "notes.md").write_text("The first note.\n", encoding="utf-8")
    (files / "two" / "notes.md").write_text("The second note.\n", encoding="utf-8")
    (files / "long.md").write_text(LONG, encoding="utf-8")
    with Index.create(folder / "index", settings=Settings(chunking=Chunking(size=64, overlap=0))) as made:
        made.add(files)
        team = from_text("Alerts above a score of 85 are declined.", source="bank:/limits.md", groups=["fraud_team"])
        old = from_text("A customer had 90 days.", source="bank:/policy-2025.md", valid_to=date(2025, 12, 31))
        made.add_documents([team, old])
        yield made


def asked(*evidence: Evidence, **more: object) -> Question:
    return Question(id="q", question="What is asked here?", evidence=evidence).model_copy(update=more)


def quoted(quote: str, document: str = "policy.md") -> Evidence:
    return Evidence(document=document, quote=quote)


DAYS = quoted("within 120 days of the\n transaction date")
LIMIT = quoted("score of 85", "limits.md")


@pytest.mark.parametrize(
    "question",
    [
        asked(DAYS),
        asked(quoted("Debit £12.00")),
        asked(Evidence(document="policy.md", section="4.3 Fees")),
        asked(Evidence(document="policy.md", section="Policy > 4.2 Time limits for disputes")),
        asked(LIMIT, groups=("fraud_team",)),
        asked(LIMIT, answerable=False),
        asked(quoted("90 days", "policy-2025.md"), as_of=date(2025, 6, 1)),
        asked(quoted("The second note.", "notes.md")),
        asked(answerable=False),
    ],
    ids=["quote", "row", "section", "sections", "team", "secret", "last year", "one of two", "no evidence"],
)
def test_what_can_be_found_is_right(index: Index, question: Question) -> None:
    assert check(index, [question]) == ()


@pytest.mark.parametrize(
    ("question", "fault", "nearest"),
    [
        (asked(quoted("x", "polcy.md")), Fault.NO_DOCUMENT, "policy.md"),
        (asked(quoted("x", "zzz")), Fault.NO_DOCUMENT, ""),
        (asked(LIMIT), Fault.NOT_ALLOWED, ""),
        (asked(LIMIT, groups=("fraud_team",), answerable=False), Fault.ALLOWED, ""),
        (asked(quoted("90 days", "policy-2025.md")), Fault.NOT_IN_FORCE, ""),
        (
            asked(quoted("A customer may dispute a card payment within 90 days of the transaction date.")),
            Fault.QUOTE_GONE,
            "A customer may dispute a card payment within 120 days of the transaction date.",
        ),
        (asked(quoted("Debit | £14.00")), Fault.QUOTE_GONE, "Debit | £12.00"),
        (asked(quoted("Nothing like this was ever written")), Fault.QUOTE_GONE, ""),
        (asked(quoted("score of 90", "limits.md"), answerable=False), Fault.QUOTE_GONE, ""),
        (asked(Evidence(document="policy.md", section="4.3 Charges")), Fault.SECTION_GONE, "4.3 Fees"),
        (asked(quoted(LONG, "long.md")), Fault.QUOTE_CUT, ""),
        (asked(question="A customer may dispute a card payment within 120 days"), Fault.LEAK, ""),
    ],
)
def test_what_is_wrong_is_named(index: Index, question: Question, fault: Fault, nearest: str) -> None:
    (finding,) = check(index, [question])
    assert (finding.question, finding.fault, finding.nearest) == ("q", fault, nearest)
    assert finding.problem.endswith(".")
    assert finding.remedy.endswith(".")


def test_a_secret_that_is_gone_says_nothing_like_it(index: Index) -> None:
    (finding,) = check(index, [asked(quoted("Completely other words", "limits.md"), answerable=False)])
    assert (finding.nearest, finding.remedy) == ("", "Nothing in it is like it.")


def test_of_several_documents_with_one_name_none_has_it(index: Index) -> None:
    (finding,) = check(index, [asked(quoted("The third note.", "notes.md"))])
    assert (finding.fault, finding.nearest) in {
        (Fault.QUOTE_GONE, "The first note."),
        (Fault.QUOTE_GONE, "The second note."),
    }


def test_each_piece_of_evidence_is_looked_at(index: Index) -> None:
    question = asked(DAYS, LIMIT, quoted("x", "gone.md"), id="several")
    found = check(index, [asked(DAYS), question])
    assert [(one.question, one.fault, one.document) for one in found] == [
        ("several", Fault.NOT_ALLOWED, "limits.md"),
        ("several", Fault.NO_DOCUMENT, "gone.md"),
    ]


def test_a_short_question_stands_anywhere_by_chance(index: Index) -> None:
    assert check(index, [asked(question="Cash is")]) == ()
    assert [one.fault for one in check(index, [asked(question="Cash is another")])] == [Fault.LEAK]


def test_a_leak_is_named_so_that_no_other_document_is_meant(index: Index) -> None:
    (finding,) = check(index, [asked(question="The second note.")])
    assert (finding.fault, finding.document) == (Fault.LEAK, "two/notes.md")


def test_the_names_of_the_documents_are_made_once(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counted(sources: Sequence[str]) -> dict[str, str]:
        calls.append(len(sources))
        return short_names(sources)

    monkeypatch.setattr(references, "short_names", counted)
    gone = [asked(quoted("x", f"gone-{number}.md")) for number in range(3)]
    assert [finding.fault for finding in check(index, gone)] == [Fault.NO_DOCUMENT] * 3
    assert calls == [len(index.stored())]


def test_the_version_of_the_questions_day_is_looked_at(tmp_path: Path) -> None:
    """A document that was replaced: the old question still has its day, the new one its text."""
    old = from_text("The fee is £12.", source="bank:/fees.md", valid_from=date(2025, 1, 1), valid_to=date(2025, 12, 31))
    new = from_text("The fee is £15.", source="bank:/fees.md", valid_from=date(2026, 1, 1))
    with Index.create(tmp_path / "index") as made:
        made.add_documents([old])
        made.add_documents([replace(new, number=2)])
        then = asked(quoted("The fee is £12.", "fees.md"), as_of=date(2025, 6, 1))
        assert check(made, [then, asked(quoted("The fee is £15.", "fees.md"))]) == ()
        (finding,) = check(made, [then.model_copy(update={"as_of": None})])
        assert (finding.fault, finding.nearest) == (Fault.QUOTE_GONE, "The fee is £15.")
