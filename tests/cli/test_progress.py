"""Ctrl-C ends a long run between two of its steps."""

from __future__ import annotations

import io
import os
import signal
import sys

import pytest

from citewell.cli.bench_options import asking
from citewell.cli.progress import shown
from citewell.types import Progress

STEP = Progress(1, 2, 3, "file:///a.md")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_ctrl_c_ends_the_run_at_its_next_sign_of_progress(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with shown("files") as on_progress:
        on_progress(STEP)
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            on_progress(STEP)
    assert signal.getsignal(signal.SIGINT) is before
    assert capsys.readouterr() == ("", "")


def test_ctrl_c_ends_a_run_of_questions_between_two_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with asking("questions") as on_question:
        on_question(1, 3)
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            on_question(2, 3)
    assert signal.getsignal(signal.SIGINT) is before
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_a_bar_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with shown("files") as on_progress:
        on_progress(STEP)
    assert "1/2" in screen.getvalue()
    assert "files      3 embedded  /a.md" in screen.getvalue()
    with asking("{questions} [b]") as on_question:
        on_question(2, 7)
    assert "2/7" in screen.getvalue()
    assert "{questions} [b]" in screen.getvalue()


def test_a_second_one_ends_it_at_once() -> None:
    with shown("files"):
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
