"""The program, run in this process or as one of its own, on a small bank's folder."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from citewell.cli import main

MANUAL = """\
# Fraud Policy Manual 2026

## 4.2 Time limits for disputes

A customer has 120 days from the transaction date to dispute a card payment.

## 7.1 Decline codes

Code R-17 means suspected fraud: the card is blocked and the customer is called.
"""
OLD_MANUAL = """\
# Fraud Policy Manual 2025

## 4.2 Time limits for disputes

A customer has 90 days from the transaction date to dispute a card payment.
"""
SCORING = """\
# Scoring thresholds

The velocity rule flags a card after nine payments within one hour.
"""
LETTER = """\
# Letter from [bold]a customer[/bold]

Dear [red]bank[/red], my umbrella \x1b[31mwas\x1b[0m stolen \x9b5m on the \u202eferry\u202c :smile: and I want a refund.
"""
ACCESS = """\
[[rule]]
match = "scoring.md"
groups = ["fraud_team"]

[[rule]]
match = "manual-2025.md"
valid_to = 2025-12-31

[[rule]]
match = "manual-2026.md"
valid_from = 2026-01-01
"""
FILES = {
    "manual-2026.md": MANUAL,
    "manual-2025.md": OLD_MANUAL,
    "scoring.md": SCORING,
    "letter.md": LETTER,
    "citewell-access.toml": ACCESS,
}


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished run of the program."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have set what changes the output."""
    for name in [name for name in os.environ if name.startswith("CITEWELL_") and name != "CITEWELL_SHARED"]:
        monkeypatch.delenv(name)
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def citewell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the program in this process: one of its own needs seconds to load the store's engine."""

    def run(*arguments: str | Path, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main([str(argument) for argument in arguments])
        return Ran(code, *capsys.readouterr())

    return run


def program(*arguments: str | Path, before: Sequence[str] = (), stdin: bytes = b"") -> Ran:
    """Run the program in a process of its own, by the command `before` where there is one."""
    command = [*before, sys.executable, "-m", "citewell", *map(str, arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, check=False)
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


@contextlib.contextmanager
def another_writer(index: Path) -> Iterator[int]:
    """Another process holds the index for writing; yields its id."""
    code = "import sys; from citewell.stores.lock import WriterLock\nwith WriterLock({}): print(flush=True); input()"
    path = f"__import__('pathlib').Path({str(index)!r})"
    with subprocess.Popen(
        [sys.executable, "-c", code.format(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"\n"
        yield holder.pid
        holder.communicate(b"\n")


def write_manuals(folder: Path) -> Path:
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def _built_bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bank")
    write_manuals(folder / "manuals")
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["index", str(folder / "manuals"), "--index", str(folder / ".citewell")]) == 0
    return folder


@pytest.fixture
def bank(_built_bank: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with `manuals/` and their index in `.citewell`, as the current folder. Only for reading."""
    monkeypatch.chdir(_built_bank)
    return _built_bank


@pytest.fixture
def manuals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of files to index, below an empty current folder."""
    monkeypatch.chdir(tmp_path)
    return write_manuals(tmp_path / "manuals")
