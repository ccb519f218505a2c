"""The program: its commands, and the border where every error becomes a message and an exit code."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from citewell.cli import conversations, feedback, keys, testset
from citewell.cli.ask import ask
from citewell.cli.calibrate import calibrate
from citewell.cli.compare import compare
from citewell.cli.cost import cost
from citewell.cli.delete import delete
from citewell.cli.diagnose import diagnose
from citewell.cli.doctor import doctor
from citewell.cli.documents import documents
from citewell.cli.evaluate import evaluate
from citewell.cli.evaluate_judge import evaluate_judge
from citewell.cli.history import history
from citewell.cli.index import index
from citewell.cli.mcp import mcp
from citewell.cli.migrate import migrate
from citewell.cli.purge import purge
from citewell.cli.rollback import rollback
from citewell.cli.search import search
from citewell.cli.serve import serve
from citewell.cli.show import show
from citewell.cli.status import status
from citewell.cli.terminal import complain, print_json
from citewell.cli.tune import tune
from citewell.errors import NO_ROOM, CitewellError, DiskFull
from citewell.shapes import error_shape

INTERRUPTED = 130
READER_GONE = 141  # 128 + SIGPIPE, as the shell reports other programs whose reader went away
UNEXPECTED = 70  # EX_SOFTWARE of sysexits.h

WHEREVER = " where the index, the output and temporary files (TMPDIR, or else /tmp) are"

app = typer.Typer(
    help="Ask your own documents a question and get an answer you can check.",
    add_completion=False,
    rich_markup_mode=None,  # rich takes a tenth of a second to draw boxes around the help
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (index, ask, search, status, documents, show, history, rollback, delete, purge, migrate, doctor):
    app.command()(command)
for measuring in (evaluate, compare, diagnose, tune, calibrate, evaluate_judge, cost):
    app.command()(measuring)
for running in (serve, mcp):
    app.command()(running)
for group in (keys, testset, conversations, feedback):
    app.add_typer(group.app, name=group.__name__.rpartition(".")[2])


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"citewell {version('citewell')}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program on `arguments` (default: those of the process) and return its exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a sign that the terminal's encoding lacks must not end the run
    try:
        code = int(app(given or ["--help"], prog_name="citewell", standalone_mode=False) or 0)
        sys.stdout.flush()
    except CitewellError as error:
        return _fail(given, error.exit_code, type(error).__name__, error.message, error.remedy)
    except typer.TyperException as error:
        remedy = "`citewell COMMAND --help` lists what a command takes."
        return _fail(given, error.exit_code, "UsageError", _in_our_words(error), remedy)
    except (BrokenPipeError, SystemExit):  # typer and rich turn a broken pipe into SystemExit
        _drop_output()
        return READER_GONE
    except Exception as error:  # noqa: BLE001 - the last border: whatever it is, it is shown
        full = _full_disk(error)
        return _unexpected(given, error) if full is None else _no_room(given, full)
    if code == INTERRUPTED:  # what typer makes of a KeyboardInterrupt
        complain("stopped; everything committed so far is kept")
    return code


def _in_our_words(error: typer.TyperException) -> str:
    """Values are checked by a library whose words are not ours."""
    if error.__cause__ is not None:
        from pydantic import ValidationError

        from citewell.complaints import complaints

        if isinstance(error.__cause__, ValidationError):
            error.message = f"{complaints(error.__cause__.errors())}."
    return error.format_message()


def _fail(given: Sequence[str], code: int, kind: str, message: str, remedy: str) -> int:
    complain(message, remedy)
    if _wants_json(given):
        print_json(error_shape(kind, message, remedy))
    return code


def _wants_json(given: Sequence[str]) -> bool:
    # From the raw words: a program that asked for JSON gets it for a misspelt option, too.
    options = given[: given.index("--")] if "--" in given else given
    return "--json" in options


def _drop_output() -> None:
    # Or the interpreter complains when it flushes at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _full_disk(error: BaseException | None) -> OSError | None:
    """The error, or what led to it, that says that a disk or a quota is full."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            return error
        error = error.__cause__ or error.__context__
    return None


def _no_room(given: Sequence[str], error: OSError) -> int:
    where = f" in {Path(error.filename).absolute().parent}" if isinstance(error.filename, str) else ""
    message = f"There is no room left to write{where}; what was committed before is kept."
    remedy = f"Make room{where or WHEREVER}, and run the same command again."
    try:
        _fail(given, DiskFull.exit_code, DiskFull.__name__, message, remedy)
        sys.stdout.flush()
    except OSError:  # it is the output that has no room
        _drop_output()
    return DiskFull.exit_code


def _unexpected(given: Sequence[str], error: Exception) -> int:
    if os.environ.get("CITEWELL_DEBUG"):
        traceback.print_exc()
    message = f"unexpected {type(error).__name__}: {error}"
    remedy = "This is a fault in citewell. With CITEWELL_DEBUG=1 it shows the trace, which belongs in a report."
    return _fail(given, UNEXPECTED, "Unexpected", message[:500], remedy)
