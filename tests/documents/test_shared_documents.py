"""Every real file of the shared data, through `load`: found, refused or read, and what must be in it is in it."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from citewell.errors import EmptyFile, LimitExceeded, LoadError, PasswordNeeded, UnsupportedFormat
from citewell.loading import Loaded, load
from citewell.loading.discovery import discover
from citewell.settings import Loading
from citewell.types import Document, ElementKind, PageState, Trust
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
}
# What is not drawn and not what the picture shows is left out: see docs/security.md.
MISSED = {"invisible_text_layer": ["Invisible OCR text layer"]}
READ = [pytest.param(case, id=name) for name, case in CASES.items() if name not in REFUSED]


@cache
def loaded(name: str) -> Loaded:
    (file,) = discover([FOLDER / "files" / name]).files
    return load(file, Loading())


def read(name: str) -> Document:
    return loaded(name).document


def text_of(found: Loaded) -> str:
    """All that is indexed of a file: its own text and that of the files in it."""
    inner = (load(file, Loading()) for file in found.inside)
    return " ".join([spaced(found.document.text), *map(text_of, inner)])


def spaced(text: str) -> str:
    return " ".join(text.split())


def expected_texts(case: dict[str, Any]) -> list[str]:
    """What must be found; in a delimited table, the cells as the table's row shows them."""
    texts: list[str] = case.get("must_contain", [])
    return [" | ".join(next(csv.reader([text]))) if "csv" in case["traits"] else text for text in texts]


def test_the_manifest_is_the_folder() -> None:
    assert len(CASES) == 41
    assert {file.path.name for file in discover([FOLDER / "files"]).files} == set(CASES)


@pytest.mark.parametrize("case", READ)
def test_what_must_be_in_a_file_is_found(case: dict[str, Any]) -> None:
    document = read(Path(case["file"]).name)
    check_spans(document)
    assert document.content_hash == case["sha256"]
    assert len(document.pages) == sum(case.get(key, 0) for key in ("pages", "slides", "sheets"))
    text = text_of(loaded(Path(case["file"]).name))
    missed = [one for one in expected_texts(case) if spaced(one) not in text]
    assert missed == MISSED.get(document.title, [])
    if case.get("needs_ocr"):
        assert [page.state for page in document.pages] == [PageState.TEXT]
        assert document.pages[0].confidence is not None
        assert document.pages[0].confidence > 0.8


def test_a_layer_that_its_picture_does_not_show_is_left_out_and_named() -> None:
    document = read("invisible_text_layer.pdf")
    assert [page.state for page in document.pages] == [PageState.SUSPICIOUS]
    assert document.trust is Trust.UNTRUSTED


def test_a_page_without_the_ocr_that_it_needs_is_lost_and_named() -> None:
    (file,) = discover([FOLDER / "files" / "ocr_test.pdf"]).files
    document = load(file, Loading(ocr="off")).document
    assert [page.state for page in document.pages] == [PageState.NEEDS_OCR]
    assert document.elements == ()
    assert document.lost.startswith("page 1: ")


def test_a_password_of_the_secrets_opens_a_file() -> None:
    case = CASES["r6-user-password.pdf"]
    (file,) = discover([FOLDER / "files" / "r6-user-password.pdf"]).files
    assert load(file, Loading(), passwords=("wrong", case["password"])).document.text
    with pytest.raises(PasswordNeeded, match="password") as caught:
        load(file, Loading(), passwords=("wrong-one",))
    assert "wrong-one" not in str(caught.value)


def test_a_sheet_that_is_hidden_is_skipped_and_one_that_claims_a_million_rows_is_read() -> None:
    assert [page.state for page in read("xlsx_01.xlsx").pages] == [PageState.TEXT] * 3 + [PageState.SKIPPED]
    assert len(read("xlsx_04_inflated.xlsx").text) < 2_000


def test_merged_cells_of_a_scanned_table_are_recovered() -> None:
    document = read("table-multi-row-column-cells.pdf")
    (table,) = [element for element in document.elements if element.kind is ElementKind.TABLE]
    header, *rows = [row.split(" | ") for row in document.text[table.start : table.end].split("\n")]
    with (FOLDER / "files" / "table-multi-row-column-cells-actual.csv").open(encoding="utf-8") as file:
        _, _, *expected = csv.reader(file)
    assert rows == expected
    # Two rows of column names, where "Results" stands over two of them.
    assert header[4:] == ["Results Accuracy", "Results Time to complete"]
    assert table.header_rows == 1


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
from citewell.loading import isolation, load
from citewell.loading.discovery import discover
from citewell.settings import Loading
done = 0
for file in discover([Path(sys.argv[1])]).files:
    try:
        load(file, Loading())
    except LoadError:
        pass
    done += 1
isolation.stop_waiting()
largest_reader = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
status = Path("/proc/self/status")
if status.exists():  # ru_maxrss would begin with what the process held that started this one
    print(done, status.read_text().split("VmHWM:")[1].split()[0], largest_reader)
else:
    print(done, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, largest_reader)
"""


def test_all_of_them_fit_in_memory() -> None:
    command = [sys.executable, "-W", "error", "-c", PEAK, str(FOLDER / "files")]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.stderr == ""
    done, own, largest_reader = map(int, ran.stdout.split())
    assert done == 41
    unit = 1 if sys.platform == "darwin" else 1024  # ru_maxrss is in bytes on macOS
    assert own * unit < 1_000_000_000
    # One that reads several scans, one after the other, holds more than one page needs.
    assert largest_reader * unit < 2_000_000_000
