"""The `citewell` program: one module a command. Nothing heavy is imported before a command runs."""

from citewell.cli.program import main

__all__ = ["main"]
