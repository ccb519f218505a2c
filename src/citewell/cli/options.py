"""The options that commands share, and what they mean."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.errors import QuestionError
from citewell.types import Principal

if TYPE_CHECKING:
    from citewell.settings import Settings

DEFAULT_INDEX = ".citewell"
DEFAULT_SETTINGS = Path("citewell.toml")
# More than any question may have, so that the index refuses it, and less than would fill the memory.
MAX_STDIN_BYTES = 1_000_000


def day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a date; write it as 2026-01-31.") from None


def name(text: str) -> str:
    """The name of something, which may hold any bytes. A shell's misspelt variable is none.

    Raises:
        BadParameter: it is empty.
    """
    if not text.strip():
        raise typer.BadParameter("It is empty.")
    return text


def words(text: str) -> str:
    """A name of our own: as `name`, and UTF-8."""
    try:
        name(text).encode()
    except UnicodeEncodeError:
        raise typer.BadParameter("It is not valid UTF-8.") from None
    return text


IndexPlace = Annotated[
    str,
    typer.Option(
        "--index",
        metavar="PLACE",
        envvar="CITEWELL_INDEX",
        parser=words,
        help="Where the index is: a folder, or postgresql://user@host/database?schema=NAME.",
    ),
]
# readable=False: whether they can be read is said where they are read, in our words.
SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings", metavar="FILE", readable=False, help="Settings; citewell.toml is taken where it exists."
    ),
]
AsGroups = Annotated[
    list[str] | None,
    typer.Option(
        "--as", metavar="GROUP", parser=words, help="Read as a member of this group; may be given several times."
    ),
]
AsOf = Annotated[
    date | None,
    typer.Option("--as-of", metavar="DATE", parser=day, help="What was in force on that day (YYYY-MM-DD)."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, as docs/json.md describes it.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show how each passage was found.")]
Question = Annotated[str, typer.Argument(metavar="QUESTION", help="In quotes; - reads it from standard input.")]
IdOrSource = Annotated[
    str, typer.Argument(metavar="ID", parser=name, help="A document's or chunk's id, a path or a source URI.")
]
IdOrFolder = Annotated[
    str,
    typer.Argument(metavar="ID", parser=name, help="A document's id, a path or a source URI; a folder for all in it."),
]


def load_settings(path: Path | None) -> Settings:
    """The settings of `--settings`, or of `citewell.toml` in the current folder where there is one."""
    from citewell.settings import Settings

    if path is None and DEFAULT_SETTINGS.exists():
        path = DEFAULT_SETTINGS
    return Settings.load(path)


def reader(groups: list[str] | None) -> Principal | None:
    """Who reads, by `--as`; None is the default principal of the settings."""
    return Principal(groups=frozenset(groups)) if groups else None


def question_text(argument: str) -> str:
    """The question itself; `-` stands for standard input.

    Raises:
        QuestionError: it is not valid UTF-8.
    """
    given = sys.stdin.buffer.read(MAX_STDIN_BYTES) if argument == "-" else argument.encode(errors="surrogateescape")
    try:
        return given.decode().strip()
    except UnicodeDecodeError:
        raise QuestionError("The question is not valid UTF-8.", remedy="Check the encoding of your terminal.") from None
