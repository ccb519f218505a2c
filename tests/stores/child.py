"""Runs a script of a test in a process of its own, started afresh: Lance must not be used after a fork."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2]


class Child:
    def __init__(self, script: str, arguments: tuple[str, ...]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", script, *arguments],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        )

    @property
    def output(self) -> IO[str]:
        assert self.process.stdout is not None
        return self.process.stdout


@contextmanager
def child(script: str, *arguments: str) -> Iterator[Child]:
    """A Python process that runs the script, and is killed at the end if it has not ended by itself."""
    started = Child(script, arguments)
    with started.process:
        try:
            yield started
        finally:
            started.process.kill()
