from __future__ import annotations

import hashlib
import io
import os
import zipfile
from datetime import date
from pathlib import Path

import docx
import pytest

from citewell.errors import DamagedFile, EmptyFile, LimitExceeded, LoadError, PasswordNeeded
from citewell.loading import SourceFile, discover, document_id, load, parsing
from citewell.loading.formats import Format
from citewell.loading.parsing import parse
from citewell.settings import Loading
from citewell.types import EVERYONE, NOTHING, Attributes, Document, Rights, Trust
from tests.loading.checks import check_spans

LIMITS = Loading()


def saved(folder: Path, name: str, data: bytes) -> SourceFile:
    path = folder / name
    path.write_bytes(data)
    return discover([path]).files[0]


def word_file(paragraph: str = "text", main_part: bytes | None = None) -> bytes:
    """A DOCX made by python-docx, in which `main_part` may stand for what it wrote."""
    target = io.BytesIO()
    document = docx.Document()
    document.add_paragraph(paragraph)
    document.save(target)
    result = io.BytesIO()
    with zipfile.ZipFile(target) as old, zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name) if main_part is None or name != "word/document.xml" else main_part)
    return result.getvalue()


def test_a_document_carries_its_identity_and_what_the_rules_say(tmp_path: Path) -> None:
    data = b"# Fees\n\n15 EUR"
    file = saved(tmp_path, "fees.md", data)
    document = load(file, LIMITS).document
    digest = hashlib.sha256(data).hexdigest()
    assert document.id == document_id(file.source) == hashlib.sha256(file.source.encode()).hexdigest()[:16]
    assert (document.content_hash, document.version) == (digest, digest[:8])
    assert (document.title, document.source) == ("Fees", file.source)
    assert document.rights == Rights(frozenset({EVERYONE}))
    assert (document.trust, document.valid_from) == (Trust.UNREVIEWED, None)
    check_spans(document)

    said = Attributes(frozenset(), "T", "2026", date(2026, 1, 1), date(2026, 12, 31), Trust.APPROVED)
    document = load(file, LIMITS, said, ("staff",)).document
    assert document.rights == Rights(frozenset())
    assert (document.title, document.version, document.trust) == ("T", "2026", Trust.APPROVED)
    assert (document.valid_from, document.valid_to) == (date(2026, 1, 1), date(2026, 12, 31))
    assert load(file, LIMITS, NOTHING, ("staff",)).document.rights == Rights(frozenset({"staff"}))


def test_a_file_over_the_limit_is_not_even_opened(tmp_path: Path) -> None:
    file = saved(tmp_path, "big.txt", b"x" * 2000)
    file.path.chmod(0)
    with pytest.raises(LimitExceeded, match=r"2,000 bytes.*max_file_mb"):
        load(file, Loading(max_file_mb=0.001))


def test_a_file_that_has_gone_is_one_failure(tmp_path: Path) -> None:
    file = saved(tmp_path, "a.txt", b"x")
    file.path.unlink()
    with pytest.raises(LoadError, match="No such file"):
        load(file, LIMITS)


def test_a_name_that_is_not_utf8_gives_a_title_that_is(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/fee-\xff.txt"
    Path(os.fsdecode(path)).write_bytes(b"text")
    (file,) = discover([tmp_path]).files
    assert load(file, LIMITS).document.title == "fee-\ufffd"
    assert file.source.endswith("fee-%FF.txt")


@pytest.mark.parametrize("data", ["\n\n".encode("utf-16"), b"<html><body><script>x</script></body></html>"])
def test_text_that_comes_to_nothing_is_empty(data: bytes) -> None:
    with pytest.raises(EmptyFile):
        parse(data, "a.html", LIMITS)


def test_whatever_a_parser_raises_is_a_damaged_file() -> None:
    with pytest.raises(DamagedFile, match="XMLSyntaxError"):
        parse(word_file(main_part=b"<w:document"), "a.docx", LIMITS)


def test_a_scripted_parser_out_of_memory_is_one_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def scripted_out_of_memory(data: bytes, name: str, limits: Loading) -> None:
        raise MemoryError

    monkeypatch.setattr("citewell.loading.plain.document.load_plain", scripted_out_of_memory)
    with pytest.raises(LimitExceeded, match="max_memory_mb"):
        parse(b"text", "a.txt", LIMITS)


@pytest.mark.parametrize(
    ("limits", "key"),
    [
        (Loading(max_inflation=20), "max_inflation"),
        (Loading(max_text_mb=1), "max_text_mb"),
        (Loading(max_file_mb=1, max_inflation=1000), "max_file_mb"),
    ],
)
def test_what_unpacks_to_too_much_is_refused(limits: Loading, key: str) -> None:
    data = word_file("x" * 1_200_000)
    assert len(data) < 60_000
    with pytest.raises(LimitExceeded, match=key):
        parse(data, "a.docx", limits)
    assert len(parse(data, "a.docx", LIMITS).text) == 1_200_000


def test_a_directory_that_lies_about_sizes_is_found_out() -> None:
    data = word_file(main_part=b"<w:document>" + b" " * 3_000_000)
    size = (3_000_012).to_bytes(4, "little")
    assert data.count(size) == 2
    with pytest.raises(LoadError):
        parse(data.replace(size, (12).to_bytes(4, "little")), "a.docx", LIMITS)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_xml_that_declares_entities_is_refused(encoding: str) -> None:
    bomb = (
        f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE d [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">]>'
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        "<w:body><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:body></w:document>"
    )
    with pytest.raises(DamagedFile, match="document type"):
        parse(word_file(main_part=bomb.encode(encoding)), "a.docx", LIMITS)


def test_an_encrypted_archive_asks_for_its_password() -> None:
    data = bytearray(word_file())
    # The flag that a part is encrypted, in the directory's entry and the part's own header.
    for mark, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        data[data.find(mark) + offset] |= 1
    with pytest.raises(PasswordNeeded):
        parse(bytes(data), "a.docx", LIMITS)


def marked(folder: Path, front: str, said: Attributes = NOTHING, groups: tuple[str, ...] = (EVERYONE,)) -> Document:
    """A Markdown file with this front matter, loaded."""
    return load(saved(folder, "a.md", f"---\n{front}\n---\nText.".encode()), LIMITS, said, groups).document


@pytest.mark.parametrize(
    ("declared", "ruled", "default", "readers"),
    [
        ("[hr]", None, (EVERYONE,), {"hr"}),
        ("[hr, legal]", {"legal", "sales"}, (EVERYONE,), {"legal"}),
        ("[everyone]", {"hr"}, (EVERYONE,), {"hr"}),
        ("[sales]", {"hr"}, (EVERYONE,), set()),
        ("[]", {"hr"}, (EVERYONE,), set()),
        ("[hr]", None, ("staff",), set()),
    ],
)
def test_a_file_narrows_its_own_rights_and_never_widens_them(
    tmp_path: Path, declared: str, ruled: set[str] | None, default: tuple[str, ...], readers: set[str]
) -> None:
    said = Attributes(groups=None if ruled is None else frozenset(ruled))
    assert marked(tmp_path, f"groups: {declared}", said, default).rights.groups == readers


@pytest.mark.parametrize(
    ("declared", "ruled", "trust"),
    [
        ("approved", None, Trust.UNREVIEWED),
        ("untrusted", Trust.APPROVED, Trust.UNTRUSTED),
        ("approved", Trust.APPROVED, Trust.APPROVED),
        ("unreviewed", Trust.UNTRUSTED, Trust.UNTRUSTED),
    ],
)
def test_a_file_lowers_its_own_trust_and_never_raises_it(
    tmp_path: Path, declared: str, ruled: Trust | None, trust: Trust
) -> None:
    assert marked(tmp_path, f"trust: {declared}", Attributes(trust=ruled)).trust is trust


def test_rules_win_over_what_a_file_says_of_itself(tmp_path: Path) -> None:
    front = "title: Own title\nversion: '7'\nvalid_from: 2026-02-01\nlanguage: de\nauthor: A. Writer"
    own = marked(tmp_path, front)
    assert (own.title, own.version, own.valid_from, own.language) == ("Own title", "7", date(2026, 2, 1), "de")
    assert own.metadata["author"] == "A. Writer"
    said = Attributes(title="Ruled", version="8", valid_from=date(2026, 3, 1), language="fr", author="The rules")
    ruled = marked(tmp_path, front, said)
    assert (ruled.title, ruled.version, ruled.valid_from, ruled.language) == ("Ruled", "8", date(2026, 3, 1), "fr")
    assert ruled.metadata["author"] == "The rules"


@pytest.mark.parametrize(("error", "kind"), [(IndexError("x"), DamagedFile), (MemoryError(), LimitExceeded)])
def test_what_telling_the_format_raises_is_that_files_failure(
    monkeypatch: pytest.MonkeyPatch, error: Exception, kind: type[Exception]
) -> None:
    def scripted_failure(data: bytes, name: str) -> Format:
        raise error

    monkeypatch.setattr(parsing, "detect", scripted_failure)
    with pytest.raises(kind):
        parse(b"text", "a.txt", LIMITS)
