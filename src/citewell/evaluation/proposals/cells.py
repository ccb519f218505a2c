"""Cells of tables, asked for by their row and column: "What is the limit for a duplicate booking?"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import regex

from citewell.evaluation.proposals.proposal import Proposal, Wording
from citewell.loading.columns import is_figure
from citewell.types import BETWEEN_CELLS, Document, Element, ElementKind

_MOST_CELL = 120
_MOST_LABEL = 60

# What a row can have: a column, or the things that a caption counts, which end in one of these can be asked for.
_PROPERTIES = frozenset(
    """
    fee price cost charge rate limit amount sum total budget allowance excess premium tax discount deposit salary
    share percentage weight size length width height speed capacity quantity number score threshold target
    date deadline time period term duration age interval frequency hours
    owner author contact manager approver sponsor supervisor address phone telephone email fax city country region
    currency language name title code form letter type kind class category grade level status priority rank version
    symbol unit colour material supplier department team office authority penalty consequence action reason purpose
    requirement condition result outcome proof evidence subject setting default value model
    """.split()  # noqa: SIM905  Words read better as words.
)
_INNATE = frozenset("purpose size weight price cost length height width name title code age".split())  # noqa: SIM905
"""Asked for with "of", the others with "for"."""
_PEOPLE = frozenset({"owner", "author", "contact", "manager", "approver", "sponsor", "supervisor"})
_MEASURES = frozenset(
    """
    fee price cost charge rate limit amount sum budget allowance excess discount deposit share percentage weight
    threshold target score
    """.split()  # noqa: SIM905  Words read better as words.
)
_SHORT_CAPTION = range(1, 7)
_COLUMN = regex.compile(
    r"(?!(?:one|each|all|total)\s)\p{L}[\p{L}-]{0,20}(?:\s[\p{Ll}-]{3,20}){0,2}|\p{L}+\s(?:in|by|of)\s[\p{L}-]+"
)
_MEANINGS = frozenset({"meaning", "definition", "explanation"})
_CAPTION = regex.compile(r"(?:table|figure|tab\.|fig\.)\s*\p{L}?-?\d+(?:[.-]\d+)*\s*[.:–-]?\s+", regex.IGNORECASE)
_NUMBER = regex.compile(r"\d+(?:\.\d+)*\.?\s+")
_HEAD = regex.compile(r"(?P<head>[\p{L}' -]+?)(?:\s(?:for|of|by|in|to|at|per|and|on|from|with)\s.*|,.*)?")
_NOTHING = regex.compile(r"(?:[-–—.…*]|n/?a|yes|no|x|✓|none|see .*)?", regex.IGNORECASE)
_NO_LABEL = regex.compile(
    r"""
    (?:up\sto|above|below|over|under|from|until|more\sthan|less\sthan|at\sleast|others?|total|sum|all|any|of\sthese)\b.*
    | [\p{L}]+ed
    """,
    regex.VERBOSE | regex.IGNORECASE,
)
"""No name of a thing: "up to £500", "Approved"."""


@dataclass(frozen=True, slots=True)
class _Table:
    """The names of its columns, its caption ("" where it has none) and the heading above it, without numbers."""

    columns: list[str]
    caption: str
    heading: str


def cell_proposals(document: Document, words: Wording) -> Iterator[Proposal]:
    """A question for each cell whose row and column are enough to ask for it."""
    caption = ""
    for element in document.elements:
        text = document.text[element.start : element.end]
        if element.kind is ElementKind.TABLE:
            yield from _of_table(document, element, caption, words)
        # Where a format has no captions, the paragraph above a table is one if it says so.
        if element.kind is ElementKind.CAPTION or _CAPTION.match(text):
            caption = text
        elif element.kind is not ElementKind.FOOTNOTE:
            caption = ""


def _of_table(document: Document, element: Element, caption: str, words: Wording) -> Iterator[Proposal]:
    lines = document.text[element.start : element.end].split("\n")
    if element.header_rows != 1 or len(lines) < 3:
        return
    table = _Table(lines[0].split(BETWEEN_CELLS), _named(caption), _named("".join(element.heading_path[-1:])))
    labels = [line.split(BETWEEN_CELLS)[0].strip() for line in lines[1:]]
    start = element.start + len(lines[0]) + 1
    for line, label in zip(lines[1:], labels, strict=True):
        cells = line.split(BETWEEN_CELLS)
        if len(cells) == len(table.columns) and labels.count(label) == 1 and _is_label(label):
            for column, cell in zip(table.columns[1:], cells[1:], strict=True):
                question = _question(table, column.strip(), words.inside(label), cell.strip(), words)
                if question and len(cell) <= _MOST_CELL and not _NOTHING.fullmatch(cell.strip()):
                    yield Proposal("table", question, cell.strip(), start, start + len(line))
        start += len(line) + 1


def _question(table: _Table, column: str, label: str, cell: str, words: Wording) -> str:
    name = words.inside(column)
    if " " not in name and not name.isupper():
        name = name.casefold()
    if not _COLUMN.fullmatch(name):
        return ""
    last = name.split()[-1]
    if last in _MEANINGS:
        return f"What does {label} mean?"
    if last in _PEOPLE:
        return f"Who is the {name} of {label}?"
    if last in _PROPERTIES:
        about = f" ({words.inside(table.caption)})" if len(table.caption.split()) in _SHORT_CAPTION else ""
        of = "of" if last in _INNATE else "for"
        return f"What {'are' if last == 'hours' else 'is'} the {name} {of} {label}{about}?"
    thing = _counted(table.caption or table.heading, words) if is_figure(cell) else ""
    return f"What is the {thing} for {label}, {name}?" if thing else ""


def _named(title: str) -> str:
    """A caption or heading without its number and what a comma adds."""
    number = _CAPTION.match(title) or _NUMBER.match(title)
    return title[number.end() if number else 0 :].partition(",")[0]


def _counted(caption: str, words: Wording) -> str:
    """What the cells of a table measure by its caption: "Chargeback fees by kind of card" - "chargeback fee"."""
    found = _HEAD.fullmatch(caption)
    if found is None:
        return ""
    head = words.inside(found["head"].strip())
    one = head.removesuffix("s")
    is_measure = not _MEASURES.isdisjoint(one.casefold().split()[-1:])
    return one if one != head and is_measure and not head.startswith("other ") else ""


def _is_label(label: str) -> bool:
    starts_well = label[:1].isalpha() and not _NO_LABEL.fullmatch(label)
    return starts_well and 2 <= len(label) <= _MOST_LABEL
