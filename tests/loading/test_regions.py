from __future__ import annotations

import time

from citewell.loading.office.regions import regions


def test_bands_come_before_columns() -> None:
    boxes = [(5, 2, 6, 4), (0, 2, 1, 3), (0, 0, 6, 1), (0, 3.5, 1, 4)]
    assert list(regions(boxes, gap=0.2)) == [[2], [1], [3], [0]]


def test_what_touches_stays_together_unless_the_gap_is_negative() -> None:
    boxes = [(0, 0, 1, 1), (1, 0, 2, 1), (0, 1, 1, 2)]
    assert list(regions(boxes, gap=0)) == [[0, 1, 2]]
    assert list(regions(boxes, gap=-0.1)) == [[0], [1], [2]]


def test_nothing_has_no_regions() -> None:
    assert list(regions([], gap=0)) == []


def test_a_spiral_of_boxes_is_cut_in_time() -> None:
    """Each cut takes one box off the rest."""
    boxes: list[tuple[float, float, float, float]] = []
    for at in range(10_000):
        far = 100_000 - 4 * at
        boxes.append((4 * at, 4 * at, far, 4 * at + 1) if at % 2 else (4 * at, 4 * at, 4 * at + 1, far))
    begin = time.perf_counter()
    assert sum(map(len, regions(boxes, gap=1))) == len(boxes)
    assert time.perf_counter() - begin < 20
