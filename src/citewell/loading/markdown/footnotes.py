"""Footnotes of Markdown: `[^1]: text`, which CommonMark knows nothing of, and would lose as the address of a link."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock

_START = re.compile(r"\[\^([^\]\s]{1,100})\]:[ \t]*")


def footnotes(parser: MarkdownIt) -> None:
    """A plug-in for the parser. The token's type is "footnote", its `info` the label, its `content` the text."""
    parser.block.ruler.before("reference", "footnote", _take, {"alt": ["paragraph", "reference"]})


def _take(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """A line that begins with a label, and those below that are indented or go on without a blank line."""
    if state.is_code_block(first):
        return False
    found = _START.match(state.src, state.bMarks[first] + state.tShift[first], state.eMarks[first])
    if not found:
        return False
    if silent:
        return True
    line = first + 1
    while line < end and _goes_on(state, line):
        line += 1
    while line > first + 1 and state.isEmpty(line - 1):
        line -= 1
    token = state.push("footnote", "", 0)
    token.info = found[1]
    token.content = " ".join(state.src[found.end() : state.eMarks[line - 1]].split())
    token.map = [first, line]
    state.line = line
    return True


def _goes_on(state: StateBlock, line: int) -> bool:
    if state.isEmpty(line):
        return True
    if state.sCount[line] >= state.blkIndent + 4:
        return True
    start = state.bMarks[line] + state.tShift[line]
    starts_block = _START.match(state.src, start) or state.src[start] in "#>|-*+`~<" or state.src[start].isdigit()
    return not state.isEmpty(line - 1) and not starts_block and state.sCount[line] >= state.blkIndent
