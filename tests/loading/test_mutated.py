"""Truncated and mutated files end as a LoadError or as text with right spans, in every format of files in files."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from citewell.errors import LoadError
from citewell.loading.parsing import parse
from citewell.settings import Loading
from tests.loading import test_epub, test_mail, test_outlook, test_zipped
from tests.loading.checks import check_spans


def mail() -> bytes:
    message = test_mail.mail(
        "Dear Max,\n\nOn 04/03/2024 10:12, Jane wrote:\n> text", Date="Mon, 4 Mar 2024 10:12:00 +0100"
    )
    message.add_alternative("<p>A page with <b>words</b>.</p>" * 5, subtype="html")
    message.add_attachment(b"\x00\x01" * 200, maintype="application", subtype="pdf", filename="Gebühr.pdf")
    message.add_attachment(test_mail.mail("inner", subject="Innér"))
    return message.as_bytes()


def outlook() -> bytes:
    made = test_outlook.message(body="It is 12 EUR.\n\nFrom: a\nSent: b\nTo: c\nSubject: d\n")
    made.set_property(test_outlook.RTF, test_outlook.BINARY, test_outlook.SIMPLE)
    made.add_attachment("fees.txt", b"Wire: 5 EUR")
    made.add_embedded_message_attachment(test_outlook.message("Inner", "text"))
    return bytes(made.to_bytes())


def archive() -> bytes:
    return test_zipped.archive(("fees.md", b"# Fees\n" * 20), ("2024/Gebühr.txt", b"Rules"), ("x/", b""))


RTF = (
    rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset128 B;}}{\info{\title T}{\creatim\yr2024\mo3}}"
    rb"\pard\outlinelevel0 Fees\par{\pntext\'b7\tab}item\par\trowd\trhdr\intbl a\cell b\cell\row\pard x{\footnote n}"
    rb'{\field{\*\fldinst{HYPERLINK "http://x"}}{\fldrslt y}}\u-10179?\u-8704?{\f1\'93\'fa}{\v z}{\pict\bin3 abc}\par}'
)
JSON = (
    b'{"n": 2, "list": [{"a": 1.5, "b": "x"}, {"a": null, "b": "y"}], "deep": {"x": [[1, {"k": "'
    + b"w" * 300
    + b'"}]]}}'
)
LINES = b'{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n' * 5

SAMPLES: dict[str, Callable[[], bytes]] = {
    "a.eml": mail,
    "a.msg": outlook,
    "a.zip": archive,
    "a.epub": test_epub.book,
    "a.rtf": lambda: RTF,
    "a.json": lambda: JSON,
    "a.jsonl": lambda: LINES,
}


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Cut off, or with a few bytes changed, a stretch taken out, doubled or moved."""
    if chance.random() < 0.2:
        return data[: chance.randrange(len(data))]
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        start = chance.randrange(len(changed))
        end = min(start + chance.choice((1, 4, 30)), len(changed))
        match chance.randrange(4):
            case 0:
                changed[start:end] = chance.randbytes(end - start)
            case 1:
                changed[start] ^= 1 << chance.randrange(8)
            case 2:
                changed[start:start] = changed[start:end] * chance.choice((1, 50))
            case 3:
                del changed[start:end]
        if not changed:
            return b""
    return bytes(changed)


@pytest.mark.parametrize("name", SAMPLES)
def test_mutated_files(name: str) -> None:
    data = SAMPLES[name]()
    assert parse(data, name, Loading()).elements
    chance = random.Random(name)
    read = 0
    for _ in range(120):
        try:
            parsed = parse(mutated(data, chance), name, Loading())
        except LoadError:
            continue
        check_spans(parsed)
        read += 1
    assert read > 0
