from __future__ import annotations

import io
import stat
import struct
import zipfile

import pytest

from citewell.errors import DamagedFile, LimitExceeded, PasswordNeeded
from citewell.loading.parsed import Parsed
from citewell.loading.zipped import load_zip
from citewell.settings import Loading
from citewell.types import ElementKind
from tests.loading.checks import pieces


def archive(*members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as file:
        for name, data in members:
            file.writestr(name, data)
    return target.getvalue()


def read(data: bytes, **limits: object) -> Parsed:
    return load_zip(data, "papers.zip", Loading.model_validate(limits))


def names(parsed: Parsed) -> list[str]:
    return [inside.name for inside in parsed.inside]


def test_members_are_inside_and_their_names_are_the_text() -> None:
    parsed = read(archive(("fees.md", b"# Fees"), ("2024/rules.txt", b"Rules"), ("empty/", b"")))
    assert parsed.title == "papers"
    assert pieces(parsed) == [(ElementKind.LIST, "- fees.md\n- 2024/rules.txt")]
    assert [(inside.name, inside.data) for inside in parsed.inside] == [
        ("fees.md", b"# Fees"),
        ("2024/rules.txt", b"Rules"),
    ]
    assert parsed.lost == ()


def test_hidden_and_ignored_files_are_left_out() -> None:
    left_out = ("__MACOSX/._a.txt", ".DS_Store", "x/.git/config", "node_modules/x/a.md", "~$a.docx", "x/Thumbs.db")
    parsed = read(archive(("../a.txt", b"a"), *((name, b"x") for name in left_out)))
    assert names(parsed) == ["../a.txt"]
    assert names(read(archive(("x/draft/a.txt", b"a"), ("b.txt", b"b")), ignore=["x/draft"])) == ["b.txt"]


def test_names_in_utf8_without_the_mark_and_in_the_old_code_page() -> None:
    marked = archive(("Gebühren.txt", b"x"))
    # As archivers of macOS write it: UTF-8, and no flag that says so.
    unmarked = bytearray(marked)
    for header, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = unmarked.index(header) + offset
        assert struct.unpack_from("<H", unmarked, place)[0] == 0x800
        struct.pack_into("<H", unmarked, place, 0)
    old = bytes(unmarked).replace("Gebühren.txt".encode(), "Gebühren.txtx".encode("cp437"))
    assert names(read(marked)) == names(read(bytes(unmarked))) == ["Gebühren.txt"]
    assert names(read(old)) == ["Gebühren.txtx"]


def test_a_damaged_member_is_named_and_the_others_are_read() -> None:
    data = archive(("a.txt", b"first file"), ("b.txt", b"second file"), method=zipfile.ZIP_STORED)
    parsed = read(data.replace(b"first file", b"FIRST file"))
    assert names(parsed) == ["b.txt"]
    assert parsed.lost == ("a.txt cannot be unpacked (Bad CRC-32 for file 'a.txt')",)


def test_an_unknown_compression_is_named() -> None:
    data = bytearray(archive(("a.txt", b"first"), ("b.txt", b"second")))
    for header, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        struct.pack_into("<H", data, data.index(header) + offset, 97)
    parsed = read(bytes(data))
    assert names(parsed) == ["b.txt"]
    assert "a.txt cannot be unpacked" in parsed.lost[0]


def test_a_link_is_named_and_not_followed() -> None:
    link = zipfile.ZipInfo("notes.txt")
    link.create_system = 3
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    parsed = read(archive((link, b"/etc/passwd"), ("a.txt", b"a")))
    assert names(parsed) == ["a.txt"]
    assert parsed.lost == ("notes.txt is a symbolic link and was not followed",)


def test_an_encrypted_member_asks_for_a_password() -> None:
    data = bytearray(archive(("a.txt", b"secret")))
    for header, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(header) + offset] |= 1
    with pytest.raises(PasswordNeeded):
        read(bytes(data))


def test_too_many_members() -> None:
    data = archive(*((f"{number}.txt", b"x") for number in range(5)))
    assert len(read(data, max_inside=5).inside) == 5
    with pytest.raises(LimitExceeded, match="max_inside"):
        read(data, max_inside=4)


def test_a_bomb_is_refused_by_what_its_directory_says() -> None:
    with pytest.raises(LimitExceeded, match="max_inflation"):
        read(archive(("a.txt", bytes(3_000_000))))
    with pytest.raises(LimitExceeded, match="max_file_mb"):
        read(archive(("a.txt", bytes(3_000_000))), max_inflation=10_000, max_file_mb=2)


def test_a_bomb_whose_directory_lies_ends_with_what_it_said() -> None:
    data = bytearray(archive(("a.txt", bytes(3_000_000))))
    struct.pack_into("<I", data, data.index(b"PK\x01\x02") + 24, 100)
    parsed = read(bytes(data))
    # The library stops at the size in the directory; the checksum shows the lie.
    assert parsed.inside == ()
    assert "a.txt cannot be unpacked" in parsed.lost[0]


def test_members_that_share_their_bytes_are_refused() -> None:
    data = bytearray(archive(("a.txt", b"0123456789" * 50), ("b.txt", b"x"), method=zipfile.ZIP_STORED))
    second = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, second + 42, 10)  # b.txt is said to begin inside a.txt
    with pytest.raises(DamagedFile, match="over each other"):
        read(bytes(data))


def test_equal_names_are_shown_distinct() -> None:
    composed, decomposed = "caf\u00e9.txt", "cafe\u0301.txt"
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = archive(("a.txt", b"1"), ("a.txt", b"2"), ("A.txt", b"3"), (composed, b"4"), (decomposed, b"5"))
    assert names(read(data)) == ["a.txt", "a (2).txt", "A.txt", composed, "cafe\u0301 (2).txt"]
    assert [inside.data for inside in read(data).inside] == [b"1", b"2", b"3", b"4", b"5"]


def test_an_archive_of_nothing() -> None:
    parsed = read(archive(("folder/", b"")))
    assert (parsed.elements, parsed.inside) == ((), ())
