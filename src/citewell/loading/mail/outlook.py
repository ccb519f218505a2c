"""Outlook's own files of one mail (.msg): MAPI properties in an OLE file ([MS-OXMSG], ids of [MS-OXPROPS])."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from citewell.errors import DamagedFile, EmptyFile, PasswordNeeded
from citewell.loading.encoding import decode
from citewell.loading.html.document import load_html
from citewell.loading.mail.eml import read_letter
from citewell.loading.mail.letter import Letter, as_document, as_mail
from citewell.loading.mail.outlook_rtf import unpack_rtf
from citewell.loading.names import distinct, shown
from citewell.loading.parsed import Inside, Parsed
from citewell.loading.rtf.document import load_rtf
from citewell.settings import Loading

_PROPERTIES = "__properties_version1.0"
_VALUE = "__substg1.0_{:04X}{:04X}"
_RECIPIENT = "__recip_version1.0_"
_ATTACHMENT = "__attach_version1.0_"
_EMBEDDED = "__substg1.0_3701000d"
_ENTRY = struct.Struct("<HHIQ")  # type, id, flags, value
_UNICODE, _STRING8, _BINARY = 0x001F, 0x001E, 0x0102
_WIDTHS = {0x0003: 0xFFFF_FFFF, 0x000B: 0xFFFF}  # an integer and a truth value; what follows them may be anything
_WIDEST = 0xFFFF_FFFF_FFFF_FFFF
_CLASS, _SUBJECT, _BODY, _HTML, _RTF = 0x001A, 0x0037, 0x1000, 0x1013, 0x1009
_SENDER, _REPRESENTED = (0x0C1A, 0x5D01, 0x0C1F), (0x0042, 0x5D02, 0x0065)  # name, SMTP address, address
_RECEIVER, _RECEIVER_TYPE, _TO, _CC = (0x3001, 0x39FE, 0x3003), 0x0C15, 1, 2
_SENT, _DELIVERED, _DISPLAY_TO, _DISPLAY_CC = 0x0039, 0x0E06, 0x0E04, 0x0E03
_CODE_PAGES = (0x3FFD, 0x3FDE)
_DATA, _FILE_NAMES, _MIME, _HIDDEN = 0x3701, (0x3707, 0x3704, 0x3001), 0x370E, 0x7FFE
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_DEEPEST = 10
_ICON_BYTES = 10_000
_SEALED = "ipm.note.smime"
_SIGNED = "ipm.note.smime.multipartsigned"


def load_outlook(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read a mail saved by Outlook; the result is as that of `load_mail`. A mail in it becomes an .eml inside.

    Raises:
        PasswordNeeded: it is encrypted.
        DamagedFile: its streams share their bytes, or it is no file of Outlook's.
    """
    import olefile

    with olefile.OleFileIO(data) as file:
        if file.root is None:
            raise DamagedFile("The mail has no directory.", remedy="Save it again from Outlook.")
        return as_document(_Reading(file, limits, len(data)).letter(_Storage(file.root, ())), name, limits)


@dataclass(frozen=True, slots=True)
class _Storage:
    """A folder of the OLE file."""

    entry: Any  # olefile has no types
    path: tuple[str, ...]

    def folders(self, start: str) -> Iterator[_Storage]:
        for child in self.entry.kids:
            if child.name.lower().startswith(start):
                yield _Storage(child, (*self.path, child.name))

    def holds(self, name: str) -> bool:
        return any(child.name.lower() == name for child in self.entry.kids)


@dataclass(slots=True)
class _Reading:
    """Reads properties, and counts the bytes: many streams could be made of the same few."""

    file: Any
    limits: Loading
    size: int
    read: int = 0
    encoding: str = ""

    def letter(self, message: _Storage, depth: int = 0) -> Letter:
        fixed = self._fixed(message)
        self.encoding = next((f"cp{fixed[page]}" for page in _CODE_PAGES if page in fixed), self.encoding)
        attachments, lost = self._attachments(message, depth)
        kind = self._text(message, _CLASS).lower()
        body = self._body(message)
        has_text = any((piece if isinstance(piece, str) else piece.text).strip() for piece in body)
        if kind.startswith(_SIGNED) and not has_text and attachments:
            signed = read_letter(attachments[0].data, self.limits)
            body, attachments, lost = signed.body, list(signed.attachments), [*lost, *signed.lost]
        elif not has_text and (kind.startswith(_SEALED) or self._is_pgp(message)):
            raise PasswordNeeded("The mail is encrypted.", remedy="Decrypt it in Outlook and save that.")
        receivers = list(self._receivers(message))
        sent = _time(fixed.get(_SENT) or fixed.get(_DELIVERED))
        return Letter(
            subject=self._text(message, _SUBJECT),
            sender=self._person(message, _SENDER) or self._person(message, _REPRESENTED),
            to=", ".join(who for how, who in receivers if how == _TO) or self._text(message, _DISPLAY_TO),
            cc=", ".join(who for how, who in receivers if how == _CC) or self._text(message, _DISPLAY_CC),
            date=f"{sent:%Y-%m-%d %H:%M} UTC" if sent else "",
            sent=sent.isoformat() if sent else "",
            body=body,
            attachments=tuple(attachments),
            lost=tuple(lost),
        )

    def _body(self, message: _Storage) -> tuple[str | Parsed, ...]:
        text = self._text(message, _BODY)
        if text.strip():
            return (text.replace("\r\n", "\n"),)
        page = self._stream(message, _HTML, _BINARY) or self._text(message, _HTML).encode("utf-8", "replace")
        packed = self._stream(message, _RTF, _BINARY)
        if page:
            try:
                return (
                    load_html(decode(page, self.limits, self.encoding).encode("utf-8", "replace"), "", self.limits),
                )
            except EmptyFile:
                pass  # then the RTF, where there is one
        return (load_rtf(unpack_rtf(packed, self.limits), "", self.limits),) if packed else ()

    def _attachments(self, message: _Storage, depth: int) -> tuple[list[Inside], list[str]]:
        found: list[Inside] = []
        lost: list[str] = []
        folders = list(message.folders(_ATTACHMENT))
        if len(folders) > self.limits.max_inside:
            lost.append(f"{len(folders) - self.limits.max_inside} attachments were left out (max_inside in [loading])")
        for folder in folders[: self.limits.max_inside]:
            name = next(filter(None, (self._text(folder, one) for one in _FILE_NAMES)), f"attachment {len(found) + 1}")
            name = shown(" ".join(name.split()))
            embedded = next(folder.folders(_EMBEDDED), None)
            if embedded is not None and not (embedded.holds(_PROPERTIES) and depth < _DEEPEST):
                lost.append(f"{name} is an object of another program in the mail")
            elif embedded is not None:
                found.append(Inside(f"{name}.eml", as_mail(self.letter(embedded, depth + 1))))
            else:
                content = self._stream(folder, _DATA, _BINARY)
                # Pictures shown in the text are hidden from the list of attachments.
                if not (self._fixed(folder).get(_HIDDEN) and len(content) < _ICON_BYTES):
                    found.append(Inside(name, content))
        names = distinct(inside.name for inside in found)
        return [Inside(name, inside.data) for name, inside in zip(names, found, strict=True)], lost

    def _is_pgp(self, message: _Storage) -> bool:
        return any(self._text(folder, _MIME) == "application/pgp-encrypted" for folder in message.folders(_ATTACHMENT))

    def _receivers(self, message: _Storage) -> Iterator[tuple[int, str]]:
        for folder in message.folders(_RECIPIENT):
            yield self._fixed(folder).get(_RECEIVER_TYPE, _TO), self._person(folder, _RECEIVER)

    def _person(self, storage: _Storage, ids: tuple[int, int, int]) -> str:
        name, smtp, address = (self._text(storage, one) for one in ids)
        # The second address may be a path in a directory of Exchange's.
        address = smtp or (address if "@" in address else "")
        return f"{name} <{address}>" if name and address and name != address else name or address

    def _fixed(self, storage: _Storage) -> dict[int, int]:
        """The values that stand in the table of properties itself, by id.

        The header before it has 32 bytes in the mail, 24 in one inside it and 8 elsewhere; only the rest below 16
        matters, as what else there is in it has the id of no property.
        """
        table = self._named(storage, _PROPERTIES)
        entries = _ENTRY.iter_unpack(table[len(table) % _ENTRY.size :])
        return {key: value & _WIDTHS.get(kind, _WIDEST) for kind, key, _, value in entries}

    def _text(self, storage: _Storage, key: int) -> str:
        wide = self._stream(storage, key, _UNICODE)
        if wide:
            return wide.decode("utf-16-le", errors="replace").rstrip("\0")
        narrow = self._stream(storage, key, _STRING8)
        return decode(narrow, self.limits, self.encoding).rstrip("\0") if narrow else ""

    def _stream(self, storage: _Storage, key: int, kind: int) -> bytes:
        return self._named(storage, _VALUE.format(key, kind))

    def _named(self, storage: _Storage, name: str) -> bytes:
        if not storage.holds(name.lower()):
            return b""
        content: bytes = self.file.openstream([*storage.path, name]).read()
        self.read += len(content)
        if self.read > 2 * self.size:  # some are read twice
            raise DamagedFile("Parts of the file lie over each other.", remedy="Do not trust the file.")
        return content


def _time(ticks: int | None) -> datetime | None:
    """A FILETIME: tenths of a microsecond since 1601."""
    if not ticks:
        return None
    try:
        return _EPOCH + timedelta(microseconds=ticks // 10)
    except OverflowError:
        return None
