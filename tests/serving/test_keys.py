"""API keys: what is kept of them, and for how long they hold."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from citewell.errors import PathError, UnknownId, UsageError
from citewell.serving.caller import Scope
from citewell.serving.keys import Keys
from citewell.serving.state import State
from tests.clock import at


def test_a_key_is_found_by_its_text_and_not_kept(tmp_path: Path) -> None:
    keys = Keys(State.at(str(tmp_path / "state")))
    key, token = keys.add("ann", Scope.WRITE, ["fraud_team"])
    found = Keys(State.at(str(tmp_path / "state"))).find(token)
    assert found == key
    assert found is not None
    assert found.caller.name == "key:ann"
    assert found.caller.principal.groups == {"fraud_team"}
    assert (found.caller.may(Scope.READ), found.caller.may(Scope.WRITE), found.caller.is_admin) == (True, True, False)
    assert len(token) >= 43
    kept = b"".join(file.read_bytes() for file in (tmp_path / "state").iterdir())
    assert token.encode() not in kept
    assert b"fraud_team" in kept
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0


def test_a_revoked_key_holds_no_more(tmp_path: Path) -> None:
    keys = Keys(State.at(str(tmp_path)))
    (first, one), (_, two) = keys.add("ann", Scope.READ), keys.add("ann", Scope.READ)
    assert keys.revoke(first.id).revoked is not None
    assert keys.find(one) is None
    assert keys.find(two) is not None
    assert [key.holds for key in keys.every()] == [False, True]
    with pytest.raises(UnknownId):
        keys.revoke("none")


def test_a_key_holds_until_the_day_on_which_it_expires(tmp_path: Path) -> None:
    keys = Keys(State.at(str(tmp_path)))
    with at(datetime(2026, 5, 1, tzinfo=UTC)):
        _, token = keys.add("ann", Scope.READ, expires=date(2026, 5, 3))
        assert keys.find(token) is not None
    with at(datetime(2026, 5, 2, 23, 59, tzinfo=UTC)):
        assert keys.find(token) is not None
    with at(datetime(2026, 5, 3, tzinfo=UTC)):
        assert keys.find(token) is None
        with pytest.raises(UsageError):
            keys.add("bob", Scope.READ, expires=date(2026, 5, 3))


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 101])
def test_a_key_has_a_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        Keys(State.at(str(tmp_path))).add(name, Scope.READ)


def test_a_folder_that_cannot_be_used_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(PathError):
        State.at(str(tmp_path / "file" / "state"))
