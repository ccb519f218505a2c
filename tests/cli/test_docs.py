"""docs/cli.md leaves no command, option or exit code out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from citewell import errors
from citewell.cli import program
from tests.cli.conftest import Run
from tests.cli.test_program import COMMANDS

CLI = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


OF_GROUPS = ["testset draft", "testset import", "testset check", "conversations list", "conversations show"]
OF_GROUPS += ["feedback export", "feedback unanswered"]


@pytest.mark.parametrize("command", [*COMMANDS, *OF_GROUPS])
def test_every_command_and_its_options_are_described(citewell: Run, command: str) -> None:
    assert f"| `citewell {command}" in CLI
    options = set(re.findall(r"^\s+(--[a-z-]+|-k)\b", citewell(*command.split(), "--help").out, re.MULTILINE))
    assert {"--settings", "--json"} <= options
    assert "--index" in options or command in {"evaluate-judge", "feedback unanswered"}
    for option in options:
        row = next(line for line in CLI.splitlines() if re.match(rf"\| `{option}[ `]", line))
        commands = row.split("|")[2]
        assert "all" in commands or command in commands, option


def test_every_exit_code_is_described() -> None:
    kinds = (errors.LoadError, errors.UsageError, errors.Refused, errors.ServiceError)
    codes = {0, program.INTERRUPTED, program.READER_GONE, program.UNEXPECTED, *(kind.exit_code for kind in kinds)}
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", CLI, re.MULTILINE)} == codes
