from __future__ import annotations

import base64
import os
from email.message import EmailMessage
from email.mime.multipart import MIMEMultipart
from email.policy import SMTP
from pathlib import Path

import pytest

from citewell.errors import DamagedFile, LimitExceeded, PasswordNeeded
from citewell.loading.mail.eml import load_mail
from citewell.loading.parsed import Parsed
from citewell.settings import Loading
from citewell.types import ElementKind
from tests.loading.checks import of_kind, path_of, pieces

SHARED = Path(os.environ.get("CITEWELL_SHARED", Path(__file__).parents[2] / ".." / "shared")).resolve()
MAILS = SHARED / "data" / "documents" / "files"


def read(mail: bytes | EmailMessage, **limits: object) -> Parsed:
    data = mail if isinstance(mail, bytes) else mail.as_bytes(policy=SMTP)
    return load_mail(data, "saved.eml", Loading.model_validate(limits))


def mail(text: str = "", subject: str = "Fees", **headers: str) -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Jane Roe <jane@example.com>"
    message["To"] = "Max <max@example.com>"
    message["Subject"] = subject
    for name, value in headers.items():
        message[name] = value
    if text:
        message.set_content(text)
    return message


def raw(headers: str, body: str) -> bytes:
    return f"From: a@example.com\r\nMIME-Version: 1.0\r\n{headers}\r\n\r\n{body}".encode()


def test_headers_body_and_attachment() -> None:
    message = mail(
        "Dear Max,\n\nthe fee is 12 EUR.\n", Cc="Ann <ann@example.com>", Date="Mon, 04 Mar 2024 10:12:00 +0100"
    )
    message.add_attachment("Wire: 5 EUR", filename="fees.txt")
    parsed = read(message)
    assert parsed.title == "Fees"
    assert pieces(parsed) == [
        (ElementKind.HEADING, "Fees"),
        (
            ElementKind.PARAGRAPH,
            (
                "From: Jane Roe <jane@example.com>\nTo: Max <max@example.com>\nCc: Ann <ann@example.com>\n"
                "Date: Mon, 04 Mar 2024 10:12:00 +0100"
            ),
        ),
        (ElementKind.PARAGRAPH, "Dear Max,"),
        (ElementKind.PARAGRAPH, "the fee is 12 EUR."),
        (ElementKind.LIST, "Attachments:\n- fees.txt"),
    ]
    assert {element.heading_path for element in parsed.elements} == {("Fees",)}
    assert parsed.metadata == {
        "from": "Jane Roe <jane@example.com>",
        "to": "Max <max@example.com>",
        "cc": "Ann <ann@example.com>",
        "date": "2024-03-04T10:12:00+01:00",
        "subject": "Fees",
    }
    assert [(inside.name, inside.data.strip()) for inside in parsed.inside] == [("fees.txt", b"Wire: 5 EUR")]
    assert (parsed.lost, parsed.suspicious) == ((), ())


@pytest.mark.skipif(not MAILS.exists(), reason="the shared documents are not there (CITEWELL_SHARED)")
def test_real_mails() -> None:
    first = load_mail((MAILS / "fake-email-attachment.eml").read_bytes(), "a.eml", Loading())
    assert first.title == "Fake email with attachment"
    assert "Attachments:\n- fake-attachment.txt" in first.text
    assert first.inside[0].data == b"Hey this is a fake attachment!"
    assert first.metadata["date"] == "2022-12-23T12:08:48-06:00"
    second = load_mail((MAILS / "eml_with_attachment.eml").read_bytes(), "b.eml", Loading())
    assert "This email contains an attachment." in second.text
    assert b"It contains some dummy content." in second.inside[0].data
    # Neither ends with a line end after its last boundary.
    assert first.lost == second.lost == ()


def test_plain_text_before_html_but_not_where_it_only_says_that_there_is_html() -> None:
    message = mail("The fee is 12 EUR, says the plain text.")
    message.add_alternative("<p>The fee is <b>12</b> EUR, says the page.</p>", subtype="html")
    assert "says the plain text" in read(message).text
    assert "says the page" not in read(message).text
    message = mail("See the HTML.")
    rows = "".join(f"<tr><td>Service number {row}</td><td>{row} EUR</td></tr>" for row in range(9))
    message.add_alternative(f"<h2>Prices</h2><table>{rows}</table>", subtype="html")
    parsed = read(message)
    assert "See the HTML" not in parsed.text
    assert "Service number 3 | 3 EUR" in of_kind(parsed, ElementKind.TABLE)[0]
    assert path_of(parsed, "Service number 3") == ("Fees", "Prices")


def test_quoted_text_has_a_path_of_its_own() -> None:
    attribution = "On Mon, Mar 4, 2024 at 10:12 AM Max wrote:"
    parsed = read(mail(f"It is 12 EUR.\n\n{attribution}\n> What is the fee?\n>\n> Max\n"))
    assert path_of(parsed, "It is 12 EUR.") == ("Fees",)
    assert path_of(parsed, "What is the fee?") == ("Fees", "Quoted reply")
    assert "> What" not in parsed.text


def test_quoted_text_in_html() -> None:
    message = mail()
    message.set_content(
        "<p>It is 12 EUR.</p><div>Regards<br>Jane<br><br>On Mon, Mar 4, 2024 at 10:12 AM Max wrote:<br></div>"
        "<blockquote><p>What is the fee?</p></blockquote>",
        subtype="html",
    )
    parsed = read(message)
    assert path_of(parsed, "It is 12 EUR.") == path_of(parsed, "Regards\nJane") == ("Fees",)
    assert path_of(parsed, "10:12 AM Max wrote:") == path_of(parsed, "What is the fee?") == ("Fees", "Quoted reply")
    assert "Jane\nOn Mon" not in parsed.text


def test_an_attached_mail_is_a_mail_inside() -> None:
    inner = mail("The inner text.", subject="Inner")
    inner.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="p.png")
    outer = mail("The outer text.")
    outer.add_attachment(inner)
    parsed = read(outer)
    assert "inner text" not in parsed.text
    assert [inside.name for inside in parsed.inside] == ["Inner.eml"]
    child = load_mail(parsed.inside[0].data, parsed.inside[0].name, Loading())
    assert child.title == "Inner"
    assert "The inner text." in child.text
    assert [(inside.name, inside.data) for inside in child.inside] == [("p.png", b"\x89PNG")]


def test_small_pictures_in_the_text_are_left_out() -> None:
    message = mail()
    message.set_content("<p>See <img src='cid:a'> and <img src='cid:b'></p>", subtype="html")
    for cid, size in (("<a>", 500), ("<b>", 50_000)):
        message.add_related(bytes(size), "image", "png", cid=cid, disposition="inline", filename=f"{size}.png")
    message.add_attachment(bytes(600), maintype="image", subtype="png", filename="signed.png")
    assert [inside.name for inside in read(message).inside] == ["50000.png", "signed.png"]


def test_names_of_attachments() -> None:
    message = mail("See below.")
    for name in ("../../etc/x.txt", "a.txt", "a.txt", "Gebühren 2024.txt"):
        message.add_attachment("x", filename=name)
    message.add_attachment(b"x", maintype="application", subtype="pdf")
    assert [inside.name for inside in read(message).inside] == [
        "../../etc/x.txt",
        "a.txt",
        "a (2).txt",
        "Gebühren 2024.txt",
        "attachment 5.pdf",
    ]
    # As many programs write it, against the standard.
    word = "=?utf-8?q?Geb=C3=BChren=2Etxt?="
    attached = (
        'multipart/mixed; boundary="b"\r\n\r\n--b\r\nContent-Disposition: attachment; filename="{}"\r\n\r\nx\r\n--b--'
    )
    for name in (word, "Gebühren.txt"):
        assert read(raw("Content-Type: " + attached.format(name), "")).inside[0].name == "Gebühren.txt"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("=?utf-8?b?w4RuZGVydW5n?= der =?iso-8859-1?q?Geb=FChren?=", "Änderung der Gebühren"),
        ("=?utf-8?q?one?=\r\n =?utf-8?q?_two?=", "one two"),
        # A sign's bytes are cut between two words.
        ("=?utf-8?q?Geb=C3?= =?utf-8?q?=BChr?=", "Gebühr"),
        ("=?utf-8?b?R2Viw7xocg?=", "Gebühr"),
        ("=?utf-8?b?R2Viw7xocgA?x?= =?no-such-code?q?ok?=", "=?utf-8?b?R2Viw7xocgA?x?= ok"),
        ("Gebühr, as it is", "Gebühr, as it is"),
        ("a\r\n folded\r\n\tline", "a folded line"),
    ],
)
def test_subjects(header: str, expected: str) -> None:
    assert read(raw(f"Subject: {header}", "text")).title == expected


def test_eight_bit_headers_of_old_programs() -> None:
    data = "Subject: Änderung der Gebühren\r\nFrom: J\xf6rg <j@example.com>\r\n\r\ntext".encode("cp1252")
    parsed = read(data)
    assert parsed.title == "Änderung der Gebühren"
    assert parsed.metadata["from"] == "Jörg <j@example.com>"
    data = "Subject: Тариф\r\nContent-Type: text/plain; charset=koi8-r\r\n\r\ntext".encode("koi8-r")
    assert read(data).title == "Тариф"


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "no-such-code", "windows-1252", '"'])
def test_wrong_character_sets(charset: str) -> None:
    data = raw(f"Subject: x\r\nContent-Type: text/plain; charset={charset}", "Die Gebühr beträgt zwölf Euro – immer.")
    assert "Die Gebühr beträgt zwölf Euro – immer." in read(data).text
    assert "Die Gebühr beträgt" in read(data.decode().replace("–", "-").encode("cp1252")).text


def test_a_mail_that_an_editor_saved_as_utf16() -> None:
    parsed = read("From: a@example.com\r\nSubject: Gebühr\r\n\r\nZwölf Euro.".encode("utf-16"))
    assert parsed.title == "Gebühr"
    assert "Zwölf Euro." in parsed.text


def test_a_mail_that_was_cut_off() -> None:
    message = mail("The first part is whole.")
    message.add_attachment(b"0123456789" * 100, maintype="application", subtype="pdf", filename="a.pdf")
    data = message.as_bytes()
    parsed = read(data[: len(data) - 300])
    assert "The first part is whole." in parsed.text
    assert "it ends before its last part does, which may be cut short" in parsed.lost
    assert 0 < len(parsed.inside[0].data) < 1_000


def test_damaged_base64() -> None:
    encoded = base64.b64encode(b"A text of some length that goes on.").decode()
    headers = "Subject: x\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: base64"
    assert "A text of some length" in read(raw(headers, encoded)).text
    parsed = read(raw(headers, "!" + encoded[:-9] + "*"))
    assert "A text of some length" in parsed.text
    assert any("base64" in reason for reason in parsed.lost)


@pytest.mark.parametrize("kind", ["multipart/mixed", 'multipart/mixed; boundary="never used"'])
def test_parts_without_a_boundary(kind: str) -> None:
    parsed = read(raw(f"Subject: x\r\nContent-Type: {kind}", "The text is still there."))
    assert "The text is still there." in parsed.text
    assert "its parts cannot be told apart" in parsed.lost[0]


def test_a_bounce_names_what_failed() -> None:
    body = (
        "--b\r\n\r\nIt could not be delivered.\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n"
        "Reporting-MTA: dns; example.com\r\n\r\nFinal-Recipient: rfc822; max@example.com\r\nStatus: 5.1.1\r\n\r\n--b--"
    )
    text = read(raw('Subject: x\r\nContent-Type: multipart/report; boundary="b"', body)).text
    assert "It could not be delivered." in text
    assert "Final-Recipient: rfc822; max@example.com\nStatus: 5.1.1" in text


@pytest.mark.parametrize(
    "kind",
    [
        'multipart/encrypted; boundary="b"',
        "application/pkcs7-mime; smime-type=enveloped-data",
        "application/x-pkcs7-mime",
    ],
)
def test_encrypted_mail(kind: str) -> None:
    with pytest.raises(PasswordNeeded, match="encrypted"):
        read(raw(f"Subject: x\r\nContent-Type: {kind}", "--b\r\n\r\nx\r\n--b--"))


def test_signed_mail() -> None:
    message = MIMEMultipart("signed")
    message["Subject"] = "Signed"
    text = mail("The signed text.")
    signature = EmailMessage()
    signature.set_content(b"0", "application", "pkcs7-signature", filename="smime.p7s")
    for part in (text, signature):
        message.attach(part)
    parsed = read(message.as_bytes())
    assert "The signed text." in parsed.text
    assert parsed.inside == ()
    sealed = read(raw("Subject: x\r\nContent-Type: application/pkcs7-mime; smime-type=signed-data", "MIAG"))
    assert "signed in one block" in sealed.lost[0]
    assert "encrypted (PGP)" in read(mail("-----BEGIN PGP MESSAGE-----\n\nhQEMA\n")).lost[0]


def test_more_attachments_than_the_limit() -> None:
    message = mail("text")
    for number in range(4):
        message.add_attachment("x", filename=f"{number}.txt")
    parsed = read(message, max_inside=3)
    assert [inside.name for inside in parsed.inside] == ["0.txt", "1.txt", "2.txt"]
    assert parsed.lost == ("1 attachments were left out (max_inside in [loading])",)


def test_a_thousand_receivers_are_all_in_the_metadata() -> None:
    receivers = ", ".join(f"Person {number} <p{number}@example.com>" for number in range(1_000))
    parsed = read(raw(f"Subject: x\r\nTo: {receivers}", "text"))
    assert parsed.metadata["to"] == receivers
    shown = of_kind(parsed, ElementKind.PARAGRAPH)[0]
    assert len(shown) < 700
    assert shown.endswith(", …")


def test_dates() -> None:
    for date, iso in {
        "Mon, 4 Mar 2024 10:12:00 +0100 (CET)": "2024-03-04T10:12:00+01:00",
        "2024-03-04T10:12:00Z": "2024-03-04T10:12:00+00:00",
    }.items():
        assert read(raw(f"Date: {date}", "x")).metadata["date"] == iso
    for date in ("yesterday", "Mon, 99 Mar 2024 99:12:00 +9999", "Mon, 4 Mar 99999999999 10:12:00 +0100"):
        parsed = read(raw(f"Date: {date}", "x"))
        assert "date" not in parsed.metadata
        assert f"Date: {date}" in parsed.text


def test_hostile_structures() -> None:
    with pytest.raises(DamagedFile, match="header"):
        read(raw("Content-Type: text/plain; " + "a=1;" * 100_000, "x"))
    many = "".join(f'Content-Type: multipart/mixed; boundary="{n}"\r\n\r\n--{n}\r\n' for n in range(1_100))
    with pytest.raises(LimitExceeded, match="parts"):
        read(raw(many.rstrip(), "x"))
    deep = "".join(f'Content-Type: multipart/mixed; boundary="{n}"\r\n\r\n--{n}\r\n' for n in range(200))
    assert "parts more than 50 deep in one another were left out" in read(raw("Subject: x\r\n" + deep, "x")).lost
    words = "=?utf-8?q?a" * 100_000
    assert read(raw(f"Subject: {words}", "x")).title.startswith("=?utf-8?q?a")
    assert read(raw("X: y\r\n" * 100_000, "text")).text.endswith("text")


def test_a_mail_without_a_subject_is_called_as_its_file() -> None:
    parsed = read(b"From: a@example.com\n\ntext\n")
    assert parsed.title == "saved"
    assert [element.heading_path for element in parsed.elements] == [(), ()]
