from __future__ import annotations

from citewell.loading.code import load_code
from citewell.loading.parsed import Parsed
from citewell.settings import Loading
from citewell.types import ElementKind
from tests.loading.checks import check_spans

LONG_BODY = "\n".join(f"        x{number} = {number}" for number in range(70))
PYTHON = f'''"""Scores a payment."""

import math

LIMIT = 120


# Counts from the transaction date.
@cache
def days(start):
    if start:

        return LIMIT


async def later(): ...
AFTER = "\\d"


class Small:
    def method(self):
        return 1


class Large:
    """Many rules."""

    table = {{}}

    # The first rule.
    @property
    def first(self):
{LONG_BODY}

    class Inner:
        def deep(self): ...

    rest = 1
'''


def blocks(parsed: Parsed) -> list[tuple[tuple[str, ...], str]]:
    check_spans(parsed)
    assert {element.kind for element in parsed.elements} == {ElementKind.CODE}
    return [(element.heading_path, parsed.text[element.start : element.end]) for element in parsed.elements]


def test_python_is_cut_at_its_definitions() -> None:
    found = blocks(load_code(PYTHON.encode(), "rules.py", Loading()))
    assert [path for path, _ in found] == [
        (),
        ("days",),
        ("later",),
        (),
        ("Small",),
        ("Large",),
        ("Large.first",),
        ("Large.Inner",),
        ("Large",),
    ]
    by_path = dict(found[:-1])
    assert by_path["days",] == (
        "# Counts from the transaction date.\n@cache\ndef days(start):\n    if start:\n\n        return LIMIT"
    )
    assert by_path["Large",] == 'class Large:\n    """Many rules."""\n\n    table = {}'
    assert by_path["Large.first",].startswith(
        "    # The first rule.\n    @property\n    def first(self):\n        x0 = 0"
    )
    assert found[-1][1] == "    rest = 1"


def test_python_loses_no_line() -> None:
    parsed = load_code(PYTHON.replace("\n", "\r\n").encode(), "rules.py", Loading())
    assert parsed.text.split() == PYTHON.split()
    assert parsed.title == "rules.py"


def test_python_that_does_not_parse_is_cut_at_blank_lines() -> None:
    source = "print 'two'\n\ndef f(x):\n\treturn x\n"
    assert blocks(load_code(source.encode(), "old.py", Loading())) == [
        ((), "print 'two'"),
        ((), "def f(x):\n\treturn x"),
    ]


def test_other_languages_are_cut_at_blank_lines_before_unindented_lines() -> None:
    source = "function a() {\n  one();\n\n  two();\n\n}\n\nfunction b() {\n}\n"
    assert blocks(load_code(source.encode(), "a.js", Loading())) == [
        ((), "function a() {\n  one();\n\n  two();\n\n}"),
        ((), "function b() {\n}"),
    ]


def test_deep_nesting_is_no_crash() -> None:
    source = "(" * 100_000 + "\n\nx = 1"
    assert len(blocks(load_code(source.encode(), "deep.py", Loading()))) == 2
