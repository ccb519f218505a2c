"""The small markup that the example's content is written in, read into blocks.

    # Chapter, ## section, ### sub-section       headings, with their numbers written out
    - item / 1. step                             lists; a following line without a mark continues the item
    Table: caption                               then `| cell | cell |` lines, the first of them the header row; a line
                                                 `|= cell | < |` before it is a row of heads above it, `<` joins left
    Chart: caption                               then `| label | number |` lines, one a bar
    > text                                       a note in a box
    @name                                        a catalogue is inserted here (see catalogue.py)
    {2025 text|2026 text}                        the editions differ here
    ?2026 line                                   a line of one edition only
    [[fn: text]]                                 a footnote, at the end of a paragraph

Blocks are separated by empty lines; **bold** and *italic* work inside them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

EDITIONS = (2025, 2026)
_ALTERNATIVES = re.compile(r"\{([^{}|]*)\|([^{}|]*)\}")
_FOOTNOTE = re.compile(r"\s*\[\[fn:\s*(.+?)\]\]", re.DOTALL)
_HEADING = re.compile(r"(#{1,3}) (.+)")
_STEP = re.compile(r"\d+\. ")


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    text: str

    @property
    def number(self) -> str:
        """`4.2` of `4.2 Time limits for disputes`, `A` of `Appendix A Forms`."""
        return self.text.removeprefix("Appendix ").split()[0]


@dataclass(frozen=True, slots=True)
class Paragraph:
    text: str
    footnote: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    text: str


@dataclass(frozen=True, slots=True)
class Items:
    items: tuple[str, ...]
    numbered: bool


@dataclass(frozen=True, slots=True)
class Table:
    """`above` holds the heads over the header, "<" where one reaches over from the left; () for most tables."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    above: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    caption: str
    bars: tuple[tuple[str, int], ...]


Block = Heading | Paragraph | Note | Items | Table | Chart


def for_edition(text: str, edition: int) -> str:
    """The text as one edition has it."""
    marks = tuple(f"?{other} " for other in EDITIONS)
    mine = f"?{edition} "
    lines = [line for line in text.splitlines() if not line.startswith(marks) or line.startswith(mine)]
    kept = "\n".join(line.removeprefix(mine) for line in lines)
    return _ALTERNATIVES.sub(lambda pair: pair[1 + EDITIONS.index(edition)], kept)


def expand(text: str, catalogue: Callable[[str], str]) -> str:
    """The text with each `@name` line replaced by what `catalogue(name)` says."""
    return re.sub(r"^@(\w+)$", lambda name: catalogue(name[1]), text, flags=re.MULTILINE)


def parse(text: str) -> Iterator[Block]:
    """The blocks of a text, in order."""
    for part in re.split(r"\n\s*\n", text.strip()):
        lines = [line.strip() for line in part.strip().splitlines()]
        if heading := _HEADING.fullmatch(lines[0]):
            yield Heading(len(heading[1]), heading[2])
            if lines[1:]:
                yield from parse("\n".join(lines[1:]))
        elif lines[0].startswith("Table: "):
            yield _table(lines[0].removeprefix("Table: "), lines[1:])
        elif lines[0].startswith("Chart: "):
            bars = tuple((label, int(number)) for label, number in map(_cells, lines[1:]))
            yield Chart(lines[0].removeprefix("Chart: "), bars)
        elif lines[0].startswith("- "):
            yield Items(_items(lines, re.compile("- ")), numbered=False)
        elif _STEP.match(lines[0]):
            yield Items(_items(lines, _STEP), numbered=True)
        elif lines[0].startswith("> "):
            yield Note(" ".join(line.removeprefix("> ") for line in lines))
        else:
            yield _paragraph(" ".join(lines))


def _paragraph(text: str) -> Paragraph:
    note = _FOOTNOTE.search(text)
    return Paragraph(_FOOTNOTE.sub("", text), note[1]) if note else Paragraph(text)


def _items(lines: list[str], mark: re.Pattern[str]) -> tuple[str, ...]:
    items: list[str] = []
    for line in lines:
        if found := mark.match(line):
            items.append(line[found.end() :])
        else:
            items[-1] += " " + line
    return tuple(items)


def _table(caption: str, lines: list[str]) -> Table:
    above = _cells(lines.pop(0).replace("|=", "|", 1)) if lines[0].startswith("|=") else ()
    header, *rows = map(_cells, lines)
    for row in (above, *rows) if above else rows:
        if len(row) != len(header):
            raise ValueError(f"table {caption!r}: {len(row)} cells under {len(header)} columns in {row}")
    return Table(caption, header, tuple(rows), above)


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|"))
