"""Ctrl-C ends a long run between two of its steps."""

from __future__ import annotations

import os
import signal

import pytest

from citewell.cli.progress import shown
from citewell.types import Progress

STEP = Progress(1, 2, 3, "file:///a.md")


def test_ctrl_c_ends_the_run_at_its_next_sign_of_progress(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with shown("files") as on_progress:
        on_progress(STEP)
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            on_progress(STEP)
    assert signal.getsignal(signal.SIGINT) is before
    assert capsys.readouterr() == ("", "")


def test_a_second_one_ends_it_at_once() -> None:
    with shown("files"):
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
