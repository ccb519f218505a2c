from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from citewell.errors import PathError
from citewell.evaluation.report.evaluated import Evaluated
from citewell.evaluation.report.markdown import as_markdown
from citewell.evaluation.report.shape import as_shape
from citewell.evaluation.report.written import Format, format_of, write
from tests.evaluation.report.page import assert_harmless


def test_the_form_is_that_of_the_name(tmp_path: Path) -> None:
    assert format_of(tmp_path / "a.HTML") is Format.HTML
    assert format_of(tmp_path / "a.md") is Format.MARKDOWN
    assert format_of(tmp_path / "a.json") is Format.JSON


@pytest.mark.parametrize("name", ["a.pdf", "report", "nowhere/a.json"])
def test_what_could_not_be_written_is_refused_at_once(tmp_path: Path, name: str) -> None:
    with pytest.raises(PathError):
        format_of(tmp_path / name)


def test_each_form_is_written_for_its_owner_alone(small: Evaluated, tmp_path: Path) -> None:
    paths = [tmp_path / f"report{form}" for form in Format]
    for path in paths:
        write(small, path, format_of(path))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    page, text, shape = (path.read_text("utf-8") for path in paths)
    assert_harmless(page)
    assert text == as_markdown(small)
    assert json.loads(shape) == as_shape(small)


def test_what_others_could_read_they_cannot_read_any_more(small: Evaluated, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("x" * 1_000_000, encoding="utf-8")
    path.chmod(0o644)
    write(small, path, Format.JSON)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text("utf-8")) == as_shape(small)


def test_a_folder_is_no_report(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    with pytest.raises(PathError, match=r"a\.json is a folder"):
        format_of(tmp_path / "a.json")


def test_what_cannot_be_written_says_where(small: Evaluated, tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    with pytest.raises(PathError, match=r"a\.json cannot be written"):
        write(small, tmp_path / "a.json", Format.JSON)
