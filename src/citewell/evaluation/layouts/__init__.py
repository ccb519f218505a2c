"""Test sets in the layouts of others: which one a file is in is told by its content."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from citewell.errors import PathError
from citewell.evaluation.layouts import beir, squad
from citewell.evaluation.layouts.beir import is_beir, read_beir
from citewell.evaluation.layouts.imported import Imported, Layout
from citewell.evaluation.layouts.ragas import is_ragas, read_ragas
from citewell.evaluation.layouts.reading import content
from citewell.evaluation.layouts.squad import is_squad_folder, read_squad
from citewell.evaluation.layouts.table import columns_of, read_table
from citewell.loading.encoding import decode
from citewell.loading.given import from_text
from citewell.loading.testsets import CSV_COLUMNS
from citewell.settings import Loading
from citewell.types import Document

__all__ = ["Imported", "Layout", "documents_of", "layout_of", "read_layout"]


def read_layout(path: Path, layout: Layout | None = None, *, documents: Sequence[Document] = ()) -> Imported:
    """The questions of a file or folder, in the layout given or told. `documents` are for `ragas.read_ragas`.

    Raises:
        PathError: it cannot be read, is in none of the layouts, holds no question, or gives two of them one id.
    """
    match layout or layout_of(path):
        case Layout.BEIR:
            imported = read_beir(path)
        case Layout.SQUAD:
            imported = read_squad(path)
        case Layout.RAGAS:
            imported = read_ragas(path, documents)
        case Layout.CSV:
            imported = read_table(path)
    if not imported.questions:
        raise PathError(f"{path} holds no question.", remedy="docs/testsets.md shows what each layout holds.")
    ids = Counter(question.id for question in imported.questions if question.id)
    twice = next((name for name, times in ids.items() if times > 1), None)
    if twice is not None:
        raise PathError(f"{path} has the id {twice!r} twice.", remedy="Give each question an id of its own.")
    return imported


def layout_of(path: Path) -> Layout:
    """The layout of a file or folder, by what it holds.

    Raises:
        PathError: it cannot be read, or is in none of them.
    """
    if path.is_dir() and is_squad_folder(path):
        return Layout.SQUAD
    if is_beir(path):
        return Layout.BEIR
    if not path.is_dir():
        text = decode(content(path), Loading())
        told = _of_json(text) if text.lstrip().startswith(("{", "[")) else _of_table(text)
        if told is not None:
            return told
    raise PathError(
        f"{path} is in none of the layouts that are read.",
        remedy="Name one with --format (beir, squad, ragas, csv) to see what is missing.",
    )


def documents_of(path: Path) -> Iterator[Document]:
    """The passages that a BEIR or SQuAD data set brings along, as documents under the names of the evidence.

    Raises:
        PathError: it cannot be read, or is in another layout.
    """
    layout = layout_of(path)
    if layout is Layout.BEIR:
        passages = beir.passages(path)
    elif layout is Layout.SQUAD:
        passages = squad.passages(path)
    else:
        raise PathError(
            f"{path} brings no documents along.", remedy="Index the documents that its questions are about."
        )
    for passage in passages:
        text = f"{passage.title}\n\n{passage.text}" if passage.title else passage.text
        if text.strip():
            yield from_text(text, source=f"{layout}:///{quote(passage.name, safe='')}", title=passage.title)


def _of_json(text: str) -> Layout | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = _first_line(text)
    if isinstance(value, dict) and isinstance(value.get("data"), list):
        return Layout.SQUAD
    first = value[0] if isinstance(value, list) and value else value
    return Layout.RAGAS if isinstance(first, dict) and is_ragas(list(first)) else None


def _first_line(text: str) -> object:
    try:
        return json.loads(text.lstrip().partition("\n")[0])
    except (ValueError, RecursionError):
        return None


def _of_table(text: str) -> Layout | None:
    columns = columns_of(text)
    if is_ragas(columns):
        return Layout.RAGAS
    return Layout.CSV if "question" in columns and not set(columns).isdisjoint(CSV_COLUMNS[1:]) else None
