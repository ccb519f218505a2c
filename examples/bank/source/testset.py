"""Writes the test set, and refuses to where a quote is not in its document exactly once.

Text is compared with white space normalised, table cells in reading order with one space between them. The text of the
scanned fee schedule is what was printed before it was scanned.
"""

from __future__ import annotations

import html
import json
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pypdfium2

from source import manual, schedule
from source.markup import Block, Chart, Heading, Items, Note, Paragraph, Table

FILES = {
    "m25": "manual/fraud-policy-manual-2025.pdf",
    "m26": "manual/fraud-policy-manual-2026.pdf",
    "fees": "fees/card-fee-schedule-2026.pdf",
    "docx": "procedures/dispute-handling-procedures.docx",
    "html": "public/branch-hours.html",
    "py": "rules/scoring_rules.py",
}
UNANSWERABLE = {"not_covered", "not_allowed"}
Named = tuple[str, str]
"""A page label or the title of a section, and the text that belongs to it."""


@dataclass(frozen=True, slots=True)
class Source:
    """A document cut in two ways. `pages` is empty where the format has none."""

    sections: tuple[Named, ...]
    pages: tuple[Named, ...] = ()

    def holds(self, text: str) -> bool:
        return any(text.lower() in part.lower() for _, part in (*self.sections, *self.pages))

    def locate(self, quote: str) -> dict[str, str | None]:
        """Section and page of the quote; ValueError unless it occurs exactly once."""
        page = _only(self.pages, quote) if self.pages else None
        return {"section": _only(self.sections, quote), "page": page}


def write(path: Path, documents: Path) -> None:
    """Write the questions as JSON, one a line."""
    page = (documents / FILES["html"]).read_text(encoding="utf-8")
    sources = {
        "m25": Source(_sections(manual.body(2025)), _pages(documents / FILES["m25"])),
        "m26": Source(_sections(manual.body(2026)), _pages(documents / FILES["m26"])),
        "fees": Source(_sections(schedule.blocks()), _printed()),
        "docx": Source(_sections(manual.blocks(2026, "procedures.txt"))),
        "html": Source(_parts(re.sub(r"<[^>]+>", " ", re.sub("<h2>(.*)</h2>", r"\n## \1\n", page)), "## (.*)")),
        "py": Source(_parts((documents / FILES["py"]).read_text(encoding="utf-8"), r"def (\w+)")),
    }
    kinds = tomllib.loads((Path(__file__).parent / "questions.toml").read_text(encoding="utf-8"))
    lines = [
        json.dumps(_question(kind, number, entry, sources), ensure_ascii=False)
        for kind, entries in kinds.items()
        for number, entry in enumerate(entries, start=1)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _question(kind: str, number: int, entry: dict[str, Any], sources: dict[str, Source]) -> dict[str, Any]:
    for text in entry.get("absent", []):
        if any(source.holds(text) for source in sources.values()):
            raise ValueError(f"{text!r} is said to be absent and is not")
    return {
        "id": f"{kind}-{number:02}",
        "kind": kind,
        "question": entry["question"],
        "answerable": kind not in UNANSWERABLE,
        "expected_answer": entry.get("answer", ""),
        "must_contain": entry.get("contains", []),
        "must_not_contain": entry.get("never", []),
        "evidence": [
            {"document": FILES[key], "quote": quote, **sources[key].locate(quote)}
            for key, quote in entry.get("evidence", [])
        ],
        "absent": entry.get("absent", []),
        "groups": entry.get("groups", ["fraud_team"]),
        "as_of": entry.get("as_of"),
    }


def _only(parts: Iterable[Named], quote: str) -> str:
    found = [(name, text.count(quote)) for name, text in parts if quote in text]
    if [count for _, count in found] != [1]:
        raise ValueError(f"not exactly once in the document: {quote!r}, but in {found}")
    return found[0][0]


def _pages(path: Path) -> tuple[Named, ...]:
    pdf = pypdfium2.PdfDocument(path)
    try:
        texts = (page.get_textpage().get_text_range() for page in pdf)
        return tuple((pdf.get_page_label(number), _normal(text)) for number, text in enumerate(texts))
    finally:
        pdf.close()


def _printed() -> tuple[Named, ...]:
    """The pages of the fee schedule, which has no labels of its own."""
    return tuple((str(number), _normal(" ".join(page.words))) for number, page in enumerate(schedule.pages(), start=1))


def _sections(blocks: Iterable[Block]) -> tuple[Named, ...]:
    parts: list[tuple[str, list[str]]] = [("", [])]
    for block in blocks:
        match block:
            case Heading(text=text):
                parts.append((text, []))
            case Paragraph(text=text, footnote=note):
                parts[-1][1].append(f"{text} {note}")
            case Note(text=text):
                parts[-1][1].append(text)
            case Items(items=items):
                parts[-1][1].extend(items)
            case Table(caption=caption, above=above, header=header, rows=rows):
                parts[-1][1].append(caption)
                parts[-1][1].extend(" ".join(cell for cell in row if cell != "<") for row in (above, header, *rows))
            case Chart(caption=caption, bars=bars):
                parts[-1][1].extend((caption, *(f"{label} {number} %" for label, number in bars)))
    return tuple((title, _normal(" ".join(texts).replace("*", ""))) for title, texts in parts)


def _parts(text: str, title: str) -> tuple[Named, ...]:
    """The text cut before each line that matches `title`; the part before the first has no name."""
    first, *rest = re.split(f"^{title}", text, flags=re.MULTILINE)
    pairs = [("", first), *zip(rest[::2], rest[1::2], strict=True)]
    return tuple((name.strip(), _normal(html.unescape(part))) for name, part in pairs)


def _normal(text: str) -> str:
    return " ".join(text.split())
