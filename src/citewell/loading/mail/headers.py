"""Headers of mails, read without the library's parser of their grammar: hostile ones make it fail or run for hours."""

from __future__ import annotations

import binascii
import quopri
import re
from collections.abc import Iterator
from email.message import Message

from citewell.loading.encoding import decode
from citewell.settings import Loading

_LONGEST = 100_000  # characters
# RFC 2047; the language after * is RFC 2231's.
_WORD = re.compile(r"=\?([\w.:+-]{1,40})(?:\*[\w-]*)?\?([bq])\?([^?]*)\?=", re.IGNORECASE)
_WESTERN = "cp1252"
_NO_HINT = frozenset({"", "utf-8", "us-ascii"})
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/]")


def header(message: Message, name: str) -> str:
    """The first header of that name (in lower case) in one line; "" where there is none."""
    raw = next((text for key, text in message.raw_items() if key.lower() == name), "")
    charset = "" if raw.isascii() else str(message.get_content_charset() or "")
    return decoded(raw, charset if charset not in _NO_HINT else _WESTERN)


def decoded(raw: str, charset: str = _WESTERN) -> str:
    """A header's text with its encoded words decoded and its folds taken out. 8-bit signs that are against the standard
    are read as UTF-8, else in `charset`: a header is too short for a guess.
    """
    return " ".join("".join(_pieces(raw[:_LONGEST], charset)).split())


def repair_parameters(part: Message) -> None:
    """Decode 8-bit signs in the headers that name a file; the library makes question marks of them."""
    for name in ("content-type", "content-disposition"):
        raw = next((text for key, text in part.raw_items() if key.lower() == name), "")
        if not raw.isascii():
            part.replace_header(name, _text(raw.encode("utf-8", "surrogateescape"), _WESTERN))


def _pieces(text: str, eight_bit: str) -> Iterator[str]:
    """Plain text and decoded words. Words in one encoding are joined first: a sign's bytes may be cut between two."""
    end, charset, waiting = 0, "", b""
    for word in _WORD.finditer(text):
        between = text[end : word.start()]
        if end and between.isspace():
            between = ""
        end = word.end()
        if between or word[1].lower() != charset:
            yield _text(waiting, charset)
            waiting = b""
        yield _text(between.encode("utf-8", "surrogateescape"), eight_bit)
        charset = word[1].lower()
        waiting += _word_bytes(word[2].lower(), word[3])
    yield _text(waiting, charset)
    yield _text(text[end:].encode("utf-8", "surrogateescape"), eight_bit)


def _word_bytes(encoding: str, text: str) -> bytes:
    if encoding == "q":
        return quopri.decodestring(text.encode("utf-8", "surrogateescape"), header=True)
    signs = _NOT_BASE64.sub("", text)
    signs = signs[: len(signs) - (len(signs) % 4 == 1)]
    return binascii.a2b_base64(signs + "=" * (-len(signs) % 4))


def _text(content: bytes, charset: str) -> str:
    return decode(content, Loading(), charset) if content else ""
