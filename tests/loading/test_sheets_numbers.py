from __future__ import annotations

import pytest

from citewell.loading.sheets.numbers import shown


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (12.0, "General", "12"),
        (4111111111111111.0, "0", "4111111111111111"),
        (1 / 3, "General", "0.3333333333"),
        (7, "000", "007"),
        (1234.5, "#,##0.00", "1,234.50"),
        (0.125, "0.00", "0.13"),  # half up, as spreadsheets round
        (2.5, "0.##", "2.5"),
        (2, "0.##", "2"),
        (1_234_567, "#,##0,", "1,235"),
        (0.29, "0%", "29%"),
        (12, '0 "m2"', "12 m2"),
        (12, "[$€-407]#,##0", "€12"),
        (-12, "#,##0;[Red]-#,##0", "-12"),
        (-12, "#,##0;(#,##0)", "(12)"),
        (-0.001, "0.0", "0.0"),
        (0, '0;-0;"none"', "none"),
        (12345, "0.00E+00", "1.23E+04"),
        (5, ";;;", ""),  # hidden
        (0.5, "# ?/?", "0.5"),
        (45351, "dd/mm/yyyy", "2024-02-29"),
        (45351.5, "m/d/yy h:mm AM/PM", "2024-02-29 12:00"),
        (45351, "mmm-yy", "2024-02"),
        (0.75, "hh:mm:ss", "18:00:00"),
        (1.5, "[h]:mm", "36:00:00"),
        (1, "yyyy-mm-dd", "1900-01-01"),
        (1e300, "yyyy-mm-dd", "1e+300"),
        (1e300, "0.00", "1" + "0" * 300 + ".00"),
    ],
)
def test_numbers_in_their_formats(value: float, code: str, expected: str) -> None:
    assert shown(value, code) == expected


def test_dates_of_old_macs() -> None:
    assert shown(0, "yyyy-mm-dd", from_1904=True) == "1904-01-01"


def test_a_hostile_code_ends() -> None:
    assert shown(1.0, "0." + "0" * 10_000) == "1." + "0" * 30
