"""Mail as it travels (RFC 5322, MIME): .eml files, and mails attached to mails."""

from __future__ import annotations

import base64
import io
import re
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from email import message_from_bytes, policy
from email.generator import BytesGenerator
from email.message import Message
from email.utils import parsedate_to_datetime
from mimetypes import MimeTypes

from citewell.errors import DamagedFile, EmptyFile, LimitExceeded, PasswordNeeded
from citewell.loading.encoding import decode
from citewell.loading.html.document import load_html
from citewell.loading.mail.headers import decoded, header, repair_parameters
from citewell.loading.mail.letter import Letter, as_document
from citewell.loading.names import distinct, shown
from citewell.loading.parsed import Inside, Parsed
from citewell.settings import Loading

_DEEPEST = 50
_MOST_BOUNDARIES = 1_000  # The parser looks for each that is open at every line.
_BOUNDARY = re.compile(rb"\bboundary\s*=", re.IGNORECASE)
# The library's time for such a header grows with the square of its length.
_ENDLESS_HEADER = re.compile(rb"^content-[a-z]+:(?:[^\r\n]|\r?\n[ \t]){20000}", re.IGNORECASE | re.MULTILINE)
_ICON_BYTES = 10_000
_STUB = 4  # Plain text of less than a fourth of the page's says only that there is a page.
_SIGNATURES = {"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"}
_SEALED = {"application/pkcs7-mime", "application/x-pkcs7-mime"}
_PGP_START = "-----BEGIN PGP MESSAGE-----"
_BODY = {"text/plain", "text/html", "text/enriched", "text/richtext"}
_LOOKS_ONLY = {"text/css", "text/javascript", "application/javascript"}
_DEFECTS = {
    "NoBoundaryInMultipartDefect": "its parts cannot be told apart, as it names no boundary",
    "StartBoundaryNotFoundDefect": "its parts cannot be told apart, as their boundary is missing",
    "CloseBoundaryNotFoundDefect": "it ends before its last part does, which may be cut short",
    "InvalidBase64CharactersDefect": "a part's encoding (base64) is damaged",
    "InvalidBase64LengthDefect": "a part's encoding (base64) is damaged or cut short",
}
_ENDINGS = MimeTypes()


def load_mail(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read a mail: see `as_document` for its text, `read_letter` for what is taken of it.

    Raises:
        PasswordNeeded: it is encrypted.
        LimitExceeded: more parts than could be a mail's.
        DamagedFile: a header without end.
    """
    return as_document(read_letter(data, limits), name, limits)


def read_letter(data: bytes, limits: Loading) -> Letter:
    """What a mail holds. Of a body in several forms, plain text is taken before HTML; attachments are all kept, of the
    pictures shown in the text those that are larger than an icon.
    """
    if b"\0" in data[:1_000]:  # saved as UTF-16 by an editor
        data = decode(data, limits).encode("utf-8", "replace")
    if _ENDLESS_HEADER.search(data):
        raise DamagedFile("A header of the mail has no end.", remedy="Save the mail again from its program.")
    if sum(1 for _ in _BOUNDARY.finditer(data)) > _MOST_BOUNDARIES:
        raise LimitExceeded("The mail has too many parts.", remedy="Save its attachments, and index those.")
    message = message_from_bytes(data, policy=policy.compat32)
    reading = _Reading(limits)
    reading.take(message)
    date = header(message, "date")
    return Letter(
        subject=header(message, "subject"),
        sender=header(message, "from"),
        to=header(message, "to"),
        cc=header(message, "cc"),
        date=date,
        sent=_iso(date),
        body=tuple(reading.body),
        attachments=tuple(reading.named()),
        lost=tuple(dict.fromkeys(reading.lost)),
    )


def _iso(date: str) -> str:
    for understood in (parsedate_to_datetime, datetime.fromisoformat):
        with suppress(ValueError, TypeError, OverflowError):
            return understood(date.strip()).isoformat()
    return ""


@dataclass(slots=True)
class _Reading:
    """What has been taken of a mail so far. While `muted`, only attachments are: the text is a second form of one."""

    limits: Loading
    body: list[str | Parsed] = field(default_factory=list)
    attachments: list[Inside] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    muted: bool = False

    def take(self, part: Message, depth: int = 0) -> None:
        repair_parameters(part)
        kind = part.get_content_type()
        if depth > _DEEPEST:
            self.lost.append(f"parts more than {_DEEPEST} deep in one another were left out")
        elif kind in _SEALED or kind == "multipart/encrypted":
            self._take_sealed(part, depth)
        elif kind == "multipart/alternative" and part.is_multipart():
            self._take_best(_children(part), depth)
        elif kind == "message/rfc822" and part.is_multipart():
            self._attach(part, _attached_mail(part))
        elif kind == "message/delivery-status" and part.is_multipart():
            self.body += [
                "\n".join(f"{key}: {decoded(text)}" for key, text in one.raw_items()) for one in _children(part)
            ]
        elif part.is_multipart():
            for child in _children(part):
                self.take(child, depth + 1)
        else:
            self._take_leaf(part, kind, depth)
        self.lost += [_DEFECTS[name] for name in (type(one).__name__ for one in part.defects) if name in _DEFECTS]

    def named(self) -> list[Inside]:
        """The attachments, each with a name of its own, as many as the limit allows."""
        most = self.limits.max_inside
        if len(self.attachments) > most:
            self.lost.append(f"{len(self.attachments) - most} attachments were left out (max_inside in [loading])")
        kept = self.attachments[:most]
        names = distinct(inside.name for inside in kept)
        return [Inside(name, inside.data) for name, inside in zip(names, kept, strict=True)]

    def _take_leaf(self, part: Message, kind: str, depth: int) -> None:
        is_attached = part.get_content_disposition() == "attachment" or (depth > 0 and part.get_filename() is not None)
        if kind in _SIGNATURES or (kind in _LOOKS_ONLY and not is_attached):
            return
        if not is_attached and (kind in _BODY or kind.startswith("multipart/")):
            self._add_text(part, kind)
            return
        content = _content(part)
        is_shown = part.get_content_disposition() != "attachment" and kind.startswith("image/")
        if not (is_shown and len(content) < _ICON_BYTES):
            self._attach(part, content)

    def _add_text(self, part: Message, kind: str) -> None:
        if self.muted:
            return
        if kind == "text/html":
            page = self._page(part)
            self.body += [page] if page else []
            return
        text = self._plain(part)
        if text.lstrip().startswith(_PGP_START):
            self.lost.append("its text is encrypted (PGP)")
        else:
            self.body.append(text)

    def _take_best(self, forms: list[Message], depth: int) -> None:
        """One form of a body that is there in several; the attachments of all."""
        plain = next(
            (one for one in forms if one.get_content_type() == "text/plain" and self._plain(one).strip()), None
        )
        rich = next((one for one in reversed(forms) if _page_of(one) is not None), None)
        best = plain or rich
        if plain is not None and rich is not None:
            page = self._page(_page_of(rich) or rich)
            if page and len(self._plain(plain)) * _STUB < len(page.text):
                best = rich
        muted = self.muted
        for form in forms:
            self.muted = muted or form is not best
            self.take(form, depth + 1)
        self.muted = muted

    def _take_sealed(self, part: Message, depth: int) -> None:
        if str(part.get_param("smime-type", "")).lower() == "signed-data":
            self.lost.append("its text is signed in one block with the signature (S/MIME), which cannot be read")
        elif depth:
            self.lost.append("an encrypted part")
        else:
            raise PasswordNeeded("The mail is encrypted.", remedy="Decrypt it in the mail program and save that.")

    def _attach(self, part: Message, content: bytes) -> None:
        name = decoded(part.get_filename() or "")
        kind = part.get_content_type()
        if not name and kind == "message/rfc822":
            name = header(_children(part)[0], "subject") or "mail"
        ending = ".eml" if kind == "message/rfc822" else _ENDINGS.guess_extension(kind) or ""
        if not name:
            name = f"attachment {len(self.attachments) + 1}"
        if ending and "." not in name[-6:]:
            name += ending
        self.attachments.append(Inside(shown(" ".join(name.split())), content))

    def _plain(self, part: Message) -> str:
        return decode(_content(part), self.limits, str(part.get_content_charset() or ""))

    def _page(self, part: Message) -> Parsed | None:
        try:
            # What the page itself says about its encoding was true before it was put into a mail.
            return load_html(self._plain(part).encode("utf-8", "replace"), "", self.limits)
        except EmptyFile:
            return None


def _children(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [child for child in payload if isinstance(child, Message)] if isinstance(payload, list) else []


def _page_of(part: Message) -> Message | None:
    """The first HTML in a form of the body, which may stand beside its pictures."""
    return next((one for one in part.walk() if one.get_content_type() == "text/html"), None)


def _content(part: Message) -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _attached_mail(part: Message) -> bytes:
    stream = io.BytesIO()
    BytesGenerator(stream, mangle_from_=False, policy=policy.compat32).flatten(_children(part)[0])
    content = stream.getvalue()
    if header(part, "content-transfer-encoding").lower() == "base64":  # forbidden, and done by some servers
        with suppress(ValueError):
            return base64.b64decode(content)
    return content
