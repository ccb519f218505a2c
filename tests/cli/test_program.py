"""The program as a whole: what it loads, and the border where errors become messages and exit codes."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from citewell.cli import program as border
from citewell.errors import CitewellError, IndexLocked, ServiceUnreachable
from tests.cli.conftest import Ran, Run, program

COMMANDS = ["index", "ask", "search", "status", "documents", "show", "history", "rollback"]
COMMANDS += ["delete", "purge", "migrate", "doctor"]
COMMANDS += ["evaluate", "compare", "diagnose", "tune", "calibrate", "evaluate-judge", "cost"]
RUNNING = ["serve", "mcp"]
"""They print no results."""
GROUPS = ["keys", "testset", "conversations", "feedback"]
HEAVY = ["pydantic", "numpy", "lancedb", "pyarrow", "onnxruntime", "tokenizers", "rich", "citewell.index"]


def test_help_loads_nothing_heavy() -> None:
    code = f"""
import sys
from citewell.cli import main
code = main(["--help"])
loaded = [name for name in {HEAVY!r} if name in sys.modules]
sys.exit(code or ", ".join(loaded) or 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    listed = [word for line in done.stdout.split("Commands:")[1].splitlines() for word in line.split()[:1]]
    assert listed == COMMANDS + RUNNING + GROUPS


def test_without_arguments_it_shows_the_help(citewell: Run) -> None:
    assert citewell() == citewell("--help")


@pytest.mark.parametrize(
    "command",
    [
        *COMMANDS,
        "testset draft",
        "testset import",
        "testset check",
        "conversations list",
        "conversations show",
        "feedback export",
        "feedback unanswered",
    ],
)
def test_every_command_has_help_and_json(citewell: Run, command: str) -> None:
    ran = citewell(*command.split(), "--help")
    assert ran.code == 0
    assert "--json" in ran.out
    assert "--index PLACE" in ran.out or command in {"evaluate-judge", "feedback unanswered"}


def test_version() -> None:
    assert program("--version").out == f"citewell {version('citewell')}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search", "x", "-k", "0"], "-k"),
        (["ask"], "QUESTION"),
        (["ask", "x", "--colour"], "--colour"),
        (["aks", "x"], "Did you mean 'ask'"),
        (["ask", "x", "--as-of", "31.1.2026"], "'31.1.2026' is not a date; write it as 2026-01-31."),
    ],
)
def test_a_wrong_option_is_a_usage_error(citewell: Run, arguments: list[str], message: str) -> None:
    ran = citewell(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("citewell: ")
    assert message in ran.err.splitlines()[0]
    assert "--help" in ran.err.splitlines()[1]
    as_json = citewell(*arguments, "--json").json
    assert as_json["version"] == 1
    assert as_json["error"]["kind"] == "UsageError"
    assert message in as_json["error"]["message"]


@pytest.mark.parametrize(("kind", "code"), [(IndexLocked, 3), (ServiceUnreachable, 4), (CitewellError, 1)])
def test_each_error_has_its_exit_code(
    citewell: Run, monkeypatch: pytest.MonkeyPatch, kind: type[CitewellError], code: int
) -> None:
    def scripted_failure(*_: object, **__: object) -> None:
        raise kind("It did not work.", remedy="Try something else.")

    monkeypatch.setattr(border, "app", scripted_failure)
    ran = citewell("status", "--json")
    assert ran.code == code
    assert ran.err == "citewell: It did not work.\n  Try something else.\n"
    error = {"kind": kind.__name__, "message": "It did not work.", "remedy": "Try something else."}
    assert ran.json == {"version": 1, "error": error}


def test_an_unexpected_error_says_how_to_see_its_trace(citewell: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def scripted_fault(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by \x1b[31mzero")

    monkeypatch.setattr(border, "app", scripted_fault)
    ran = citewell("status")
    assert ran.code == 70
    assert ran.err.splitlines()[0] == "citewell: unexpected ZeroDivisionError: by [31mzero"
    assert "CITEWELL_DEBUG=1" in ran.err
    assert "Traceback" not in ran.err
    monkeypatch.setenv("CITEWELL_DEBUG", "1")
    assert "Traceback" in citewell("status").err


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
@pytest.mark.parametrize("leads_to_another", [False, True])
def test_a_full_disk_is_refused_with_its_folder(
    citewell: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: int, leads_to_another: bool
) -> None:
    def scripted_full_disk(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), str(tmp_path / "part"))

    def scripted_other_fault(*_: object, **__: object) -> None:
        try:
            scripted_full_disk()
        except OSError as error:
            raise RuntimeError("the archive is broken") from error

    monkeypatch.setattr(border, "app", scripted_other_fault if leads_to_another else scripted_full_disk)
    ran = citewell("status", "--json")
    assert ran.code == 3
    assert (ran.json["error"]["kind"], ran.err.count("\n")) == ("DiskFull", 2)
    assert f"no room left to write in {tmp_path};" in ran.err.splitlines()[0]
    assert f"Make room in {tmp_path}, and" in ran.err.splitlines()[1]


def test_a_full_disk_that_is_not_named_may_be_that_of_temporary_files(
    citewell: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scripted_full_disk(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(border, "app", scripted_full_disk)
    ran = citewell("status")
    assert ran.code == 3
    assert "TMPDIR" in ran.err.splitlines()[1]


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_an_output_that_is_full_is_refused(option: str) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "citewell", option]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 3
    assert done.stderr.startswith(b"citewell: There is no room left to write;")
    assert b"Traceback" not in done.stderr
    assert b"ignored" not in done.stderr


def test_an_interrupt_stops_it_politely(citewell: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def scripted_interrupt(_: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("citewell.cli.ask.question_text", scripted_interrupt)
    assert citewell("ask", "-") == Ran(130, "", "citewell: stopped; everything committed so far is kept\n")


@pytest.mark.parametrize("option", ["--help", "--version"])  # one is flushed as it is written, one at the end
def test_a_reader_that_goes_away_is_no_error(option: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "citewell", option]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (border.READER_GONE, b"")


def test_a_terminal_that_lacks_a_sign_shows_another(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "citewell", "doctor", "--index", str(tmp_path / "x")]
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"?  versions")
