"""`citewell mcp` where it cannot start; tests/serving/mcp has it at work."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.cli import mcp
from tests.cli.conftest import Run


def test_it_says_what_is_missing(citewell: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    none = citewell("mcp", "--index", tmp_path / "none")
    assert (none.code, none.out) == (2, "")
    assert "no index" in none.err
    monkeypatch.setattr(mcp, "find_spec", lambda _: None)
    bare = citewell("mcp")
    assert bare.code == 2
    assert "citewell[mcp]" in bare.err
