"""Every real file of the shared data, through `load`: found, refused or read, and what must be in it is in it."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from citewell.errors import EmptyFile, LimitExceeded, LoadError, PasswordNeeded, UnsupportedFormat
from citewell.loading import load
from citewell.loading.discovery import discover
from citewell.settings import Loading
from citewell.types import Document, ElementKind, PageState
from tests.loading.checks import check_spans

SHARED = Path(os.environ.get("CITEWELL_SHARED", Path(__file__).parents[2] / ".." / "shared")).resolve()
FOLDER = SHARED / "data" / "documents"
MANIFEST = FOLDER / "manifest.jsonl"
pytestmark = pytest.mark.skipif(not MANIFEST.exists(), reason="the shared documents are not there (CITEWELL_SHARED)")

LINES = MANIFEST.read_text(encoding="utf-8").splitlines() if MANIFEST.exists() else []
CASES: dict[str, dict[str, Any]] = {Path(case["file"]).name: case for case in map(json.loads, LINES)}

REFUSED: dict[str, tuple[type[LoadError], str]] = {
    "empty.pdf": (EmptyFile, "empty"),
    "empty.txt": (EmptyFile, "empty"),
    "fake-text-all-whitespace.txt": (EmptyFile, "empty"),
    "random.bin": (UnsupportedFormat, "binary data"),
    "zip-bomb-like.docx": (LimitExceeded, "max_inflation"),
    "r6-user-password.pdf": (PasswordNeeded, "password"),
    "powerpoint_sample.pptx": (UnsupportedFormat, "PPTX"),
    "xlsx_01.xlsx": (UnsupportedFormat, "XLSX"),
    "xlsx_04_inflated.xlsx": (UnsupportedFormat, "XLSX"),
    "eml_with_attachment.eml": (UnsupportedFormat, "e-mail"),
    "fake-email-attachment.eml": (UnsupportedFormat, "e-mail"),
}
READ = [pytest.param(case, id=name) for name, case in CASES.items() if name not in REFUSED]


def read(name: str) -> Document:
    (file,) = discover([FOLDER / "files" / name])
    return load(file, Loading())


def spaced(text: str) -> str:
    return " ".join(text.split())


def expected_texts(case: dict[str, Any]) -> list[str]:
    """What must be found; in a delimited table, the cells as the table's row shows them."""
    texts: list[str] = case.get("must_contain", [])
    return [" | ".join(next(csv.reader([text]))) if "csv" in case["traits"] else text for text in texts]


def test_the_manifest_is_the_folder() -> None:
    assert len(CASES) == 41
    assert {file.path.name for file in discover([FOLDER / "files"])} == set(CASES)


@pytest.mark.parametrize("case", READ)
def test_what_must_be_in_a_file_is_found(case: dict[str, Any]) -> None:
    document = read(Path(case["file"]).name)
    check_spans(document)
    assert document.content_hash == case["sha256"]
    assert len(document.pages) == (case.get("pages", 0) if "pdf" in case["traits"] else 0)
    if case.get("needs_ocr"):
        assert {page.state for page in document.pages} == {PageState.NEEDS_OCR}
        assert document.elements == ()
    else:
        text = spaced(document.text)
        assert [one for one in expected_texts(case) if spaced(one) not in text] == []


@pytest.mark.parametrize(("name", "kind", "reason"), [(name, *why) for name, why in REFUSED.items()])
def test_hostile_empty_and_later_formats_are_refused_with_a_reason(
    name: str, kind: type[LoadError], reason: str
) -> None:
    with pytest.raises(kind, match=reason) as caught:
        read(name)
    assert caught.value.remedy


def test_columns_are_read_in_order() -> None:
    first, second = CASES["multi-column-2p.pdf"]["order"]
    text = spaced(read("multi-column-2p.pdf").text)
    assert 0 <= text.index(first) < text.index(second)


def test_the_handbook_has_its_headings_and_notes() -> None:
    document = read("handbook-872p.docx")
    kinds = [element.kind for element in document.elements]
    assert kinds.count(ElementKind.HEADING) == 294
    assert kinds.count(ElementKind.FOOTNOTE) == 6
    deepest = max((element.heading_path for element in document.elements), key=len)
    assert len(deepest) == 3


def test_word_numbers_headings() -> None:
    paths = {element.heading_path for element in read("unit_test_headers_numbered.docx").elements}
    assert ("1. Section 1", "1.2. Section 1.2", "1.2.1. Section 1.2.3") in paths


def test_a_wikipedia_page_is_its_article() -> None:
    document = read("wiki_duck.html")
    assert document.title == "Duck - Wikipedia"
    assert document.language == "en"
    assert document.text.startswith("Duck\n")
    assert not {"Main menu", "Create account", "Edit links", "move to sidebar", "Jump to content", "[edit]"} & {
        document.text[element.start : element.end] for element in document.elements
    }
    assert "Create account" not in document.text
    assert "147 languages" not in document.text
    assert "Kingdom: | Animalia" in document.text
    paths = [element.heading_path for element in document.elements if element.kind is ElementKind.HEADING]
    assert ("Duck", "Behaviour", "Feeding") in paths
    assert len(paths) == 20


def test_nested_tables_keep_their_place() -> None:
    document = read("table_06.html")
    texts = [document.text[element.start : element.end] for element in document.elements]
    assert texts == [
        "Header",
        "This is the first paragraph.",
        "A | B\nA1, B1, C1; D1; I, II; III, IV; V; E1, E2; E3, E4; VII, VIII; F1 | 2...",
        "After table",
    ]


def test_preformatted_lines_stay_lines() -> None:
    document = read("fake-html-cp1252.html")
    (block,) = [one for one in document.elements if one.kind is ElementKind.CODE]
    assert document.text[block.start : block.end].count("\n") == 5


PEAK = """
import resource, sys
from pathlib import Path
from citewell.errors import LoadError
from citewell.loading import load
from citewell.loading.discovery import discover
from citewell.settings import Loading
done = 0
for file in discover([Path(sys.argv[1])]):
    try:
        load(file, Loading())
    except LoadError:
        pass
    done += 1
print(done, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_all_of_them_fit_in_memory() -> None:
    command = [sys.executable, "-W", "error", "-c", PEAK, str(FOLDER / "files")]
    done, kilobytes = map(int, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert done == 41
    # ru_maxrss is in bytes on macOS.
    assert kilobytes * (1 if sys.platform == "darwin" else 1024) < 1_000_000_000
