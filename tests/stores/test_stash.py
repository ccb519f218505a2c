"""Vectors kept between making and storing them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from citewell.stores.stash import FILE, Stash
from tests.stores.corpus import DIMENSIONS, embedded, unit_vectors

MADE = embedded(unit_vectors(4, 1))
HASHES = [f"{number:02x}" * 32 for number in range(4)]


def filled(folder: Path) -> Stash:
    stash = Stash(folder, DIMENSIONS)
    stash.add(dict(zip(HASHES, MADE, strict=True)))
    return stash


def test_another_process_finds_what_was_added(tmp_path: Path) -> None:
    filled(tmp_path)
    found = Stash(tmp_path, DIMENSIONS).find([HASHES[2], "ff" * 32])
    assert list(found) == [HASHES[2]]
    np.testing.assert_array_equal(found[HASHES[2]].vector, MADE[2].vector)
    assert found[HASHES[2]].tokens == MADE[2].tokens != b""


def test_a_record_cut_short_is_ignored_and_what_comes_next_is_whole(tmp_path: Path) -> None:
    filled(tmp_path)
    data = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(data[:-5])
    again = Stash(tmp_path, DIMENSIONS)
    assert again.count() == 3
    again.add({"aa" * 32: MADE[0]})
    assert set(Stash(tmp_path, DIMENSIONS).find([*HASHES, "aa" * 32])) == {*HASHES[:3], "aa" * 32}


@pytest.mark.parametrize("lost", [slice(-4, None), slice(-4 * DIMENSIONS, None), slice(-8, -4), slice(-140, -132)])
def test_a_record_of_which_power_lost_a_part_is_ignored(lost: slice, tmp_path: Path) -> None:
    filled(tmp_path)
    data = bytearray((tmp_path / FILE).read_bytes())
    data[lost] = bytes(len(data[lost]))
    (tmp_path / FILE).write_bytes(data)
    assert Stash(tmp_path, DIMENSIONS).count() == 3


def test_the_file_goes_when_nothing_waits(tmp_path: Path) -> None:
    stash = filled(tmp_path)
    stash.forget(HASHES[:3])
    assert (tmp_path / FILE).exists()
    stash.forget([HASHES[3], "ff" * 32])
    assert not (tmp_path / FILE).exists()
    assert stash.find(HASHES) == {}
    stash.clear()
