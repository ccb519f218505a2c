"""What `fuzz` damages: the shared documents, the example's files, and small files of every other format."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image
from reportlab.pdfgen.canvas import Canvas

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.loading import test_code, test_front_matter, test_mutated, test_sheets  # noqa: E402  needs the path
from tests.loading.pdfs import draw, fill, write  # noqa: E402
from tests.loading.pictures import letter, render  # noqa: E402

SHARED = Path(os.environ.get("CITEWELL_SHARED", ROOT / ".." / "shared")).resolve()
LARGEST = 1_000_000
TEXT = "\n## Fees\n\n| Card | Fee |\n|---|---|\n| Debit | 5 |\n\nA [link](https://example.org).[^1]\n\n[^1]: A note.\n"
PICTURES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("a.png", "PNG", {}),
    ("a.jpg", "JPEG", {}),
    ("a.webp", "WEBP", {}),
    ("a.bmp", "BMP", {}),
    ("lzw.tiff", "TIFF", {"compression": "tiff_lzw", "save_all": True}),
    ("fax.tiff", "TIFF", {"compression": "group4"}),
    ("jpeg.tiff", "TIFF", {"compression": "jpeg"}),
)


def samples(only: str) -> dict[str, list[tuple[str, bytes]]]:
    """Name and bytes of each file with `only` in its name, by ending."""
    found: dict[str, list[tuple[str, bytes]]] = {}
    for name, data in (*_on_disk(), *_built()):
        if only in name and 0 < len(data) <= LARGEST:
            found.setdefault(Path(name).suffix or name, []).append((name, data))
    return found


def _on_disk() -> Iterator[tuple[str, bytes]]:
    folders = (SHARED / "data" / "documents" / "files", ROOT / "examples" / "bank" / "documents")
    for path in (path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()):
        yield path.name, path.read_bytes()


def _built() -> Iterator[tuple[str, bytes]]:
    """What is not among the files on disk, mostly as the tests of the loaders build it."""
    for name, build in test_mutated.SAMPLES.items():
        yield name, build()
    for name, source in test_code.SOURCES.items():
        yield name, source.encode()
    yield "rules.py", test_code.PYTHON.encode()
    yield "notebook.ipynb", json.dumps(test_code.NOTEBOOK).encode()
    yield "yaml.md", (test_front_matter.YAML + TEXT).encode()
    yield "toml.md", (test_front_matter.TOML + TEXT).encode()
    yield "a.ods", _spreadsheet()
    yield "a.tsv", b"Card\tFee\nDebit\t5\nCredit\t12\n" * 5
    yield "a.sql", b"-- Fees\nCREATE TABLE fees (card text, fee int);\nSELECT * FROM fees WHERE fee > 5;\n"
    yield "a.yaml", b"fees:\n  - card: debit\n    fee: &five 5\n  - card: credit\n    fee: *five\n"
    yield "a.xml", b'<?xml version="1.0"?><fees><card kind="debit">5</card><card kind="credit">12</card></fees>'
    yield "plain.pdf", _uncompressed()
    yield from pictures()


def pictures() -> Iterator[tuple[str, bytes]]:
    """A letter as a picture, in each format that is read, and on a page as a scanner puts it there."""
    page = Image.fromarray(render(letter, dpi=100))
    for name, form, options in PICTURES:
        target = io.BytesIO()
        more = {"append_images": [page.copy()]} if "save_all" in options else {}
        (page.convert("1") if "fax" in name else page).save(target, form, **options, **more)
        yield name, target.getvalue()
    yield "scan.pdf", draw(lambda canvas: canvas.drawInlineImage(page, 72, 500, 400, 160))


def _spreadsheet() -> bytes:
    dated = 'office:value-type="date" office:date-value="2024-02-29"'
    rows = (
        test_sheets.row(test_sheets.cell("Card"), test_sheets.cell("Since")),
        test_sheets.row(test_sheets.cell("Debit"), test_sheets.cell("29.02.24", dated)),
        test_sheets.row(test_sheets.cell("same", 'table:number-columns-repeated="3"')),
    )
    return test_sheets.ods(f'<table:table table:name="Cards">{"".join(rows)}</table:table>')


def _uncompressed() -> bytes:
    """A PDF with text, a ruled table, a link and a bookmark, all of which can be damaged where it stands."""
    target = io.BytesIO()
    canvas = Canvas(target, pageCompression=0)
    canvas.bookmarkPage("top")
    canvas.addOutlineEntry("Fees", "top")
    write(canvas, 72, 750, *fill(5))
    canvas.linkURL("https://example.org", (72, 740, 200, 760))
    canvas.grid([72, 172, 272, 372], [680, 660, 640, 620])
    for row in range(3):
        for column in range(3):
            canvas.drawString(76 + 100 * column, 665 - 20 * row, f"cell {row}{column}")
    canvas.save()
    return target.getvalue()
