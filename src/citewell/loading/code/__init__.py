"""Source code: a function or class is an element, by the language's grammar; without one, what blank lines divide."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import PurePath

from citewell.loading.code.definitions import Outline
from citewell.loading.code.grammars import Grammar, grammar_of
from citewell.loading.code.imports import Imports
from citewell.loading.code.lines import Block, paragraphs
from citewell.loading.code.neighbours import Stretch, stretches, together
from citewell.loading.code.notebook import load_notebook
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

    A function, and each method of a long class, is an element whose heading path is its qualified name; short
    neighbours are one. Comments and decorators above it belong to it. Its preamble holds the imports that it uses, its
    class and its signature; its cuts are the lines that its statements begin at. What stands between definitions is an
    element too. A language without a grammar, or a file too large for one, is cut at blank lines before unindented
    lines. Notebooks are read as Markdown.
    """
    path = PurePath(name)
    is_notebook = path.suffix.lower() == ".ipynb"
    notebook = load_notebook(data, name, limits) if is_notebook else None
    if notebook is not None:
        return notebook
    noted = ("it is no whole notebook, and was read as text",) if is_notebook else ()
    lines = decode(data, limits).replace("\x00", "").split("\n")
    builder = TextBuilder(limits)
    for names, text, more in _elements(lines, grammar_of(path.name, lines[0])):
        builder.add(ElementKind.CODE, text, path=names, more=more)
    return replace(builder.build(path.name), noted=noted)


def _elements(lines: Sequence[str], grammar: Grammar | None) -> Iterator[tuple[tuple[str, ...], str, Details]]:
    """Path, text and details of each."""
    parsed = _parsed(lines, grammar) if grammar is not None else None
    if grammar is None or parsed is None:
        for stretch in stretches(lines, list(paragraphs(lines))):
            yield (), _text(lines, stretch), PLAIN
        return
    blocks, syntax = parsed
    offsets = [0, *accumulate(len(line) + 1 for line in lines)]
    imports = _imports(blocks, syntax)
    for stretch in together(stretches(lines, blocks), offsets):
        yield stretch.path(grammar.joint), _text(lines, stretch), _details(stretch, syntax, imports, offsets)


def _parsed(lines: Sequence[str], grammar: Grammar) -> tuple[list[Block], Syntax] | None:
    if sum(map(len, lines)) > _LONGEST_PARSED or max(map(len, lines)) > _LONGEST_LINE:
        return None
    source = parse(lines, grammar)
    if source is None:
        return None
    syntax = read_syntax(source)
    return list(Outline(source, syntax).blocks()), syntax


def _text(lines: Sequence[str], stretch: Stretch) -> str:
    return "\n".join(lines[stretch.first : stretch.end])


def _imports(blocks: Sequence[Block], syntax: Syntax) -> Imports:
    """Those of the file; a definition's own stand in its text."""
    starts = [block.start for block in blocks]
    return Imports.of((line, text) for line, text in syntax.imports if not blocks[bisect_right(starts, line) - 1].lead)


def _details(stretch: Stretch, syntax: Syntax, imports: Imports, offsets: Sequence[int]) -> Details:
    first, end = stretch.first, stretch.end
    statements = syntax.statements
    cuts = statements[bisect_right(statements, max(first, stretch.blocks[0].body)) : bisect_left(statements, end)]
    above: tuple[str, ...] = ()
    if stretch.is_definition:
        above = (*imports.using(syntax.names_between(first, end), shown=range(first, end)), *stretch.lead)
    return Details(preamble="\n".join(above), cuts=tuple(offsets[cut] - offsets[first] for cut in cuts))
