"""The way from a PDF's bytes to a parsed document, step by step."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from citewell.loading.parsed import Details, Parsed, TextBuilder
from citewell.loading.pdf.blocks import Block, Body, Flow, measure_body, page_blocks
from citewell.loading.pdf.file import PdfFile, read_file
from citewell.loading.pdf.furniture import Face, without_furniture
from citewell.loading.pdf.headings import MAX_HEADING, complete_headings, outline_titles
from citewell.loading.pdf.layout import Line, columns, lines, runs
from citewell.loading.pdf.sheet import Link, Shade, Sheet, Word
from citewell.loading.pdf.spanning import join_tables
from citewell.loading.pdf.states import MAX_UNREADABLE, page_state
from citewell.loading.pdf.tables import Table, ruled_tables, unruled_tables, widen_captions
from citewell.settings import Loading

MAX_WORDS = 20_000
"""Of a page; with more, neither tables nor columns are looked for."""
_NEAR = 2.0
"""Points that a link's box may stand out over its text."""
_NO_TITLE = re.compile(r"^$|untitled|anonymous|unspecified|^microsoft |\.(docx?|pptx?|xlsx?|tex|dvi|indd|qxd)$", re.I)


def load_pdf(data: bytes, name: str, limits: Loading, passwords: Sequence[str] = ()) -> Parsed:
    """Read a PDF. Every page is reported, those without text too; `name` stands in for a title that it does not have.

    Each of `passwords` is tried on an encrypted file.

    Raises:
        EmptyFile: 0 bytes.
        DamagedFile: not a PDF, or damaged beyond what pdfium can repair.
        PasswordNeeded: it cannot be opened without a password, nor with any of `passwords`.
        LimitExceeded: more pages or text than `limits` allow.
    """
    return build_pages(read_file(data, limits, passwords), limits, name)


def build_pages(file: PdfFile, limits: Loading, name: str) -> Parsed:
    """The document of what was read from a file's pages, or from pictures; all of the way but reading.

    Raises:
        LimitExceeded: more text than `limits` allow.
    """
    vocabulary = _vocabulary(file.sheets)
    faces, tables = _faces(file.sheets, vocabulary)
    flows = [
        _flows(kept, own, file.sheets[face.page - 1].shades if face.main else ())
        for face, kept, own in zip(faces, without_furniture(faces, file.bookmarks), tables, strict=True)
    ]
    body = measure_body(flow for face in flows for flow in face)
    titles = outline_titles(_main_lines(file.sheets, faces, flows), file.bookmarks)
    main: list[list[Block]] = [[] for _ in file.sheets]
    aside: list[list[Block]] = [[] for _ in file.sheets]
    for face, found in zip(faces, flows, strict=True):
        sheet = file.sheets[face.page - 1]
        if sheet.unreadable <= MAX_UNREADABLE:
            (main if face.main else aside)[face.page - 1] += [
                replace(block, box=face.frame.box_in(block.box, sheet.frame))
                for block in page_blocks(found, face.frame.height, body, titles, vocabulary)
            ]
    main = complete_headings(main, body)
    pages = [own + more for own, more in zip(main, aside, strict=True)]
    heights = [sheet.views[0].frame.height if sheet.views else 0.0 for sheet in file.sheets]
    title = _title(file.title, main, body) or PurePath(name).stem
    return _build(file, join_tables(pages, heights), limits, title)


def _build(file: PdfFile, pages: Sequence[Sequence[Block]], limits: Loading, title: str) -> Parsed:
    builder = TextBuilder(limits)
    for sheet, blocks in zip(file.sheets, pages, strict=True):
        state, reason = page_state(sheet, sum(len(block.text) for block in blocks), limits)
        builder.start_page(sheet.number, sheet.label, state, reason, sheet.confidence)
        for block, links in zip(blocks, _links(blocks, sheet.links), strict=True):
            if block.goes_on:
                builder.extend(block.text, links)
                continue
            named = block.table.header_rows if block.table and not block.preamble else 0
            more = Details(header_rows=named, preamble=block.preamble, links=links)
            builder.add(block.kind, block.text, level=block.level, box=block.box, more=more)
    return replace(builder.build(title, metadata=file.properties), lost=file.lost)


def _links(blocks: Sequence[Block], links: Sequence[Link]) -> list[tuple[str, ...]]:
    """For each block the addresses behind it, each once: a link is the smallest block's that holds its middle."""
    found: list[dict[str, None]] = [{} for _ in blocks]
    for link in links:
        x, y = (link.box[0] + link.box[2]) / 2, (link.box[1] + link.box[3]) / 2
        around = [
            ((right - left) * (bottom - top), at)
            for at, (left, top, right, bottom) in enumerate(block.box for block in blocks)
            if left - _NEAR <= x <= right + _NEAR and top - _NEAR <= y <= bottom + _NEAR
        ]
        if around:
            found[min(around)[1]][link.address] = None
    return [tuple(own) for own in found]


def _vocabulary(sheets: Sequence[Sheet]) -> frozenset[str]:
    """The document's words in lower case; they decide whether a divided word keeps its hyphen."""
    words = {word.text for sheet in sheets for view in sheet.views for word in view.words}
    return frozenset(word.strip(".,;:!?()[]\"'“”‘’").casefold() for word in words)


def _faces(sheets: Sequence[Sheet], vocabulary: frozenset[str]) -> tuple[list[Face], list[list[Table]]]:
    """For each direction of text on each page its runs, and the ruled tables whose words are not among them."""
    faces: list[Face] = []
    tables: list[list[Table]] = []
    for sheet in sheets:
        for view in sheet.views:
            found: list[Table] = []
            words: Sequence[Word] = view.words
            main = view is sheet.views[0]
            if main and len(view.words) <= MAX_WORDS:
                found, words = ruled_tables(view.words, sheet.rules, sheet.shades, vocabulary)
            faces.append(Face(sheet.number, view.frame, main, tuple(runs(words))))
            tables.append(found)
    return faces, tables


def _flows(found: list[Line], tables: list[Table], shades: Sequence[Shade]) -> list[Flow]:
    """Runs and tables in reading order: column by column, each from top to bottom; slanted text last."""
    straight = [run for run in found if not run.words[0].style.skewed]
    slanted = [run for run in found if run.words[0].style.skewed]
    pieces: list[Line | Table] = [*widen_captions(straight, tables), *tables]
    parts = columns(pieces) if len(pieces) <= MAX_WORDS else [pieces]
    flows: list[Flow] = []
    for part in parts:
        own = unruled_tables(lines(piece for piece in part if isinstance(piece, Line)), shades)
        flows.append(sorted([*own, *(piece for piece in part if isinstance(piece, Table))], key=lambda item: item.top))
    return [*flows, slanted] if slanted else flows


def _main_lines(sheets: Sequence[Sheet], faces: Sequence[Face], flows: Sequence[list[Flow]]) -> list[list[Line]]:
    """For each page the lines of its main direction, in reading order."""
    pages: list[list[Line]] = [[] for _ in sheets]
    for face, found in zip(faces, flows, strict=True):
        if face.main:
            pages[face.page - 1] += [item for flow in found for item in flow if isinstance(item, Line)]
    return pages


def _title(given: str, pages: Sequence[Sequence[Block]], body: Body) -> str:
    """The title in the file's properties if it is one, or else the largest text of the first page that has any."""
    if not _NO_TITLE.search(given):
        return given
    first = next((blocks for blocks in pages if blocks), [])
    large = [block for block in first if block.lines and block.lines[0].size >= 1.2 * body.size]
    best = max(large, key=lambda block: block.lines[0].size, default=None)
    return best.text if best is not None and len(best.text) <= MAX_HEADING else ""
