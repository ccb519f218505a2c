"""Ruling lines are found in ink, and nothing else is taken for one."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from citewell.loading.pdf.grid import grids
from citewell.loading.scan.rules import find_ink, find_rules
from tests.loading.pictures import letter, render

DPI = 144  # two pixels a point


def blank(ground: int = 255) -> NDArray[np.uint8]:
    return np.full((400, 600, 3), ground, np.uint8)


def rules(image: NDArray[np.uint8]) -> list[tuple[bool, float, float, float]]:
    found, _ = find_rules(find_ink(image, DPI), DPI)
    return [(rule.level, round(rule.at), round(rule.start), round(rule.end)) for rule in found]


def test_lines_are_found_with_their_place_and_ends_in_points() -> None:
    image = blank()
    image[100:102, 40:560] = 0
    image[60:380, 200:203] = 90
    assert rules(image) == [(True, 50, 20, 280), (False, 101, 30, 190)]


def test_a_broken_and_wavering_line_is_one() -> None:
    image = blank()
    image[100:102, 40:300] = 0
    image[101:103, 304:560] = 0
    assert rules(image) == [(True, 51, 20, 280)]


@pytest.mark.parametrize("ground", [160, 200])
def test_the_edge_of_a_shaded_ground_is_no_line(ground: int) -> None:
    image = blank()
    image[80:200, 100:500] = ground
    assert rules(image) == []


def test_lines_on_a_shaded_ground_and_in_a_shadow_are_found() -> None:
    image = blank(170)
    image[:, 300:] = np.linspace(170, 240, 300).astype(np.uint8)[None, :, None]
    image[150:152, 40:560] = 60
    assert rules(image) == [(True, 76, 20, 280)]


def test_bars_and_short_strokes_are_no_lines() -> None:
    image = blank()
    image[100:112, 40:560] = 0
    image[200:202, 40:90] = 0
    assert rules(image) == []


def test_letters_are_no_lines_and_what_is_left_when_lines_go() -> None:
    page = render(letter, DPI)
    ink = find_ink(page, DPI)
    found, rest = find_rules(ink, DPI)
    assert found == []
    assert (rest == ink).all()
    underlined = page.copy()
    underlined[128:130, 60:700] = 0
    found, rest = find_rules(find_ink(underlined, DPI), DPI)
    assert len(found) == 1
    assert not rest[128:130].any()


def test_a_skewed_grid_is_one_grid() -> None:
    image = blank()
    for at in range(5):
        for step in range(500):
            y, x = 40 + 70 * at + step // 250, 40 + step
            image[y : y + 2, x] = 0
        image[40:322, 40 + 124 * at : 43 + 124 * at] = 0
    found, _ = find_rules(find_ink(image, DPI), DPI)
    (grid,) = grids(found)
    assert (len(grid.xs), len(grid.ys), len(grid.cells)) == (5, 5, 16)
