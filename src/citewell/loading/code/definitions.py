"""A syntax tree to blocks: a function or class is one, and so is what stands between two of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from citewell.loading.code.lines import Block
from citewell.loading.code.syntax import Source, Syntax, last_line

if TYPE_CHECKING:
    from tree_sitter import Node

_LONG_CLASS_LINES = 60
_DEEPEST = 20  # classes in classes; what is deeper stays whole
_MOST_WRAPPERS = 6
_LONGEST_NAME = 120
_LONGEST_SIGNATURE = 200  # characters
_BODIES = ("body", "block", "declaration_list")
_NAME_FIELDS = ("name", "declarator", "left")
_TYPE_ARGUMENTS = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True)
class _Definition:
    """`outer` is the node with its decorators, `inner` the function, class or space itself."""

    outer: Node
    inner: Node
    name: str


@dataclass(slots=True)
class Outline:
    """Finds the blocks of a file. `floor` is the first line that belongs to no definition yet."""

    source: Source
    syntax: Syntax
    floor: int = 0

    def blocks(self) -> Iterator[Block]:
        """In order of their lines; the next block's start is this one's end."""
        yield Block(0)
        yield from self._members(self.source.tree.root_node, Block(0), 0)

    def _members(self, container: Node, place: Block, depth: int) -> Iterator[Block]:
        """The blocks of the definitions in `container`. What follows one goes back to `place`."""
        for child in container.named_children:
            found = self._definition(child) if depth < _DEEPEST else None
            if found is None:
                continue
            if found.inner.type in self.source.grammar.spaces:
                # Its first line is told with what stands before it.
                inside = place if found.inner.type.startswith("preproc") else self._inside(place, found.name)
                yield from self._members(_body(found.inner) or found.inner, inside, depth + 1)
                continue
            start, end = self._first_line(found.outer), last_line(found.outer) + 1
            if start < self.floor:
                continue  # it shares a line with the one before
            block = self._block(start, found, place)
            yield block
            self.floor = end
            if found.inner.type in self.source.grammar.classes and end - start > _LONG_CLASS_LINES:
                self.floor = start + 1
                yield from self._members(_body(found.inner) or found.inner, block, depth + 1)
                self.floor = max(self.floor, end)
            yield replace(place, start=end)

    def _block(self, start: int, found: _Definition, place: Block) -> Block:
        body = _body(found.inner)
        line = body.start_point.row if body is not None else found.inner.start_point.row
        inside = self._inside(place, found.name)
        return Block(start, inside.path, (*place.lead, *_signature(found, body, self.source.lines)), line)

    def _inside(self, place: Block, name: str) -> Block:
        names = [*place.path, name] if name else list(place.path)
        return replace(place, path=(self.source.grammar.joint.join(names),) if names else ())

    def _first_line(self, node: Node) -> int:
        """That of the comments and attributes right above the node."""
        first = node.start_point.row
        while first > self.floor and first - 1 in self.syntax.above:
            first -= 1
        return first

    def _definition(self, outer: Node) -> _Definition | None:
        """The definition that `outer` is, or is wrapped around."""
        kinds = self.source.grammar
        node, name = outer, ""
        for _ in range(_MOST_WRAPPERS):
            if node.type in kinds.functions or node.type in kinds.spaces or self._is_class(node):
                return _Definition(outer, node, _name(node, self.source) or name)
            if node.type not in kinds.wrappers:
                return None
            name = _name(node, self.source) or name
            inside = next((child for child in node.named_children if self._may_define(child)), None)
            if inside is None:
                return None
            node = inside
        return None

    def _is_class(self, node: Node) -> bool:
        # `struct point` also stands where a type is used: without a body it defines nothing.
        return node.type in self.source.grammar.classes and (_body(node) is not None or node.type in _WITHOUT_BODY)

    def _may_define(self, node: Node) -> bool:
        kinds = self.source.grammar
        return (
            node.type in kinds.functions
            or node.type in kinds.spaces
            or node.type in kinds.wrappers
            or self._is_class(node)
        )


# Those that never have a field or child called a body, and define something all the same.
_WITHOUT_BODY = frozenset({"type_spec", "type_alias_declaration", "class_declaration", "class_definition"})


def _body(node: Node) -> Node | None:
    body = node.child_by_field_name("body")
    if body is not None:
        return body
    return next((child for child in reversed(node.named_children) if child.type.endswith(_BODIES)), None)


def _name(node: Node, source: Source) -> str:
    """As it is written, a method of Go under its receiver, an implementation of Rust under its type."""
    named: Node | None = next(
        (found for field in _NAME_FIELDS if (found := node.child_by_field_name(field)) is not None), None
    )
    if named is None and node.type == "impl_item":
        named = node.child_by_field_name("type")
    while named is not None and named.type.endswith("declarator"):
        inner = named.child_by_field_name("declarator")
        named = inner if inner is not None else next(iter(reversed(named.named_children)), None)
    name = _short(source.text(named, _LONGEST_NAME * 4), _LONGEST_NAME) if named is not None else ""
    name = _TYPE_ARGUMENTS.sub("", name) if node.type == "impl_item" else name
    receiver = node.child_by_field_name("receiver")
    if receiver is not None:
        words = re.findall(r"\w+", _TYPE_ARGUMENTS.sub("", source.text(receiver, _LONGEST_NAME)))
        name = ".".join([*words[-1:], name])
    return name


def _signature(found: _Definition, body: Node | None, lines: Sequence[str]) -> Iterator[str]:
    """The lines before the body as they stand, so that a piece which shows them can be told. Without decorators."""
    node = found.inner if found.outer.type == "decorated_definition" else found.outer
    first = last = node.start_point.row
    if body is not None:
        last, column = body.start_point
        last -= last > first and not lines[last][:column].strip()
    room = _LONGEST_SIGNATURE
    for line in map(str.strip, lines[first : last + 1]):
        room -= len(line) + 1
        if room < 0:
            return
        yield line


def _short(text: str, length: int) -> str:
    return " ".join(text.split())[:length]
