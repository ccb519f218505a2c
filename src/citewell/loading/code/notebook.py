"""Jupyter notebooks: as Markdown in which the code, and what it printed, are fenced."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from citewell.loading.encoding import decode
from citewell.loading.markdown.document import load_markdown
from citewell.loading.parsed import Parsed
from citewell.settings import Loading

_FENCE = re.compile(r"^\s*(`{3,})", re.MULTILINE)


def load_notebook(data: bytes, name: str, limits: Loading) -> Parsed | None:
    """Read the cells in order, with the text of their outputs; None where the file is no notebook (nbformat 4).

    What was drawn is named as lost.
    """
    try:
        notebook = json.loads(decode(data, limits))
    except (ValueError, RecursionError):
        return None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        return None
    cells = [cell for cell in cells if isinstance(cell, dict)]
    # A rule that Markdown would read as front matter stands at the very beginning only.
    markdown = "\n" + "\n\n".join(part for cell in cells for part in _parts(cell) if part.strip())
    parsed = load_markdown(markdown.encode("utf-8", "replace"), name, limits)
    drawn = sum("image/png" in _shown(output) for cell in cells for output in _outputs(cell))
    return replace(parsed, lost=(*parsed.lost, f"pictures that its code drew ({drawn})")) if drawn else parsed


def _parts(cell: dict[str, Any]) -> Iterator[str]:
    source = _text(cell.get("source"))
    if cell.get("cell_type") == "markdown":
        yield source
        return
    yield _fenced(source)
    for output in _outputs(cell):
        yield _fenced(_text(output.get("text", _shown(output).get("text/plain"))))


def _outputs(cell: dict[str, Any]) -> list[dict[str, Any]]:
    outputs = cell.get("outputs")
    return [output for output in outputs if isinstance(output, dict)] if isinstance(outputs, list) else []


def _shown(output: dict[str, Any]) -> dict[str, Any]:
    """The forms, by media type, in which an output is shown."""
    data = output.get("data")
    return data if isinstance(data, dict) else {}


def _text(source: object) -> str:
    """A text, or its lines."""
    if isinstance(source, list):
        return "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""


def _fenced(text: str) -> str:
    if not text.strip():
        return ""
    fence = "`" * max((len(found) + 1 for found in _FENCE.findall(text)), default=3)
    return f"{fence}\n{text}\n{fence}"
