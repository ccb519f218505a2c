"""What RTF control words mean (Rich Text Format 1.9.1), and the pieces that its text is made of."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\(\r\n|.)|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\", re.DOTALL
)
_CHARSETS = {
    **{0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "big5"},
    **{161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251"},
    **{222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850"},
}
SIGNS = {
    **{"tab": "\t", "line": "\n", "emdash": "\u2014", "endash": "\u2013", "emspace": " ", "enspace": " "},
    **{"qmspace": " ", "bullet": "\u2022", "lquote": "\u2018", "rquote": "\u2019", "ldblquote": "\u201c"},
    **{"rdblquote": "\u201d", "~": "\u00a0", "_": "-"},
}
# Groups of the file's own tables, and what a reader does not see in the text: comments, headers, pictures, old forms.
PASSED_OVER = frozenset(
    """
    aftncn aftnsep aftnsepc annotation atnauthor atndate atnicn atnid atnref bkmkend bkmkstart blipuid buptim
    category colortbl comment company creatim datafield datastore doccomm docvar factoidname filetbl fonttbl
    footer footerf footerl footerr formfield ftncn ftnsep ftnsepc generator header headerf headerl headerr
    hlinkbase info keycode keywords latentstyles linkval listlevel listname listoverridetable listtable manager
    mmathPr nextfile nonesttables nonshppict objalias objclass objdata objname objsect operator panose pgptbl
    pict pn pntxta pntxtb printim private propname protusertbl result revtbl revtim rsidtbl rxe shpinst shprslt
    sn sp staticval stylesheet subject tc template themedata txe upr userprops wgrffmtfilter windowcaption xe
    xmlnstbl
    """.split()  # noqa: SIM905  Words read better as words.
)


def tokens(data: bytes) -> Iterator[tuple[str, int | None, bytes]]:
    """(word, number, text) of each control word, or of "{", "}", "" (text) and "'" (one byte) in their place."""
    position = data.find(b"{\\rtf")
    while found := _TOKEN.match(data, position):
        position = found.end()
        word, number, byte, sign, brace, text = found.groups()
        if word:
            count = int(number) if number else None
            if word == b"bin" and count:
                position += max(count, 0)
            else:
                yield word.decode(), count, b""
        elif byte:
            yield "'", None, bytes.fromhex(byte.decode())
        elif sign:
            if sign in b"{}\\":
                yield "", None, sign
            else:
                # A line end with a backslash is a paragraph's.
                yield ("par" if sign in b"\r\n" else sign.decode("latin-1")), None, b""
        elif brace:
            yield brace.decode(), None, b""
        elif text:
            yield "", None, text


def charset_encoding(number: int) -> str:
    """The encoding of a font's \\fcharset; "" where it says nothing."""
    return _CHARSETS.get(number, "")


def code_page(number: int) -> str:
    """The encoding of an \\ansicpg."""
    return {65001: "utf-8", 10000: "mac_roman", 936: "gb18030", 950: "big5", 1361: "johab"}.get(number, f"cp{number}")
