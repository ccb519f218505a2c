"""Source code: a function or class is an element, by the language's grammar; without one, what blank lines divide."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import PurePath

from citewell.loading.code.definitions import Outline
from citewell.loading.code.grammars import Grammar, grammar_of
from citewell.loading.code.lines import Block, only_closes, paragraphs
from citewell.loading.code.notebook import load_notebook
from citewell.loading.code.preamble import Imports, preamble
from citewell.loading.code.syntax import Syntax, parse, read_syntax
from citewell.loading.encoding import decode
from citewell.loading.parsed import PLAIN, Details, Parsed, TextBuilder
from citewell.settings import Loading
from citewell.types import ElementKind

__all__ = ["load_code"]

_LONGEST_PARSED = 1_000_000  # characters: the tree takes up to a hundred times as much memory
_LONGEST_LINE = 100_000  # characters: written by a machine, and not for reading


def load_code(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read source code as CODE elements with their indentation as it is; each line that is not blank is in one.

    A function, and each method of a long class, is an element whose heading path is its qualified name. Comments and
    decorators above it belong to it. Its preamble holds the imports that it uses, its class and its signature; its
    cuts are the lines that its statements begin at. What stands between definitions is an element too. A language
    without a grammar, or a file too large for one, is cut at blank lines before unindented lines. Notebooks are read
    as Markdown.
    """
    path = PurePath(name)
    notebook = load_notebook(data, name, limits) if path.suffix.lower() == ".ipynb" else None
    if notebook is not None:
        return notebook
    lines = decode(data, limits).replace("\x00", "").split("\n")
    builder = TextBuilder(limits)
    for block, text, more in _elements(lines, grammar_of(path.name, lines[0])):
        builder.add(ElementKind.CODE, text, path=block.path, more=more)
    return builder.build(path.name)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A block with its end: `lines[first:end]`, of which the first and the last are not blank."""

    block: Block
    first: int
    end: int


def _elements(lines: Sequence[str], grammar: Grammar | None) -> Iterator[tuple[Block, str, Details]]:
    parsed = _parsed(lines, grammar) if grammar is not None else None
    if parsed is None:
        for stretch in _stretches(lines, list(paragraphs(lines))):
            yield stretch.block, _text(lines, stretch), PLAIN
        return
    blocks, syntax = parsed
    offsets = [0, *accumulate(len(line) + 1 for line in lines)]
    imports = _imports(blocks, syntax)
    for stretch in _stretches(lines, blocks):
        yield stretch.block, _text(lines, stretch), _details(stretch, syntax, imports, offsets)


def _parsed(lines: Sequence[str], grammar: Grammar) -> tuple[list[Block], Syntax] | None:
    if sum(map(len, lines)) > _LONGEST_PARSED or max(map(len, lines)) > _LONGEST_LINE:
        return None
    source = parse(lines, grammar)
    if source is None:
        return None
    syntax = read_syntax(source)
    return list(Outline(source, syntax).blocks()), syntax


def _stretches(lines: Sequence[str], blocks: Sequence[Block]) -> list[_Stretch]:
    """The blocks that hold anything. Lines that only close what stands above go with that."""
    found: list[_Stretch] = []
    for block, end in zip(blocks, [*(following.start for following in blocks[1:]), len(lines)], strict=True):
        filled = [number for number in range(block.start, end) if lines[number].strip()]
        if not filled:
            continue
        if found and only_closes(lines[filled[0] : filled[-1] + 1]):
            found[-1] = _Stretch(found[-1].block, found[-1].first, filled[-1] + 1)
        else:
            found.append(_Stretch(block, filled[0], filled[-1] + 1))
    return found


def _text(lines: Sequence[str], stretch: _Stretch) -> str:
    return "\n".join(lines[stretch.first : stretch.end])


def _imports(blocks: Sequence[Block], syntax: Syntax) -> Imports:
    """Those of the file; a definition's own stand in its text."""
    starts = [block.start for block in blocks]
    of_file = (text for line, text in syntax.imports if not blocks[bisect_right(starts, line) - 1].lead)
    return Imports.of(of_file)


def _details(stretch: _Stretch, syntax: Syntax, imports: Imports, offsets: Sequence[int]) -> Details:
    block, first, end = stretch.block, stretch.first, stretch.end
    statements = syntax.statements
    cuts = statements[bisect_right(statements, max(first, block.body)) : bisect_left(statements, end)]
    above = preamble(imports, syntax.names_between(first, end), block.lead) if block.lead else ""
    return Details(preamble=above, cuts=tuple(offsets[cut] - offsets[first] for cut in cuts))
