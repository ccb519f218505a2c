"""The card fee schedule: a paper document, of which the bank keeps a scan."""

from __future__ import annotations

from pathlib import Path

from source.markup import Block, parse
from source.scan import write_scan
from source.sheet import Sheet, set_pages

TITLE = "Card Fee Schedule 2026"
START = "In force from 1 January 2026"
COVER = (TITLE, START, "Card Operations, Larkfield Bank plc", "Internal. For the fraud team and customer service.")


def blocks() -> list[Block]:
    """The chapters."""
    return list(parse((Path(__file__).parent / "schedule.txt").read_text(encoding="utf-8")))


def pages() -> list[Sheet]:
    """The pages as they were printed."""
    return set_pages(COVER, (f"Larkfield Bank · {TITLE}", START), "Internal", blocks())


def write(path: Path) -> None:
    """Write the scan as a PDF."""
    write_scan(path, TITLE, [page.picture for page in pages()])
