"""Files whose names lie: each is read as what it is, and told once."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from citewell import Index
from citewell.diagnosis import Severity, examine
from citewell.loading.endings import unlike_its_name
from citewell.loading.formats import Format, detect
from citewell.settings import Settings
from citewell.types import FileState
from tests.loading.test_load import word_file

ROOT = Path(__file__).parents[2]
MANUAL = next((ROOT / "examples/bank/documents").rglob("*.pdf"))
PAGE = b"<!DOCTYPE html><html><head><title>Fees</title></head><body><p>A transfer costs 25 EUR.</p></body></html>"


def picture() -> bytes:
    target = io.BytesIO()
    Image.new("RGB", (40, 40), "white").save(target, "PNG")
    return target.getvalue()


def zipped() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("fees.txt", "A transfer costs 25 EUR.")
    return target.getvalue()


# Name, bytes, and what it is.
LIES = [
    ("manual.txt", MANUAL.read_bytes(), "a PDF"),
    ("scan.pdf", picture(), "an image"),
    ("letter.docx", zipped(), "a zip archive"),
    ("letter.zip", word_file("A transfer costs 25 EUR."), "a Word document (DOCX)"),
    ("letter.pdf", word_file("A transfer costs 25 EUR."), "a Word document (DOCX)"),
    ("page.md", PAGE, "HTML"),
    ("page.pdf", PAGE, "HTML"),
    ("page.html", b"A transfer costs 25 EUR.", "plain text"),
    ("report.pdf", b"A transfer costs 25 EUR.", "plain text"),
    ("sheet.xlsx", b"fee,amount\ntransfer,25\n", "plain text"),
    ("letter.doc", b"{\\rtf1 A transfer costs 25 EUR.}", "an RTF document"),
    ("records.csv", json.dumps([{"fee": 25}, {"fee": 30}]).encode(), "JSON"),
]
TRUE = [
    ("notes.txt", b"A transfer costs 25 EUR."),
    ("README", b"A transfer costs 25 EUR."),
    ("server.log", b'{"fee": 25}\n{"fee": 30}'),
    ("photo.jpg", picture()),
    ("page.htm", PAGE),
    ("scheme.xml", b"<?xml version='1.0'?><a>text</a>"),
    ("letter.docm", word_file("A transfer costs 25 EUR.")),
]


@pytest.mark.parametrize(("name", "data", "kind"), LIES, ids=[name for name, _, _ in LIES])
def test_a_lie_is_told_with_what_the_file_is(name: str, data: bytes, kind: str) -> None:
    told = unlike_its_name(detect(data, name), name)
    assert told.startswith(f"it is {kind} though its name ends in .{name.rpartition('.')[2]}")


@pytest.mark.parametrize(("name", "data"), TRUE, ids=[name for name, _ in TRUE])
def test_what_is_as_it_is_named_is_not_told(name: str, data: bytes) -> None:
    assert not unlike_its_name(detect(data, name), name)


def test_every_format_has_a_name() -> None:
    assert all("it is" in unlike_its_name(form, "a.gif") for form in Format)


def test_it_is_told_once_and_stays_with_the_document(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "page.md").write_bytes(PAGE)
    (files / "broken.json").write_text('{"card": "A lost card is blocked at once.",\n "fee": }')
    (files / "honest.txt").write_text("The desk opens at nine.")
    with Index.create(tmp_path / "index") as index:
        first = {Path(file.source).name: file for file in index.add(files).files}
        assert {file.state for file in first.values()} == {FileState.ADDED}
        assert first["page.md"].warnings == ("It is HTML though its name ends in .md, and was read as what it is.",)
        assert first["broken.json"].warnings == (
            "It is no valid JSON from line 2, column 9 on, and was read as plain lines.",
        )
        assert not first["honest.txt"].warnings
        again = index.add(files)
        assert {(file.state, file.reason, file.warnings) for file in again.files} == {(FileState.UNCHANGED, "", ())}
        refused = index.ask("How is a sourdough starter fed in winter?")
        assert refused.abstained
        assert refused.warnings == ()
        assert index.ask("When is a lost card blocked?").warnings == ()
        page = index.show(str(files / "page.md"))
        assert "<p>" not in page.text
        assert page.text == "A transfer costs 25 EUR."
    looked = [check for check in examine(tmp_path / "index", Settings) if check.name == "loaded"]
    assert [check.severity for check in looked] == [Severity.WARNING] * 2
    assert all(one.message.partition(": ")[0].endswith(("broken.json", "page.md")) for one in looked)
