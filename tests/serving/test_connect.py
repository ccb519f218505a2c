"""docs/connect.md does what it says: its Python against a service, with the output that it shows."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.serving.served import Served

PAGE = (Path(__file__).parents[2] / "docs" / "connect.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```py\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
NOT_THERE = "llama_index"
SCORE = re.compile(r"\b0\.\d+\b")
"""The built-in model's numbers are not the same to the last digit on every processor."""


def test_the_examples_of_the_page_run(
    read_only: Served, built: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    key = read_only.client("assistant", "read", "fraud_team").headers["Authorization"].removeprefix("Bearer ")
    monkeypatch.setenv("CITEWELL_KEY", key)
    assert len(EXAMPLES) == PAGE.count("```py\n") == 5
    known: dict[str, Any] = {}
    for code, shown in EXAMPLES:
        if "llamaindex" in code and find_spec(NOT_THERE) is None:
            continue
        here = code.replace("http://127.0.0.1:8480", read_only.url).replace("/srv/manuals.index", str(built / "index"))
        exec(here, known)  # noqa: S102 - our own page
        told = capsys.readouterr().out.replace((built / "files").as_uri(), "file:///srv/manuals")
        assert SCORE.sub("#", told) == SCORE.sub("#", shown)
        assert list(map(float, SCORE.findall(told))) == pytest.approx(list(map(float, SCORE.findall(shown))), abs=0.05)
    known["index"].close()
