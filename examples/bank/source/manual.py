"""The fraud policy manual: what each edition consists of."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from source.catalogue import catalogue
from source.markup import Block, expand, for_edition, parse
from source.pdf import write_manual

HERE = Path(__file__).parent
TITLE = "Fraud Policy Manual"


def blocks(edition: int, name: str) -> list[Block]:
    """The blocks of one content file, as an edition has it."""
    text = (HERE / name).read_text(encoding="utf-8")
    return list(parse(for_edition(expand(text, catalogue), edition)))


def body(edition: int) -> list[Block]:
    """The chapters and appendices of one edition."""
    names = sorted(file.name for file in (HERE / "chapters").glob("*.txt"))
    return [block for name in names for block in blocks(edition, f"chapters/{name}")]


def write(path: Path, edition: int) -> None:
    """Write one edition as a PDF."""
    start = date(edition, 1, 1)
    cover = (
        TITLE,
        f"Edition {edition}",
        f"In force from {start.day} {start:%B} {start.year}",
        "",
        "Fraud Risk, Larkfield Bank plc",
        "Internal. For the fraud team and customer service.",
    )
    write_manual(path, edition, cover, blocks(edition, "control.txt"), body(edition))
