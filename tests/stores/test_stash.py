"""What is kept between making and storing it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from citewell import clock
from citewell.models.embedder import Embedded
from citewell.stores import files
from citewell.stores.records import pack_embedded, pack_reply, unpack_embedded, unpack_reply
from citewell.stores.stash import Stash
from tests.stores.corpus import DIMENSIONS, embedded, unit_vectors

MADE = embedded(unit_vectors(4, 1))
KEYS = [f"{number:02x}" * 32 for number in range(4)]
PACKED = dict(zip(KEYS, map(pack_embedded, MADE), strict=True))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "stash"


def filled(path: Path) -> Stash:
    stash = Stash(path)
    stash.add(PACKED)
    return stash


def test_another_process_finds_what_was_added(path: Path) -> None:
    filled(path)
    assert Stash(path).find([KEYS[2], "ff" * 32]) == {KEYS[2]: PACKED[KEYS[2]]}
    assert Stash(path).everything() == PACKED


def test_what_another_process_has_added_or_taken_is_seen_when_read_again(path: Path) -> None:
    stash, other = filled(path), Stash(path)
    other.add({"aa" * 32: b"more"})
    assert stash.everything() == PACKED
    stash.read_again()
    assert stash.everything() == {**PACKED, "aa" * 32: b"more"}
    other.clear()
    stash.read_again()
    stash.add({"bb" * 32: b""})
    assert Stash(path).everything() == {"bb" * 32: b""}


def test_a_record_cut_short_is_ignored_and_what_comes_next_is_whole(path: Path) -> None:
    filled(path)
    path.write_bytes(path.read_bytes()[:-5])
    again = Stash(path)
    assert list(again.everything()) == KEYS[:3]
    again.add({"aa" * 32: b"next"})
    assert set(Stash(path).everything()) == {*KEYS[:3], "aa" * 32}


@pytest.mark.parametrize("lost", [slice(-4, None), slice(-4 * DIMENSIONS, None), slice(-8, -4), slice(-140, -132)])
def test_a_record_of_which_power_lost_a_part_is_ignored(lost: slice, path: Path) -> None:
    filled(path)
    data = bytearray(path.read_bytes())
    data[lost] = bytes(len(data[lost]))
    path.write_bytes(data)
    assert list(Stash(path).everything()) == KEYS[:3]


def test_the_file_goes_when_nothing_waits(path: Path) -> None:
    stash = filled(path)
    stash.forget(KEYS[:3])
    assert path.exists()
    path.with_name(path.name + files.UNSAVED).write_bytes(b"of one that died here")
    stash.forget([KEYS[3], "ff" * 32])
    assert list(path.parent.iterdir()) == []
    assert stash.find(KEYS) == {}
    stash.clear()


def test_what_is_forgotten_is_in_the_file_no_more(path: Path) -> None:
    stash = filled(path)
    stash.forget([KEYS[1], "ff" * 32])
    left = {key: PACKED[key] for key in (KEYS[0], *KEYS[2:])}
    assert stash.everything() == Stash(path).everything() == left
    assert PACKED[KEYS[1]] not in path.read_bytes()
    stash.add({"aa" * 32: b"next"})
    assert Stash(path).everything() == {**left, "aa" * 32: b"next"}


def test_of_two_under_one_key_the_later_counts(path: Path) -> None:
    stash = filled(path)
    stash.add({KEYS[0]: b"later"})
    assert stash.find(KEYS[:1]) == Stash(path).find(KEYS[:1]) == {KEYS[0]: b"later"}


def test_what_was_added_before_a_moment_is_cleared_and_only_adding_counts(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
    monkeypatch.setattr(clock, "now", lambda: added)
    stash = filled(path)
    monkeypatch.setattr(clock, "now", lambda: added + timedelta(days=9))
    stash.forget(KEYS[:1])
    stash.clear_before(added)
    assert Stash(path).everything().keys() == set(KEYS[1:])
    Stash(path).clear_before(added + timedelta(seconds=1))
    assert not path.exists()
    Stash(path).clear_before(added)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(
    "made", [*MADE, Embedded(MADE[0].vector, b"", b"\1\2\3\4\5\6"), Embedded(MADE[0].vector, b"t")]
)
def test_what_an_embedder_made_comes_back_equal(made: Embedded) -> None:
    again = unpack_embedded(pack_embedded(made))
    np.testing.assert_array_equal(again.vector, made.vector)
    assert (again.tokens, again.sparse) == (made.tokens, made.sparse)


@pytest.mark.parametrize("reply", ["", "plain", "\0 \ud800 é 日本語"])
def test_a_reply_comes_back_equal(reply: str) -> None:
    assert unpack_reply(pack_reply(reply)) == reply
