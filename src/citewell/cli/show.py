"""`citewell show ID`"""

from __future__ import annotations

from collections import Counter

from citewell.cli.documents import in_force
from citewell.cli.facts import print_facts
from citewell.cli.options import (
    DEFAULT_INDEX,
    AsGroups,
    AsOf,
    IdOrSource,
    IndexPlace,
    Json,
    SettingsFile,
    load_settings,
    reader,
)
from citewell.cli.reading_as import tell_of_unknown_groups
from citewell.cli.terminal import moment, one_line, out, place, plain, print_json
from citewell.shapes import chunk_shape, document_shape
from citewell.types import Chunk, Document, ElementKind, FieldValue, PageState


def show(
    wanted: IdOrSource,
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
    groups: AsGroups = None,
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """Show a document's facts and outline, or a chunk's text."""
    from citewell.index import Index

    with Index.open(at, settings=load_settings(settings)) as index:
        tell_of_unknown_groups(index, groups, as_of)
        who = reader(groups)
        found = index.show(wanted, principal=who, as_of=as_of)
        chunks = len(index.chunks(found.id, principal=who, as_of=as_of)) if isinstance(found, Document) else 0
    if isinstance(found, Chunk):
        print_json(chunk_shape(found)) if as_json else _print_chunk(found)
    else:
        print_json(document_shape(found, chunks)) if as_json else _print_document(found, chunks)


def _print_chunk(chunk: Chunk) -> None:
    screen = out()
    screen.print(one_line(chunk.title), style="bold")
    print_facts(
        [
            ("chunk", chunk.id),
            ("document", chunk.document_id),
            ("source", place(chunk.source)),
            ("section", " › ".join(chunk.heading_path)),
            ("page", ", ".join(label for _, label in chunk.pages)),
            ("characters", f"{chunk.start:,}–{chunk.end:,}"),
            ("readable by", ", ".join(sorted(chunk.rights.groups)) or "nobody"),
            ("part of", chunk.parent_id or ""),
        ]
    )
    screen.print()
    if chunk.preamble:
        screen.print(plain(chunk.preamble), style="dim")
    screen.print(plain(chunk.text))


def _print_document(document: Document, chunks: int) -> None:
    out().print(one_line(document.title), style="bold")
    print_facts(
        [
            ("document", document.id),
            ("source", place(document.source)),
            ("version", document.version),
            ("number", str(document.number)),
            ("indexed", moment(document.indexed_at) if document.indexed_at else ""),
            ("in force", in_force(document)),
            ("language", document.language),
            ("trust", document.trust),
            ("readable by", ", ".join(sorted(document.rights.groups)) or "nobody"),
            ("part of", document.parent_id or ""),
            ("expires", str(document.expires or "")),
            *((name, _value(value)) for name, value in document.fields.items()),
            *((name, one_line(value)) for name, value in document.metadata.items()),
            ("pages", _pages(document)),
            ("characters", f"{len(document.text):,}"),
            ("chunks", f"{chunks:,}"),
            ("lost", one_line(document.lost)),
        ]
    )
    _print_odd_pages(document)
    _print_outline(document)


def _value(value: FieldValue) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _pages(document: Document) -> str:
    states = Counter(page.state for page in document.pages)
    counts = ", ".join(f"{states[state]:,} {state}" for state in PageState if states[state])
    read = [page.confidence for page in document.pages if page.confidence is not None]
    return f"{counts}; {len(read)} read by OCR, confidence {sum(read) / len(read):.2f}" if read else counts


def _print_odd_pages(document: Document) -> None:
    screen = out()
    for page in document.pages:
        if page.state not in (PageState.TEXT, PageState.BLANK):
            reason = f": {page.reason}" if page.reason else ""
            screen.print(one_line(f"page {page.label} ({page.state}){reason}"), style="yellow")


def _print_outline(document: Document) -> None:
    from rich.text import Text

    headings = [element for element in document.elements if element.kind is ElementKind.HEADING]
    labels = {page.number: page.label for page in document.pages}
    screen = out()
    if headings:
        screen.print()
    for heading in headings:
        title = one_line(document.text[heading.start : heading.end])
        page = f"  {one_line(labels[heading.page])}" if heading.page in labels else ""
        screen.print(Text.assemble("  " * len(heading.heading_path), title, (page, "dim")))
