"""One walk over a syntax tree: names, imports, comments, and the lines at which statements begin."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from citewell.loading.code.grammars import Grammar, language

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

# Of the parser, each for a hundred of its operations. Code takes about 20 for a kilobyte, what is no code ten times as
# many, and memory for each.
_MOST_STEPS = 50_000
_READ_BYTES = 65_536

_LONG_BYTES = 400  # A statement shorter than half a chunk is not worth cutting.
_IDENTIFIERS = frozenset({"constant", "name", "variable_name"})  # and all that end in `identifier`
_STANDS_ABOVE = frozenset({"attribute_item", "decorator", "access_specifier"})
_LONGEST_NAME = 200
_LONGEST_IMPORT = 4_000  # bytes
_LONGEST_REQUIRE = 2_000  # bytes; calls nest, and each is looked into
_REQUIRE = re.compile(r"\brequire(?:_relative)?\b")
# Between `class` and the name, which the grammar then takes for a variable of type `class EXPORT`.
_EXPORT_MACRO = re.compile(rb"\b(class|struct)(\s+[A-Z][A-Z0-9_]{2,})(?=\s+\w+\s*(?:final\s*)?[:{])")


@dataclass(slots=True)
class Syntax:
    """What the walk finds, all by line (0-based) and ascending.

    `names` pairs lines with identifiers, `imports` lists (line, text). `above` are the lines that hold nothing but
    a comment or attribute, and belong to the definition below. `statements` are the lines that a long node is best
    cut before.
    """

    names: list[tuple[int, str]] = field(default_factory=list)
    imports: list[tuple[int, str]] = field(default_factory=list)
    above: set[int] = field(default_factory=set)
    statements: list[int] = field(default_factory=list)

    def names_between(self, start: int, end: int) -> set[str]:
        """The identifiers on the lines from `start` up to `end`."""
        low, high = bisect_left(self.names, (start, "")), bisect_left(self.names, (end, ""))
        return {name for _, name in self.names[low:high]}


@dataclass(frozen=True, slots=True)
class Source:
    """A file, parsed: its lines, the same as UTF-8 bytes, and their tree, with errors in it where the code has them."""

    lines: Sequence[str]
    data: bytes
    tree: Tree
    grammar: Grammar

    def text(self, node: Node, most: int | None = None) -> str:
        """What the node stands for, of long ones the first `most` bytes."""
        end = node.end_byte if most is None else min(node.end_byte, node.start_byte + most)
        return self.data[node.start_byte : end].decode("utf-8", "replace")


def parse(lines: Sequence[str], grammar: Grammar) -> Source | None:
    """None where the grammar is not installed, and for what takes the parser too many steps."""
    from tree_sitter import Parser

    spoken = language(grammar.package, grammar.function)
    if spoken is None:
        return None
    data = _EXPORT_MACRO.sub(_blank_macro, "\n".join(lines).encode("utf-8", "replace"))
    steps = 0

    def has_enough(_offset: int, _has_error: bool) -> bool:
        nonlocal steps
        steps += 1
        return steps > _MOST_STEPS

    try:
        tree = Parser(spoken).parse(
            lambda offset, _point: data[offset : offset + _READ_BYTES], progress_callback=has_enough
        )
    except ValueError:  # the binding's word for "stopped"
        return None
    return Source(lines, data, tree, grammar)


def _blank_macro(found: re.Match[bytes]) -> bytes:
    return found[1] + re.sub(rb"\S", b" ", found[2])


def read_syntax(source: Source) -> Syntax:
    """Walk the whole tree, without recursion: code may nest deeper than the stack."""
    found = Syntax()
    indents = [len(line[: len(line) - len(line.lstrip())].encode()) if line.strip() else -1 for line in source.lines]
    cursor = source.tree.walk()
    parents: list[Node] = []
    while True:
        node = cursor.node
        if node is not None and node.is_named and parents:
            _take_name(node, found, source)
            line, column = node.start_point
            if column <= indents[line]:
                _take_line(node, parents, found, source.lines)
        if node is not None and cursor.goto_first_child():
            parents.append(node)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return found
            parents.pop()


def _take_name(node: Node, found: Syntax, source: Source) -> None:
    kind, grammar = node.type, source.grammar
    if kind.endswith("identifier") or kind in _IDENTIFIERS:
        found.names.append((node.start_point.row, source.text(node, _LONGEST_NAME)))
    elif kind in grammar.imports or (kind in grammar.requires and _is_require(node, source)):
        found.imports.append((node.start_point.row, source.text(node, _LONGEST_IMPORT)))


def _is_require(node: Node, source: Source) -> bool:
    return node.end_byte - node.start_byte <= _LONGEST_REQUIRE and bool(_REQUIRE.search(source.text(node)))


def _take_line(node: Node, parents: Sequence[Node], found: Syntax, lines: Sequence[str]) -> None:
    """What the first node on a line says about the line."""
    line, parent, is_top = node.start_point.row, parents[-1], len(parents) == 1
    is_long = is_top or parent.end_byte - parent.start_byte > _LONG_BYTES
    goes_on = not is_top and line == parent.start_point.row
    follows_comment = line - 1 in found.above
    is_new = not found.statements or found.statements[-1] < line
    if is_new and is_long and not goes_on and not follows_comment and not lines[line].lstrip().startswith("{"):
        found.statements.append(line)
    if "comment" in node.type or node.type in _STANDS_ABOVE:
        last = last_line(node)
        if _ends_line(node, lines[last]):
            found.above.update(range(line, last + 1))


def _ends_line(node: Node, line: str) -> bool:
    column = node.end_point.column
    return column == 0 or not line.encode("utf-8", "replace")[column:].strip(b" \t\r:,")


def last_line(node: Node) -> int:
    """The last line (0-based) that the node has characters on; some hold the line end after them."""
    end = node.end_point
    return end.row - 1 if end.column == 0 and end.row > node.start_point.row else end.row
