"""Source code: Python by its syntax tree, other languages by the blank lines between unindented lines."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from citewell.loading.encoding import decode
from citewell.loading.parsed import Parsed, TextBuilder
from citewell.settings import Loading
from citewell.types import ElementKind

_LONG_CLASS_LINES = 60
_LONGEST_PARSED = 1_000_000  # characters; the syntax tree takes up to 200 times as much memory
_PYTHON_ENDINGS = {".py", ".pyi"}
# What closes a block stands unindented too, but starts nothing.
_CLOSES = re.compile(r"[)\]}]|end\b|fi\b|done\b|esac\b|else\b|elif\b|catch\b|finally\b")

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines from `start` (0-based) to the next block, under the qualified name they belong to."""

    start: int
    path: tuple[str, ...]


def load_code(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read source code as CODE elements with their indentation as it is.

    In Python each function, and each method of a long class, is an element whose heading path is its qualified name.
    """
    lines = decode(data, limits).split("\n")
    path = PurePath(name)
    blocks = _python_blocks(lines) if path.suffix.lower() in _PYTHON_ENDINGS else None
    builder = TextBuilder(limits)
    for block, text in _cut(lines, blocks if blocks is not None else list(_blocks(lines))):
        builder.add(ElementKind.CODE, text, path=block.path)
    return builder.build(path.name)


def _cut(lines: list[str], blocks: list[_Block]) -> Iterator[tuple[_Block, str]]:
    ends = [block.start for block in blocks[1:]] + [len(lines)]
    for block, end in zip(blocks, ends, strict=True):
        yield block, "\n".join(lines[block.start : end])


def _blocks(lines: list[str]) -> Iterator[_Block]:
    yield _Block(0, ())
    for number in range(1, len(lines)):
        line = lines[number]
        if line and not line[0].isspace() and not lines[number - 1].strip() and not _CLOSES.match(line):
            yield _Block(number, ())


def _python_blocks(lines: list[str]) -> list[_Block] | None:
    """None where the text is not Python of this version, or too long to be written by hand."""
    if sum(map(len, lines)) > _LONGEST_PARSED:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of doubtful escapes in the code that is read
            module = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    blocks = [_Block(0, ())]
    for block in _definitions(module.body, (), lines, 0):
        if block.start == blocks[-1].start:
            blocks.pop()
        blocks.append(block)
    return blocks


def _definitions(body: list[ast.stmt], outer: tuple[str, ...], lines: list[str], floor: int) -> Iterator[_Block]:
    """The blocks of a body, in order, none before line `floor`. What follows a definition goes back to `outer`."""
    for statement in body:
        end = statement.end_lineno or statement.lineno
        if isinstance(statement, _Definition):
            names = (*outer, statement.name)
            first = min([statement.lineno, *(decorator.lineno for decorator in statement.decorator_list)]) - 1
            start = _with_comments(lines, first, floor)
            if start >= floor:
                yield _Block(start, (".".join(names),))
                if isinstance(statement, ast.ClassDef) and end - start > _LONG_CLASS_LINES:
                    yield from _definitions(statement.body, names, lines, start + 1)
                yield _Block(end, (".".join(outer),) if outer else ())
                floor = end


def _with_comments(lines: list[str], first: int, floor: int) -> int:
    while first > floor and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return first
