"""Code as lines: the blocks that any language is cut into, and what lines say without a grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# What closes a block stands unindented too, but starts nothing.
_CLOSES = re.compile(r"[)\]}]|end\b|fi\b|done\b|esac\b|else\b|elif\b|catch\b|finally\b")
_CLOSES_ALONE = re.compile(r"(?:[)\]};,\s]++|(?:end|fi|done|esac)\b[;\s]*+|#\s*endif\b\s*+)(?:(?://|#|/\*).*)?")


@dataclass(frozen=True, slots=True)
class Block:
    """Lines from `start` (0-based) to the next block, under the qualified name they belong to.

    `lead` are the classes that it stands in and its own signature, a line each; `body` is the line its body begins
    in. Both are of definitions only.
    """

    start: int
    path: tuple[str, ...] = ()
    lead: tuple[str, ...] = ()
    body: int = 0


def paragraphs(lines: Sequence[str]) -> Iterator[Block]:
    """The blocks of code in an unknown language: cut at blank lines before unindented lines."""
    yield Block(0)
    for number in range(1, len(lines)):
        line = lines[number]
        if line and not line[0].isspace() and not lines[number - 1].strip() and not _CLOSES.match(line):
            yield Block(number)


def only_closes(lines: Sequence[str]) -> bool:
    """Whether the lines hold nothing but the ends of what began above them."""
    return all(_CLOSES_ALONE.fullmatch(line.strip()) for line in lines if line.strip())
