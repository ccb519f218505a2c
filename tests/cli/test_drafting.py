"""The draft of a language model at a terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from citewell.cli import drafting
from citewell.types import Step


def screen(monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool) -> io.StringIO:
    written = io.StringIO()
    console = Console(file=written, force_terminal=is_terminal, width=60)
    monkeypatch.setattr(drafting, "out", lambda: console)
    return written


def test_the_draft_is_shown_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    written = screen(monkeypatch, is_terminal=True)
    with drafting.drafted(wanted=True) as listener:
        assert listener is not None
        listener.step(Step("dense", 1.0, 1, 5))
        listener.draft("Within 120 ")
        listener.draft("days\x1b]0;owned\x07 [1].")
    shown = written.getvalue()
    assert "Within 120 days" in shown
    assert "\x1b]0;" not in shown, "what a model writes cannot steer the terminal"
    assert shown.rstrip().endswith("\x1b[2K"), "the last thing is that the lines are cleared"


def test_without_a_terminal_or_for_json_there_is_no_draft(monkeypatch: pytest.MonkeyPatch) -> None:
    for is_terminal, wanted in ((False, True), (True, False)):
        written = screen(monkeypatch, is_terminal=is_terminal)
        with drafting.drafted(wanted=wanted) as listener:
            assert listener is None
        assert written.getvalue() == ""
