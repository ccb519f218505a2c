"""How large type is and where its base line is, by its ink."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from citewell.loading.scan.lettering import levelled, measure

EM = 40
BASELINE = 60


def line(above: float, below: float) -> NDArray[np.uint8]:
    """Ink that reaches so many ems above and below the base line, and a speck of the next line."""
    ink = np.zeros((100, 200), np.uint8)
    ink[BASELINE - round(above * EM) : BASELINE + round(below * EM), 20:180:5] = 255
    ink[-3:, 50] = 255
    return ink


@pytest.mark.parametrize(
    ("text", "above", "below"),
    [
        ("Total", 0.72, 0.0),
        ("Type", 0.72, 0.22),
        ("sum", 0.49, 0.0),
        ("grey", 0.49, 0.22),
        ("2 026", 0.72, 0.0),
        ("費用", 0.82, 0.1),
    ],
)
def test_size_and_base_line_are_told_by_the_letters(text: str, above: float, below: float) -> None:
    lettering = measure(line(above, below), text)
    assert lettering.size == pytest.approx(EM, rel=0.03)
    assert lettering.baseline == pytest.approx(BASELINE, abs=1)


def test_without_ink_the_box_tells() -> None:
    lettering = measure(np.zeros((40, 100), np.uint8), "pale")
    assert (lettering.size, lettering.baseline) == (30, 30)


def test_sizes_that_are_nearly_the_same_are_one() -> None:
    sizes = levelled([10.1, 14.2, 9.8, 10.3, 9.6, 13.9], [300, 12, 80, 40, 10, 20])
    assert sizes == [10.0, 14.0, 10.0, 10.0, 10.0, 14.0]


def test_no_sizes_are_none() -> None:
    assert levelled([], []) == []
