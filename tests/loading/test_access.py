from __future__ import annotations

import os
from datetime import date
from pathlib import Path

import pytest

from citewell.errors import SettingsError
from citewell.loading.access import ACCESS_FILE, AccessRules
from citewell.types import Attributes, Trust


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ACCESS_FILE).write_text(text, encoding="utf-8")
    return folder


def groups(folder: Path, name: str) -> set[str] | None:
    found = AccessRules().rules_for(folder / name).groups
    return None if found is None else set(found)


def test_without_an_access_file_nothing_is_said(tmp_path: Path) -> None:
    assert AccessRules().rules_for(tmp_path / "a.txt") == Attributes()


def test_every_key_is_read(tmp_path: Path) -> None:
    write(
        tmp_path,
        """
        [[rule]]
        match = "a.txt"
        groups = ["fraud_team", "audit"]
        title = "The manual"
        version = "2026"
        valid_from = 2026-01-01
        valid_to = 2026-12-31
        trust = "approved"
        """,
    )
    assert AccessRules().rules_for(tmp_path / "a.txt") == Attributes(
        frozenset({"fraud_team", "audit"}), "The manual", "2026", date(2026, 1, 1), date(2026, 12, 31), Trust.APPROVED
    )
    assert AccessRules().rules_for(tmp_path / "b.txt") == Attributes()


def test_fields_and_the_day_of_expiry_are_read(tmp_path: Path) -> None:
    write(
        tmp_path,
        """
        [[rule]]
        match = "**"
        expires = 2027-01-31
        fields = { department = "legal", amount = 25, share = 0.5, signed = 2026-01-31, tags = ["a", "b"] }
        """,
    )
    said = AccessRules().rules_for(tmp_path / "a.txt")
    assert said.expires == date(2027, 1, 31)
    assert said.fields == {
        "department": "legal",
        "amount": 25,
        "share": 0.5,
        "signed": date(2026, 1, 31),
        "tags": ("a", "b"),
    }
    assert hash(frozenset(said.fields.items()))  # Nothing in it can be changed.


def test_a_nearer_rule_wins_field_by_field(tmp_path: Path) -> None:
    write(
        tmp_path,
        """
        [[rule]]
        match = "**"
        expires = 2027-01-31
        fields = { department = "legal", country = "DE", tags = ["far"] }
        [[rule]]
        match = "inner/**"
        fields.country = "AT"
        """,
    )
    inner = write(tmp_path / "inner", '[[rule]]\nmatch = "*"\nfields = { department = "" }\n')
    (inner / "a.txt.citewell.toml").write_text("expires = 2026-06-30\nfields.tags = []\n", encoding="utf-8")
    far = {"department": "legal", "country": "DE", "tags": ("far",)}
    assert AccessRules().rules_for(tmp_path / "a.txt") == Attributes(expires=date(2027, 1, 31), fields=far)
    near = {**far, "department": "", "country": "AT"}
    assert AccessRules().rules_for(inner / "b.txt") == Attributes(expires=date(2027, 1, 31), fields=near)
    nearest = {**near, "tags": ()}
    assert AccessRules().rules_for(inner / "a.txt") == Attributes(expires=date(2026, 6, 30), fields=nearest)


def test_nearer_files_and_later_rules_win_key_by_key(tmp_path: Path) -> None:
    write(
        tmp_path,
        """
        [[rule]]
        match = "**"
        groups = ["all_staff"]
        title = "far"
        version = "1"
        [[rule]]
        match = "inner/*.txt"
        title = "far, later"
        """,
    )
    inner = write(tmp_path / "inner", '[[rule]]\nmatch = "a.txt"\ngroups = ["few"]\n')
    assert AccessRules().rules_for(inner / "a.txt") == Attributes(frozenset({"few"}), "far, later", "1")
    assert AccessRules().rules_for(inner / "b.md") == Attributes(frozenset({"all_staff"}), "far", "1")


def test_an_empty_list_of_groups_is_nobody(tmp_path: Path) -> None:
    write(tmp_path, '[[rule]]\nmatch = "**"\ngroups = ["a"]\n[[rule]]\nmatch = "x"\ngroups = []\n')
    assert groups(tmp_path, "x") == set()
    assert groups(tmp_path, "y") == {"a"}


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.pdf", ["a.pdf", ".pdf"], ["a.PDF", "in/a.pdf", "a.pdf.txt"]),
        ("**/*.pdf", ["a.pdf", "in/a.pdf", "in/deep/a.pdf"], ["a.txt"]),
        ("in/**", ["in/a", "in/deep/a"], ["in2/a", "a"]),
        ("in/**/z", ["in/z", "in/a/b/z"], ["in/az"]),
        ("**", ["a", "in/deep/a"], []),
        ("in", ["in", "in/a", "in/deep/a"], ["inn/a", "a/in"]),
        ("in/", ["in/a", "in/deep/a"], ["in"]),
        ("*/", ["in/a", "in/deep/a"], ["a"]),
        ("a?c.txt", ["abc.txt"], ["ac.txt", "a/c.txt"]),
        ("[ab]-[!0-9].txt", ["a-x.txt", "b-y.txt"], ["c-x.txt", "a-1.txt", "a-/.txt"]),
        ("a+(b).txt", ["a+(b).txt"], ["aab.txt"]),
        ("[[rule]]x", ["[]x", "e]x"], ["x"]),
        ("l\nine.txt", ["l\nine.txt"], ["line.txt"]),
        ("Gebühr.txt", ["Gebu\u0308hr.txt", "Geb\u00fchr.txt"], ["Gebuhr.txt"]),
    ],
)
def test_patterns(tmp_path: Path, pattern: str, yes: list[str], no: list[str]) -> None:
    escaped = pattern.replace("\n", "\\n")
    write(tmp_path, f'[[rule]]\nmatch = "{escaped}"\ngroups = ["g"]\n')
    assert [name for name in yes if groups(tmp_path, name) is None] == []
    assert [name for name in no if groups(tmp_path, name) is not None] == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('[[rule]]\nmatch = "a"\ngroup = ["x"]', r"rule 1: group is not known \(is groups meant\?\)"),
        ('[[rule]]\nmatch = "a"\n[[rule]]\ngroups = ["x"]', r"rule 2: match is missing"),
        ('[[rule]]\nmatch = "a"\ngroups = "everyone"', r"rule 1: groups must be a list"),
        ('[[rule]]\nmatch = "a"\ngroups = [1]', r"rule 1: groups.0 must be text"),
        ('[[rule]]\nmatch = "a"\ngroups = [""]', r"rule 1: groups.0 must not be empty"),
        ('[[rule]]\nmatch = "a"\nversion = 2026', r"rule 1: version must be text"),
        ('[[rule]]\nmatch = "a"\nvalid_from = "2026-01-01"', r"rule 1: valid_from: must be a day without quotes"),
        ('[[rule]]\nmatch = "a"\nvalid_to = 2026-01-01T10:00:00', r"rule 1: valid_to must be a day"),
        ('[[rule]]\nmatch = "a"\ntrust = "total"', r"rule 1: trust must be 'approved', "),
        ('[[rule]]\nmatch = "a"\nexpires = "2027-01-31"', r"rule 1: expires: must be a day without quotes"),
        ('[[rule]]\nmatch = "a"\nexpires = 2027-01-31T10:00:00', r"rule 1: expires must be a day"),
        ('[[rule]]\nmatch = "a"\nfields = "legal"', r"rule 1: fields must be an object"),
        ('[[rule]]\nmatch = "a"\nfields.a = true', r"rule 1: fields.a: .*must be a text, a number"),
        ('[[rule]]\nmatch = "a"\nfields.a = nan', r"rule 1: fields.a: .*must be"),
        ('[[rule]]\nmatch = "a"\nfields.a = 2026-01-31T10:00:00', r"rule 1: fields.a: .*must be"),
        ('[[rule]]\nmatch = "a"\nfields.a = 10:00:00', r"rule 1: fields.a: .*must be"),
        ('[[rule]]\nmatch = "a"\nfields.a.b = "c"', r"rule 1: fields.a: .*must be"),
        ('[[rule]]\nmatch = "a"\nfields.a = ["b", 5]', r"rule 1: fields.a: .*must be"),
        ('[[rule]]\nmatch = "a"\nfields.a = [["b"]]', r"rule 1: fields.a: .*must be"),
        ('[[rule]]\nmatch = "a"\nfields.a = "\\u0000"', r"rule 1: fields.a: .*must be"),
        (f'[[rule]]\nmatch = "a"\nfields.a = "{"x" * 4_001}"', r"rule 1: fields.a: .*must be"),
        (f'[[rule]]\nmatch = "a"\nfields.a = [{"1," * 201}]', r"rule 1: fields.a: .*must be"),
        ('[[rule]]\nmatch = "a"\n' + "".join(f"fields.a{n} = 1\n" for n in range(51)), r"rule 1: fields must have 50"),
        ('[[rule]]\nmatch = "a"\nfields."" = "c"', r"rule 1: fields"),
        ('[[rule]]\nmatch = "/etc/a"', r"rule 1: match: must be relative"),
        ('[[rule]]\nmatch = "../a"', r"rule 1: match: must be relative"),
        ('[[rule]]\nmatch = "a//b"', r"rule 1: match: must be relative"),
        ("[[rule]]\nmatch = 'a\\b'", r"rule 1: match: must be relative"),
        ('[[rule]]\nmatch = ""', r"rule 1: match must not be empty"),
        ('[[rule]]\nmatch = "a/**.pdf"', r"rule 1: match: \*\* stands for"),
        ('[[rule]]\nmatch = "[ab"', r"rule 1: match: a \["),
        ('[[rule]]\nmatch = "[z-a]"', r"rule 1: match: bad character range"),
        ('[[rules]]\nmatch = "a"', r"rules is not known; rules are written \[\[rule\]\]"),
        ('[rule]\nmatch = "a"', r"rule must be written \[\[rule\]\]"),
        ("rule = [1]", r"rule 1: it must be an object"),
        ("[[rule]\n", r"not valid TOML"),
    ],
)
def test_a_wrong_rule_stops_the_run(tmp_path: Path, text: str, complaint: str) -> None:
    write(tmp_path, text)
    with pytest.raises(SettingsError, match=complaint) as caught:
        AccessRules().rules_for(tmp_path / "inner" / "unrelated.txt")
    assert str(tmp_path / ACCESS_FILE) in caught.value.message


def test_validity_that_ends_before_it_begins_is_refused_across_files(tmp_path: Path) -> None:
    write(tmp_path, '[[rule]]\nmatch = "**"\nvalid_from = 2026-06-01\n')
    inner = write(tmp_path / "inner", '[[rule]]\nmatch = "a"\nvalid_to = 2026-05-31\n')
    with pytest.raises(SettingsError, match="valid from 2026-06-01 to 2026-05-31"):
        AccessRules().rules_for(inner / "a")


def test_an_access_file_that_cannot_be_read_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / ACCESS_FILE).symlink_to(tmp_path / "gone.toml")
    with pytest.raises(SettingsError):
        AccessRules().rules_for(tmp_path / "a")
    inner = tmp_path / "inner"
    (inner / ACCESS_FILE).mkdir(parents=True)
    with pytest.raises(SettingsError):
        AccessRules().rules_for(inner / "a")


def test_each_access_file_is_read_once(tmp_path: Path) -> None:
    write(tmp_path, '[[rule]]\nmatch = "**"\ngroups = ["a"]\n')
    rules = AccessRules()
    assert rules.rules_for(tmp_path / "x").groups == frozenset({"a"})
    (tmp_path / ACCESS_FILE).unlink()
    assert rules.rules_for(tmp_path / "in" / "y").groups == frozenset({"a"})


@pytest.mark.parametrize(
    "content", ["a = " + "[" * 5_000, "a = " + "1" * 10_000, '[[rule]]\nmatch = "x"\ngroups = ["a\\u0000"]']
)
def test_hostile_access_files_are_settings_errors(tmp_path: Path, content: str) -> None:
    (tmp_path / ACCESS_FILE).write_text(content, encoding="utf-8")
    with pytest.raises(SettingsError):
        AccessRules().rules_for(tmp_path / "x")


def test_an_access_file_that_is_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ACCESS_FILE)
    with pytest.raises(SettingsError, match="it must be a file"):
        AccessRules().rules_for(tmp_path / "x")
