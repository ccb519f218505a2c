"""Bytes to text: what the file says about its encoding, then what its bytes show, then a guess."""

from __future__ import annotations

import codecs
import re
import unicodedata

from citewell.loading.bounds import check_text
from citewell.settings import Loading

_BOMS = (
    # UTF-32 first: its little-endian mark begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ONE_BYTE = ("cp1252", "cp1250", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp874")
_GUESSES = (*_ONE_BYTE, "cp932", "euc_jp", "gb18030", "big5", "cp949")
# Python also decodes punycode, escapes and the like, which no document is written in and a hostile one may name.
_CHARACTER_SET = re.compile(r"cp|iso8859|iso2022|koi8|mac|euc|shift_jis|big5|gb|hz|johab|tis")
_SAMPLE_BYTES = 65_536
_FEW_SIGNS = 10
_RUN = re.compile(r"[^\x00-\x7f]+")
_MOST_CONTROLS = 0.02
_MOST_BROKEN = 0.01
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\v\b\x1b"))
_KANJI_ESCAPE = re.compile(rb"\x1b\$[@B]")


def is_binary(data: bytes) -> bool:
    """Whether the bytes are no text in any encoding that `decode` knows."""
    if data.startswith(tuple(mark for mark, _ in _BOMS)) or _utf16_without_mark(data):
        return False
    sample = data[:_SAMPLE_BYTES]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return controls > len(sample) * _MOST_CONTROLS


def decode(data: bytes, limits: Loading, declared: str = "") -> str:
    """The text of `data` with `\\n` for every form of line end.

    `declared` is the encoding that the format itself names (HTML's meta); it wins over a guess where it fits, not
    over a byte order mark or valid UTF-8.

    Raises:
        LimitExceeded: more than `max_text_mb`.
    """
    check_text(len(data), limits)
    return re.sub(r"\r\n?|\x85|\u2028|\u2029", "\n", _decode(data, declared))


def _decode(data: bytes, declared: str) -> str:
    for mark, name in _BOMS:
        if data.startswith(mark):
            return data.decode(name, errors="replace")
    sixteen = _utf16_without_mark(data)
    if sixteen:
        return data.decode(sixteen, errors="replace")
    japanese = ("iso2022_jp",) if _KANJI_ESCAPE.search(data) else ()
    for name in (*japanese, "utf-8", *_known(declared)):
        text = _strictly(data, name)
        if text is not None:
            return text
    return _damaged_utf8(data) or _guess(data)


def _utf16_without_mark(data: bytes) -> str:
    """`utf-16-le`, `utf-16-be`, or "" where the bytes do not read as text in either."""
    sample = data[: _SAMPLE_BYTES & ~1]
    # Without a single NUL there is no ASCII in it, not even a line end: then it is more likely an 8-bit encoding.
    if len(data) % 2 or b"\0" not in sample:
        return ""
    ends = {name: _ascii_share(sample, high) for name, high in (("utf-16-le", 1), ("utf-16-be", 0))}
    for name in sorted(ends, key=lambda end: -ends[end]):
        # A sample may end inside a surrogate pair.
        text = sample.decode(name, errors="ignore")
        signs = set(text)
        is_whole = len(text) * 2 + 2 >= len(sample)
        if is_whole and any(map(_is_common, signs)) and all(map(_is_text, signs)):
            return name
    return ""


def _ascii_share(sample: bytes, high: int) -> int:
    return sum(upper == 0 and lower < 128 for upper, lower in zip(sample[high::2], sample[1 - high :: 2], strict=True))


def _is_common(char: str) -> bool:
    """ASCII, or the spaces and stops of Chinese and Japanese: no text of any length is without."""
    return char < "\x80" or "\u3000" <= char <= "\u303f"


def _is_text(char: str) -> bool:
    return char in "\t\n\r\f\v" or unicodedata.category(char) not in {"Cc", "Cn", "Co"}


def _known(declared: str) -> tuple[str, ...]:
    try:
        name = codecs.lookup(declared).name
    except (LookupError, ValueError):  # ValueError: a name with a NUL in it.
        return ()
    # What calls itself Latin-1 or ASCII on the web is Windows-1252, says the HTML standard.
    if name in {"iso8859-1", "ascii"}:
        return ("cp1252",)
    return (name,) if _CHARACTER_SET.match(name) else ()


def _strictly(data: bytes, name: str) -> str | None:
    try:
        return data.decode(name)
    except UnicodeError:
        return None


def _damaged_utf8(data: bytes) -> str:
    """UTF-8 with a few broken bytes must not become a whole text of wrong letters."""
    text = data.decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    letters = sum(char > "\x7f" for char in text) - broken
    return text if broken <= letters * _MOST_BROKEN else ""


def _guess(data: bytes) -> str:
    from charset_normalizer import from_bytes

    matches = from_bytes(data[:_SAMPLE_BYTES], cp_isolation=list(_GUESSES))
    names = [name for match in matches for name in (match.encoding, *match.could_be_from_charset)]
    # Of equally good guesses the library takes the first in the alphabet: Central European before Western.
    if (names and names[0] == "cp1250" and "cp1252" in names) or _is_mostly_ascii(data[:_SAMPLE_BYTES]):
        names.insert(0, "cp1252")
    for name in names:
        text = _strictly(data, name)
        if text is not None and (name in _ONE_BYTE or _is_in_runs(text)):
            return text
    return data.decode("cp1252", errors="replace")


def _is_mostly_ascii(sample: bytes) -> bool:
    """Whether the other signs are too few for a guess to rest on: an umlaut, a pound sign, a degree."""
    others = sum(byte > 0x7F for byte in sample)
    return others < _FEW_SIGNS and others * _FEW_SIGNS < len(sample)


def _is_in_runs(text: str) -> bool:
    """Whether most signs beyond ASCII stand beside another. In a Western text read as Chinese or Japanese, each one
    stands alone between Latin letters, as the umlaut did that it was made of.
    """
    runs = _RUN.findall(text)
    return 2 * sum(len(run) for run in runs if len(run) > 1) > sum(map(len, runs))
