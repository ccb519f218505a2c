import stat
from pathlib import Path

import pytest

from citewell.credentials import Credentials
from citewell.errors import SettingsError


@pytest.fixture
def secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "secrets.toml"
    path.touch(mode=0o600)
    monkeypatch.setenv("CITEWELL_SECRETS", str(path))
    return path


def test_without_a_file_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CITEWELL_SECRETS", raising=False)
    assert Credentials.load().passwords == ()


def test_passwords_are_read_and_never_shown(secrets: Path) -> None:
    secrets.write_text('document_passwords = ["hunter-2", "swordfish"]', encoding="utf-8")
    found = Credentials.load()
    assert found.passwords == ("hunter-2", "swordfish")
    assert "hunter" not in repr(found) + str(found) + found.edition


def test_a_changed_file_is_another_edition(secrets: Path) -> None:
    secrets.write_text('document_passwords = ["hunter-2"]', encoding="utf-8")
    first = Credentials.load().edition
    secrets.write_text('document_passwords = ["hunter-23"]', encoding="utf-8")
    assert Credentials.load().edition not in ("", first)


def test_a_wrong_value_is_not_repeated(secrets: Path) -> None:
    secrets.write_text('document_passwords = "hunter-2"\nother = "swordfish"', encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        Credentials.load()
    assert "wrong or unknown: document_passwords, other" in str(caught.value)
    assert "hunter" not in str(caught.value)
    assert "swordfish" not in str(caught.value)


def test_a_file_that_others_may_read_is_refused(secrets: Path) -> None:
    secrets.write_text("document_passwords = []", encoding="utf-8")
    secrets.chmod(stat.S_IRUSR | stat.S_IRGRP)
    with pytest.raises(SettingsError, match=r"may be read by other users\. Close it with `chmod 600"):
        Credentials.load()


def test_a_missing_file_is_an_error(secrets: Path) -> None:
    secrets.unlink()
    with pytest.raises(SettingsError, match="There is no file"):
        Credentials.load()
