"""The real small language model in a process of its own. It is too small to be right; the path to it is real."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

WEIGHTS = Path(__file__).parents[2] / "build" / "llm"


@contextmanager
def served() -> Iterator[str]:
    """Its URL, for as long as it is served; skips where it has not been fetched."""
    found = sorted(WEIGHTS.glob("*.gguf"))
    if not found:
        pytest.skip("no model under build/llm: `make llm-test` fetches it")
    pytest.importorskip("xllamacpp", reason="the runtime of the small model is not installed")
    command = [sys.executable, str(Path(__file__).with_name("serve_llm.py")), str(found[0])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()
