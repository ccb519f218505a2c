"""A mail as a document, whichever program wrote it: headers, the newest text, what it quotes, its attachments."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from email.header import Header
from email.mime.application import MIMEApplication
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from pathlib import PurePath

from citewell.loading.joined import add_elements
from citewell.loading.mail.quoted import passages, quotation_start
from citewell.loading.names import shortened
from citewell.loading.parsed import Inside, Parsed, TextBuilder, clean
from citewell.settings import Loading
from citewell.types import Element, ElementKind

_LONGEST_SHOWN = 600  # characters of a header; a mail may have a thousand receivers
_BLANK = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class Letter:
    """What a mail holds. `date` is as it was written, `sent` in ISO form where that could be understood.

    Of the body's pieces, in order, a string is plain text in its lines, and a Parsed was HTML or RTF.
    """

    subject: str
    sender: str
    to: str
    cc: str
    date: str
    sent: str
    body: tuple[str | Parsed, ...]
    attachments: tuple[Inside, ...] = ()
    lost: tuple[str, ...] = ()


def as_document(letter: Letter, name: str, limits: Loading) -> Parsed:
    """The letter's text: subject, headers, body, the names of its attachments. What it quotes has a heading path of
    its own, so that an answer can tell the newest text from an old one's. Its title is the subject, else the name.
    """
    subject = " ".join(letter.subject.split())
    above = (subject,) if subject else ()
    builder = TextBuilder(limits)
    builder.add(ElementKind.HEADING, subject)
    headers = {"From": letter.sender, "To": letter.to, "Cc": letter.cc, "Date": letter.date}
    lines = [f"{key}: {_short(value)}" for key, value in headers.items() if value]
    builder.add(ElementKind.PARAGRAPH, "\n".join(lines), path=above)
    for piece in letter.body:
        if isinstance(piece, str):
            _add_plain(builder, piece, above)
        else:
            _add_parsed(builder, piece, above)
    if letter.attachments:
        names = [f"- {shortened(inside.name)}" for inside in letter.attachments]
        builder.add(ElementKind.LIST, "\n".join(["Attachments:", *names]), path=above)
    parsed = builder.build(
        subject or PurePath(name).stem,
        next((piece.language for piece in letter.body if isinstance(piece, Parsed)), ""),
        {"from": letter.sender, "to": letter.to, "cc": letter.cc, "date": letter.sent, "subject": subject},
    )
    pieces = [piece for piece in letter.body if isinstance(piece, Parsed)]
    return replace(
        parsed,
        suspicious=tuple(reason for piece in pieces for reason in piece.suspicious),
        lost=(*letter.lost, *(reason for piece in pieces for reason in piece.lost)),
        inside=letter.attachments,
    )


def as_mail(letter: Letter) -> bytes:
    """The letter in the form of RFC 5322, for a mail inside another of a form that cannot stand alone."""
    message = MIMEMultipart()
    headers = {"From": letter.sender, "To": letter.to, "Cc": letter.cc, "Date": letter.sent, "Subject": letter.subject}
    for key, value in headers.items():
        if value:
            message.add_header(key, Header(clean(" ".join(value.split())), "utf-8").encode())
    text = "\n\n".join(piece if isinstance(piece, str) else piece.text for piece in letter.body)
    message.attach(MIMEText(clean(text), "plain", "utf-8"))
    for inside in letter.attachments:
        part = MIMEApplication(inside.data)
        part.add_header("Content-Disposition", "attachment", filename=("utf-8", "", clean(inside.name)))
        message.attach(part)
    return message.as_bytes()


def _add_plain(builder: TextBuilder, text: str, above: tuple[str, ...]) -> None:
    for passage in passages(text):
        path = (*above, passage.label) if passage.label else above
        for paragraph in _BLANK.split(passage.text):
            builder.add(ElementKind.PARAGRAPH, paragraph, path=path)


def _add_parsed(builder: TextBuilder, page: Parsed, above: tuple[str, ...]) -> None:
    """HTML has no mark at each quoted line: all from where a quotation starts is quoted."""
    lines: list[str] = []
    owners: list[int] = []
    for place, element in enumerate(page.elements):
        own = page.text[element.start : element.end].split("\n")
        lines += own
        owners += [place] * len(own)
    start, label = quotation_start(lines)
    if not label:
        add_elements(builder, page, above)
        return
    first = owners[start]
    offset = sum(len(line) + 1 for line, owner in zip(lines[:start], owners[:start], strict=True) if owner == first)
    before, element, after = page.elements[:first], page.elements[first], page.elements[first + 1 :]
    add_elements(builder, page, above, [*before, *_cut(element, element.start, element.start + offset)])
    quoted = [*_cut(element, element.start + offset, element.end), *after]
    add_elements(builder, page, (*above, label), quoted)


def _cut(element: Element, start: int, end: int) -> list[Element]:
    return [replace(element, start=start, end=end, cuts=())] if start < end else []


def _short(text: str) -> str:
    if len(text) <= _LONGEST_SHOWN:
        return text
    return f"{text[:_LONGEST_SHOWN].rpartition(',')[0] or text[:_LONGEST_SHOWN]}, …"
