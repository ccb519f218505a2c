"""The way from a PDF's bytes to a parsed document, step by step."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from citewell.loading.parsed import Parsed, TextBuilder
from citewell.loading.pdf.blocks import Block, Body, Flow, measure_body, page_blocks
from citewell.loading.pdf.file import PdfFile, read_file
from citewell.loading.pdf.furniture import Face, without_furniture
from citewell.loading.pdf.headings import MAX_HEADING, complete_headings, outline_titles
from citewell.loading.pdf.layout import Line, columns, lines, runs
from citewell.loading.pdf.sheet import Sheet, Word
from citewell.loading.pdf.tables import Table, ruled_tables, unruled_tables, widen_captions
from citewell.settings import Loading
from citewell.types import PageState

MAX_WORDS = 20_000
"""Of a page; with more, neither tables nor columns are looked for."""
_FIGURE = 0.1
"""Of the page; a picture from this size on may hold what a page without text has to say."""
_SCAN = 0.8
"""Of the page; a picture of this size with few signs beside it is a scanned page with a stamp or a number."""
_FEW_SIGNS = 100
_MAX_UNREADABLE = 0.3
_NO_TITLE = re.compile(r"^$|untitled|anonymous|unspecified|^microsoft |\.(docx?|pptx?|xlsx?|tex|dvi|indd|qxd)$", re.I)


def load_pdf(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read a PDF. Every page is reported, those without text too; `name` stands in for a title that it does not have.

    Raises:
        EmptyFile: 0 bytes.
        DamagedFile: not a PDF, or damaged beyond what pdfium can repair.
        PasswordNeeded: it cannot be opened without a password.
        LimitExceeded: more pages or text than `limits` allow.
    """
    file = read_file(data, limits)
    vocabulary = _vocabulary(file.sheets)
    faces, tables = _faces(file.sheets, vocabulary)
    flows = [_flows(kept, own) for kept, own in zip(without_furniture(faces, file.bookmarks), tables, strict=True)]
    body = measure_body(flow for face in flows for flow in face)
    titles = outline_titles(_main_lines(file.sheets, faces, flows), file.bookmarks)
    main: list[list[Block]] = [[] for _ in file.sheets]
    aside: list[list[Block]] = [[] for _ in file.sheets]
    for face, found in zip(faces, flows, strict=True):
        frame = file.sheets[face.page - 1].frame
        (main if face.main else aside)[face.page - 1] += [
            replace(block, box=face.frame.box_in(block.box, frame))
            for block in page_blocks(found, face.frame.height, body, titles, vocabulary)
        ]
    main = complete_headings(main, body)
    pages = [own + more for own, more in zip(main, aside, strict=True)]
    return _build(file, pages, limits, _title(file.title, main, body) or PurePath(name).stem)


def _build(file: PdfFile, pages: Sequence[Sequence[Block]], limits: Loading, title: str) -> Parsed:
    builder = TextBuilder(limits)
    for sheet, blocks in zip(file.sheets, pages, strict=True):
        state, reason = _state(sheet, blocks)
        builder.start_page(sheet.number, sheet.label, state, reason)
        for block in blocks if sheet.unreadable <= _MAX_UNREADABLE else []:
            builder.add(block.kind, block.text, level=block.level, box=block.box)
    return builder.build(title)


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
                found, words = ruled_tables(view.words, sheet.rules, vocabulary)
            faces.append(Face(sheet.number, view.frame, main, tuple(runs(words))))
            tables.append(found)
    return faces, tables


def _flows(found: list[Line], tables: list[Table]) -> list[Flow]:
    """Runs and tables in reading order: column by column, each from top to bottom; slanted text last."""
    straight = [run for run in found if not run.words[0].style.skewed]
    slanted = [run for run in found if run.words[0].style.skewed]
    pieces: list[Line | Table] = [*widen_captions(straight, tables), *tables]
    parts = columns(pieces) if len(pieces) <= MAX_WORDS else [pieces]
    flows: list[Flow] = []
    for part in parts:
        own = unruled_tables(lines(piece for piece in part if isinstance(piece, Line)))
        flows.append(sorted([*own, *(piece for piece in part if isinstance(piece, Table))], key=lambda item: item.top))
    return [*flows, slanted] if slanted else flows


def _main_lines(sheets: Sequence[Sheet], faces: Sequence[Face], flows: Sequence[list[Flow]]) -> list[list[Line]]:
    """For each page the lines of its main direction, in reading order."""
    pages: list[list[Line]] = [[] for _ in sheets]
    for face, found in zip(faces, flows, strict=True):
        if face.main:
            pages[face.page - 1] += [item for flow in found for item in flow if isinstance(item, Line)]
    return pages


def _state(sheet: Sheet, blocks: Sequence[Block]) -> tuple[PageState, str]:
    """What became of a page, and why."""
    signs = sum(len(block.text) for block in blocks)
    figure = max(sheet.picture, sheet.drawing)
    if sheet.error:
        state = PageState.FAILED, f"it could not be read: {sheet.error}"
    elif sheet.unreadable > _MAX_UNREADABLE:
        state = PageState.NEEDS_OCR, "its fonts do not say which letters their signs are"
    elif sheet.hidden:
        state = PageState.SUSPICIOUS, "; ".join(sheet.hidden)
    elif signs == 0 and figure >= _FIGURE:
        state = PageState.NEEDS_OCR, f"it has no text, and a picture or drawing covers {figure:.0%} of it"
    elif signs < _FEW_SIGNS and sheet.picture >= _SCAN:
        state = PageState.NEEDS_OCR, f"a picture covers {sheet.picture:.0%} of it, and only {signs} signs are text"
    elif signs == 0:
        state = PageState.BLANK, "it has no text"
    else:
        state = PageState.TEXT, ""
    return state


def _title(given: str, pages: Sequence[Sequence[Block]], body: Body) -> str:
    """The title in the file's properties if it is one, or else the largest text of the first page that has any."""
    if not _NO_TITLE.search(given):
        return given
    first = next((blocks for blocks in pages if blocks), [])
    large = [block for block in first if block.lines and block.lines[0].size >= 1.2 * body.size]
    best = max(large, key=lambda block: block.lines[0].size, default=None)
    return best.text if best is not None and len(best.text) <= MAX_HEADING else ""
