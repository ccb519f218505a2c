from __future__ import annotations

import pytest

from citewell.evaluation.report.figures import counted, figure, setting, signed
from citewell.evaluation.report.visible import visible


@pytest.mark.parametrize(
    ("value", "measure", "shown"),
    [
        (0.8404, "recall@5", "0.840"),
        (None, "recall@5", "–"),
        (1.25, "seconds", "1.250 s"),
        (12_345.4, "tokens", "12,345"),
        (0.00123, "cost_usd", "$0.0012"),
    ],
)
def test_a_measure_is_written_with_its_unit(value: float | None, measure: str, shown: str) -> None:
    assert figure(value, measure) == shown


def test_a_difference_has_its_sign_unless_nothing_is_to_be_seen() -> None:
    assert [signed(value) for value in (0.0681, -0.0681, -0.0004, 0.0)] == ["+0.068", "−0.068", "0.000", "0.000"]


def test_settings_and_counts() -> None:
    assert setting(["dense"]) == '["dense"]'
    assert [counted(number, "question") for number in (0, 1, 12_000)] == [
        "0 questions",
        "1 question",
        "12,000 questions",
    ]


def test_what_is_unseen_is_named_and_line_breaks_and_joiners_stay() -> None:
    assert visible("a\u202eb\x00c\ud800\ue000\U000e0041\n\td\u200de") == (
        "a⟨U+202E⟩b⟨U+0000⟩c⟨U+D800⟩\ue000⟨U+E0041⟩\n\td\u200de"
    )
