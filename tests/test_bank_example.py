"""The running example is what its generator makes, and its test set tells the truth about its documents."""

from __future__ import annotations

import datetime
import html
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import docx
import pypdfium2
import pytest
from docx.table import Table

BANK = Path(__file__).parent.parent / "examples" / "bank"
DOCUMENTS = BANK / "documents"
SCAN = "fees/card-fee-schedule-2026.pdf"
EDITIONS = (2025, 2026)
LEAST = {
    "exact_code": 10,
    "paraphrase": 10,
    "factoid": 5,
    "multi_part": 4,
    "as_of": 8,
    "table_cell": 25,
    "scanned": 10,
    "code": 5,
    "not_covered": 12,
    "not_allowed": 6,
    "branch": 5,
    "docx": 5,
}
QUESTIONS: list[dict[str, Any]] = [
    json.loads(line) for line in (BANK / "testset.jsonl").read_text(encoding="utf-8").splitlines()
]
RULES: list[dict[str, Any]] = tomllib.loads((DOCUMENTS / "citewell-access.toml").read_text(encoding="utf-8"))["rule"]


def _manual(edition: int) -> str:
    return f"manual/fraud-policy-manual-{edition}.pdf"


def _normal(text: str) -> str:
    return " ".join(text.split())


@cache
def _pages(document: str) -> dict[str | None, str]:
    """Text by page label; one page without a label where the format has none."""
    if document == SCAN:
        return _printed()
    path = DOCUMENTS / document
    match path.suffix:
        case ".pdf":
            with pypdfium2.PdfDocument(path) as pdf:
                texts = [page.get_textpage().get_text_range() for page in pdf]
                return {pdf.get_page_label(number): _normal(text) for number, text in enumerate(texts)}
        case ".docx":
            return {None: _normal(" ".join(_docx_parts(path)))}
        case ".html":
            return {None: _normal(html.unescape(re.sub(r"<[^>]+>", " ", path.read_text(encoding="utf-8"))))}
        case _:
            return {None: _normal(path.read_text(encoding="utf-8"))}


def _printed() -> dict[str | None, str]:
    """What stood on the paper before it was scanned, by page number."""
    code = "import json, source.schedule as s; print(json.dumps([' '.join(page.words) for page in s.pages()]))"
    done = subprocess.run([sys.executable, "-B", "-c", code], cwd=BANK, check=True, stdout=subprocess.PIPE, timeout=60)
    return {str(number): _normal(text) for number, text in enumerate(json.loads(done.stdout), start=1)}


def _docx_parts(path: Path) -> Iterator[str]:
    for part in docx.Document(str(path)).iter_inner_content():
        if isinstance(part, Table):
            yield from (cell.text for row in part.rows for cell in row.cells)
        else:
            yield part.text


@cache
def _bookmarks(edition: int) -> list[tuple[int, str, int]]:
    """(level, title, page index) of every bookmark."""
    with pypdfium2.PdfDocument(DOCUMENTS / _manual(edition)) as pdf:
        found = []
        for mark in pdf.get_toc():
            target = mark.get_dest()
            assert target is not None
            index = target.get_index()
            assert index is not None
            found.append((mark.level, mark.get_title(), index))
        return found


def _section_text(edition: int, number: str) -> str:
    """The text of the pages from the section's heading up to the next section's."""
    marks = [(title, index) for level, title, index in _bookmarks(edition) if level <= 1]
    place = next(place for place, (title, _) in enumerate(marks) if title.startswith(f"{number} "))
    start, end = marks[place][1], marks[place + 1][1]
    pages = " ".join(list(_pages(_manual(edition)).values())[start : end + 1])
    after = pages[pages.index(marks[place][0]) :]
    return after[: after.index(marks[place + 1][0])]


def _access(document: str) -> dict[str, Any]:
    rights: dict[str, Any] = {}
    for rule in RULES:
        if fnmatch(document, rule["match"]):
            rights |= rule
    return rights


@pytest.mark.parametrize("edition", EDITIONS)
def test_manual_is_long_and_its_page_labels_are_printed_on_its_pages(edition: int) -> None:
    pages = _pages(_manual(edition))
    labels = list(pages)
    body = labels.index("1")
    assert len(pages) >= 110
    assert sum(len(re.findall(r"[\w'’-]+", text)) for text in pages.values()) >= 50_000
    assert labels[:4] == ["i", "ii", "iii", "iv"]
    assert labels[body:] == [str(number) for number in range(1, len(pages) - body + 1)]
    assert all(
        text.endswith(f"Page {label}") or f"Page {label} " in text for label, text in pages.items() if label != "i"
    )


@pytest.mark.parametrize("edition", EDITIONS)
def test_every_bookmark_points_at_its_heading(edition: int) -> None:
    pages = list(_pages(_manual(edition)).values())
    marks = _bookmarks(edition)
    chapters = [title for level, title, _ in marks if level == 0]
    assert [title.split()[0] for title in chapters[:15]] == [str(number) for number in range(1, 16)]
    assert {level for level, _, _ in marks} == {0, 1, 2}
    assert [title for _, title, index in marks if title not in pages[index]] == []
    assert "7.1 Decline codes" in {title for _, title, _ in marks}


def test_the_scan_is_twelve_pictures_and_no_text() -> None:
    with pypdfium2.PdfDocument(DOCUMENTS / SCAN) as pdf:
        kinds = [[item.type for item in page.get_objects()] for page in pdf]
        assert kinds == [[pypdfium2.raw.FPDF_PAGEOBJ_IMAGE]] * 12
        assert [page.get_textpage().get_text_range() for page in pdf] == [""] * 12
    assert (DOCUMENTS / SCAN).stat().st_size < 2_000_000


def test_the_scan_says_what_the_manual_says_of_domestic_chargebacks() -> None:
    manual, schedule = _section_text(2026, "4.5"), _printed()["6"]
    fees = re.findall(
        r"(First chargeback|Handling of a representment|Pre-arbitration|Arbitration, filing) (.+?) (?=[A-Z])", manual
    )
    by_card = zip(*(amounts.split() for _, amounts in fees), strict=True)
    for card, amounts in zip(("Debit", "Credit", "Business"), by_card, strict=True):
        assert f"{card}, domestic {' '.join(amounts)}" in schedule


def test_the_editions_differ_as_the_list_of_changes_says() -> None:
    changes = tomllib.loads((BANK / "source/catalogues/changes.toml").read_text(encoding="utf-8"))["change"]
    assert len(changes) >= 15
    for change in changes:
        assert change["old"] in _section_text(2025, change["section"]), change
        assert change["new"] in _section_text(2026, change["section"]), change
        assert f"{change['section']} {change['subject']} {change['old']} {change['new']}" in _section_text(2026, "1.4")


def test_the_sentence_that_the_readme_quotes_stands_in_section_4_2() -> None:
    assert "A customer may dispute a card payment within 120 days of the transaction date." in _section_text(
        2026, "4.2"
    )


def test_the_test_set_has_enough_of_every_kind() -> None:
    counts = Counter(question["kind"] for question in QUESTIONS)
    assert counts.keys() == LEAST.keys()
    assert {kind: counts[kind] for kind, least in LEAST.items() if counts[kind] < least} == {}
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)
    assert all(
        question["answerable"] == (question["kind"] not in ("not_covered", "not_allowed")) for question in QUESTIONS
    )


@pytest.mark.parametrize("question", QUESTIONS, ids=[question["id"] for question in QUESTIONS])
def test_the_evidence_stands_where_the_test_set_says_and_nowhere_else(question: dict[str, Any]) -> None:
    assert bool(question["evidence"]) == (question["kind"] != "not_covered")
    for place in question["evidence"]:
        counts = {label: text.count(place["quote"]) for label, text in _pages(place["document"]).items()}
        assert {label: count for label, count in counts.items() if count} == {place["page"]: 1}
        assert place["section"] in _pages(place["document"])[place["page"]] or place["document"].endswith(".pdf")


@pytest.mark.parametrize("question", QUESTIONS, ids=[question["id"] for question in QUESTIONS])
def test_the_evidence_is_open_to_those_and_at_the_time_the_test_set_says(question: dict[str, Any]) -> None:
    asked = datetime.date.fromisoformat(question["as_of"] or "2026-06-01")
    readers = {*question["groups"], "everyone"}
    for place in question["evidence"]:
        rights = _access(place["document"])
        assert bool(readers.intersection(rights["groups"])) == question["answerable"]
        assert rights.get("valid_from", asked) <= asked <= rights.get("valid_to", asked)


def test_every_document_says_from_when_it_is_in_force() -> None:
    files = [path.relative_to(DOCUMENTS).as_posix() for path in DOCUMENTS.rglob("*") if path.is_file()]
    documents = [file for file in files if not file.endswith(".toml") and "__pycache__" not in file]
    assert len(documents) == 6
    assert [file for file in documents if "valid_from" not in _access(file)] == []
    assert "valid from 2 January 2026" in (DOCUMENTS / "public/branch-hours.html").read_text(encoding="utf-8")


def test_what_is_not_covered_occurs_in_no_document() -> None:
    files = [path.relative_to(DOCUMENTS).as_posix() for path in DOCUMENTS.rglob("*") if path.suffix != ".toml"]
    everything = " ".join(
        text for file in files if (DOCUMENTS / file).is_file() for text in _pages(file).values()
    ).lower()
    uncovered = [question for question in QUESTIONS if question["kind"] == "not_covered"]
    assert all(question["absent"] for question in uncovered)
    assert [word for question in uncovered for word in question["absent"] if word.lower() in everything] == []


def test_the_committed_files_are_what_the_generator_makes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-B", str(BANK / "generate.py"), str(tmp_path)], check=True, timeout=240)
    made = {path.relative_to(tmp_path): path for path in tmp_path.rglob("*") if path.is_file()}
    committed = {path.relative_to(BANK) for path in DOCUMENTS.rglob("*") if path.is_file()} | {Path("testset.jsonl")}
    committed = {path for path in committed if "__pycache__" not in path.parts}
    assert made.keys() == committed
    assert [str(name) for name, path in made.items() if _content(path) != _content(BANK / name)] == []


def _content(path: Path) -> object:
    """The file's bytes, or its members' where it is a ZIP: compressed bytes differ with the version of zlib."""
    if path.suffix != ".docx":
        return path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
