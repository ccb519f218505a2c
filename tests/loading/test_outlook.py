"""The .msg files are written by aspose-email-foss (MIT), which shares no code with the reader under test."""

from __future__ import annotations

import struct
from datetime import UTC, datetime

import pytest
from aspose.email_foss import cfb, msg

from citewell.errors import DamagedFile, LimitExceeded, PasswordNeeded
from citewell.loading.mail.eml import load_mail
from citewell.loading.mail.outlook import load_outlook
from citewell.loading.mail.outlook_rtf import unpack_rtf
from citewell.loading.parsed import Parsed
from citewell.settings import Loading
from citewell.types import ElementKind
from tests.loading.checks import of_kind, path_of, pieces

BINARY, BOOLEAN = msg.PropertyTypeCode.PTYP_BINARY, 0x000B
HTML, RTF, HIDDEN, SUBMITTED = 0x1013, 0x1009, 0x7FFE, 0x0039
# The two examples of [MS-OXRTFCP], section 4.
SIMPLE = bytes.fromhex(
    "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0"
)
CROSSING = bytes.fromhex("1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0")


def message(subject: str = "Fees", body: str = "", *, unicode_strings: bool = True) -> msg.MapiMessage:
    made = msg.MapiMessage.create(subject, body, unicode_strings=unicode_strings)
    made.set_property(msg.PropertyId.SENDER_NAME, "Jane Roe")
    made.set_property(msg.PropertyId.SENDER_EMAIL_ADDRESS, "jane@example.com")
    made.set_property(SUBMITTED, msg.PropertyTypeCode.PTYP_TIME, datetime(2024, 3, 4, 9, 12, tzinfo=UTC))
    made.add_recipient("max@example.com", display_name="Max")
    made.add_recipient("ann@example.com", display_name="Ann", recipient_type=msg.RECIPIENT_TYPE_CC)
    return made


def read(made: msg.MapiMessage | bytes, **limits: object) -> Parsed:
    data = made if isinstance(made, bytes) else made.to_bytes()
    return load_outlook(data, "saved.msg", Loading.model_validate(limits))


def test_the_same_as_of_a_mail() -> None:
    made = message(body="It is 12 EUR.\r\n\r\nOn Mon, Mar 4, 2024 at 10:12 AM Max wrote:\r\n> What is the fee?\r\n")
    made.add_attachment("fees.txt", b"Wire: 5 EUR", mime_type="text/plain")
    parsed = read(made)
    assert parsed.title == "Fees"
    assert pieces(parsed)[:3] == [
        (ElementKind.HEADING, "Fees"),
        (
            ElementKind.PARAGRAPH,
            (
                "From: Jane Roe <jane@example.com>\nTo: Max <max@example.com>\nCc: Ann <ann@example.com>\n"
                "Date: 2024-03-04 09:12 UTC"
            ),
        ),
        (ElementKind.PARAGRAPH, "It is 12 EUR."),
    ]
    assert path_of(parsed, "What is the fee?") == ("Fees", "Quoted reply")
    assert of_kind(parsed, ElementKind.LIST) == ["Attachments:\n- fees.txt"]
    assert parsed.metadata == {
        "from": "Jane Roe <jane@example.com>",
        "to": "Max <max@example.com>",
        "cc": "Ann <ann@example.com>",
        "date": "2024-03-04T09:12:00+00:00",
        "subject": "Fees",
    }
    assert [(inside.name, inside.data) for inside in parsed.inside] == [("fees.txt", b"Wire: 5 EUR")]


def test_text_in_a_code_page() -> None:
    made = message("Gebühr", "Zwölf Euro – immer.", unicode_strings=False)
    parsed = read(made)
    assert parsed.title == "Gebühr"
    assert "Zwölf Euro" in parsed.text


def test_a_body_in_html_alone() -> None:
    made = message()
    made.set_property(HTML, BINARY, "<html><body><h2>Prices</h2><p>Zwölf Euro.</p></body></html>".encode())
    parsed = read(made)
    assert path_of(parsed, "Zwölf Euro.") == ("Fees", "Prices")


def test_a_body_in_rtf_alone() -> None:
    made = message()
    text = rb"{\rtf1\ansi\ansicpg1252 Zw\'f6lf Euro.\par Immer.\par}"
    made.set_property(RTF, BINARY, struct.pack("<II4sI", len(text) + 12, len(text), b"MELA", 0) + text)
    assert of_kind(read(made), ElementKind.PARAGRAPH)[1:] == ["Zwölf Euro.", "Immer."]
    made.set_property(RTF, BINARY, SIMPLE)
    assert of_kind(read(made), ElementKind.PARAGRAPH)[1:] == ["hello world"]


def test_compressed_rtf() -> None:
    assert unpack_rtf(SIMPLE, Loading()) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
    assert unpack_rtf(CROSSING, Loading()) == b"{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}"
    for cut in range(len(SIMPLE)):
        try:
            assert len(unpack_rtf(SIMPLE[:cut], Loading())) <= 43
        except DamagedFile:
            assert cut < 16
    with pytest.raises(DamagedFile, match="unknown kind"):
        unpack_rtf(SIMPLE.replace(b"LZFu", b"ABCD"), Loading())
    with pytest.raises(LimitExceeded):
        unpack_rtf(struct.pack("<II4sI", 30, 2_000_000_000, b"LZFu", 0) + SIMPLE[16:], Loading())


def test_a_mail_in_the_mail_becomes_one_that_stands_alone() -> None:
    innermost = message("Innermost", "The innermost text.")
    inner = message("Innér", "The inner text.\n\nSecond paragraph.")
    inner.add_attachment("Gebühr.bin", bytes(range(256)))
    inner.add_embedded_message_attachment(innermost)
    outer = message("Outer", "The outer text.")
    outer.add_embedded_message_attachment(inner)
    parsed = read(outer)
    assert "inner text" not in parsed.text
    (inside,) = parsed.inside
    assert inside.name.endswith(".eml")
    child = load_mail(inside.data, inside.name, Loading())
    assert child.title == "Innér"
    assert "Second paragraph." in child.text
    assert child.metadata["from"] == "Jane Roe <jane@example.com>"
    assert child.metadata["date"] == "2024-03-04T09:12:00+00:00"
    assert child.inside[0].name == "Gebühr.bin"
    assert child.inside[0].data == bytes(range(256))
    assert "The innermost text." in load_mail(child.inside[1].data, "x.eml", Loading()).text


def test_pictures_shown_in_the_text_are_left_out() -> None:
    made = message(body="See the picture.")
    for name, size, hidden in (("icon.png", 500, True), ("shot.png", 50_000, True), ("small.png", 500, False)):
        made.add_attachment(name, bytes(size)).set_property(HIDDEN, BOOLEAN, hidden)
    assert [inside.name for inside in read(made).inside] == ["shot.png", "small.png"]


def test_encrypted_and_signed_mails() -> None:
    made = message()
    made.message_class = "IPM.Note.SMIME"
    made.add_attachment("smime.p7m", b"0\x80")
    with pytest.raises(PasswordNeeded):
        read(made)
    signed = message()
    signed.message_class = "IPM.Note.SMIME.MultipartSigned"
    signed.add_attachment("smime.p7m", b"Content-Type: text/plain\r\n\r\nThe signed text.\r\n")
    parsed = read(signed)
    assert "The signed text." in parsed.text
    assert parsed.inside == ()
    pgp = message()
    pgp.add_attachment("a", b"Version: 1", mime_type="application/pgp-encrypted")
    with pytest.raises(PasswordNeeded):
        read(pgp)


def test_more_attachments_than_the_limit() -> None:
    made = message(body="text")
    for number in range(4):
        made.add_attachment("a.txt", str(number).encode())
    parsed = read(made, max_inside=3)
    assert [inside.name for inside in parsed.inside] == ["a.txt", "a (2).txt", "a (3).txt"]
    assert parsed.lost == ("1 attachments were left out (max_inside in [loading])",)


def test_streams_that_share_their_bytes_are_refused() -> None:
    """Every attachment's data is made to be the first's: a small file that would unpack to a large one."""
    made = message(body="text")
    for number in range(20):
        made.add_attachment(f"{number}.bin", bytes([number + 1]) * (5_000 if number else 400_000))
    assert len(read(made).inside) == 20
    data = bytearray(made.to_bytes())
    name = "__substg1.0_37010102".encode("utf-16-le")
    # Of an entry of the directory: the first sector at 116, the size at 120.
    entries = [place for place in range(0, len(data), 128) if data.startswith(name, place)]
    (first,) = (place for place in entries if struct.unpack_from("<Q", data, place + 120)[0] == 400_000)
    assert len(entries) == 20
    for place in entries:
        data[place + 116 : place + 128] = data[first + 116 : first + 128]
    with pytest.raises(DamagedFile, match="over each other"):
        read(bytes(data))


def test_an_object_of_another_program() -> None:
    root = cfb.CFBStorage("Root Entry")
    root.add_stream(cfb.CFBStream("__properties_version1.0", bytes(32)))
    folder = root.add_storage(cfb.CFBStorage("__attach_version1.0_#00000000"))
    folder.add_stream(cfb.CFBStream("__properties_version1.0", bytes(8)))
    folder.add_storage(cfb.CFBStorage("__substg1.0_3701000D"))
    parsed = read(cfb.CFBWriter.to_bytes(cfb.CFBDocument(root=root)))
    assert parsed.lost == ("attachment 1 is an object of another program in the mail",)
    assert parsed.title == "saved"
