"""Texts in tags that none of them can forge: what is shown to a language model as data stays data.

A tag's name ends in a code derived from everything shown. A text that held its own tag would have to hold a part of
the SHA-256 of itself, so knowing everything shown and this module is not enough to write one. The code is the same for
the same input: a provider's cache and ours still work. What merely looks like one of our tags, in whatever letters and
brackets, loses its bracket, since a model reads more generously than a parser.
"""

from __future__ import annotations

import hashlib
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

# Signs that a reader may take for "<", and letters of other scripts that look like those of the tags' names.
_OPENING = frozenset("<\u2039\u2329\u3008\u27e8\u276c\u276e\u2770\u1438\u02c2\xab\u300a\u226a\u29fc\u2991\uff1c\ufe64")
_LOOK_ALIKE = str.maketrans("аеорѕіԛսɡαορειυτηνсӏм", "aeopsiqugaopeiutnnclm")


def tagged(parts: Sequence[tuple[str, str]]) -> str:
    """Named texts one after the other, each in a tag of its name; an empty one is left out.

    No text can open or close a tag of any of the names.
    """
    names = tuple(dict(parts))
    shown = [(name, disarm(text, names)) for name, text in parts if text]
    code = code_of([text for _, text in shown])
    return "\n\n".join(fence(name, code, text) for name, text in shown)


def fence(name: str, code: str, text: str, attributes: str = "") -> str:
    """`text` between the tags of a name and a code. What is shown must have been disarmed first."""
    opening = f"{name}-{code} {attributes}" if attributes else f"{name}-{code}"
    return f"<{opening}>\n{text}\n</{name}-{code}>"


def code_of(texts: Sequence[str]) -> str:
    """The code for tags around these texts, which are all that is shown: 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:16]


def disarm(text: str, names: tuple[str, ...]) -> str:
    """`text` with "&lt;" for every sign like "<" after which the name of one of these tags can be read."""
    if _OPENING.isdisjoint(text):
        return text
    letters, places = _letters(text)
    read = tuple(_letters(name)[0] for name in names)
    pieces: list[str] = []
    for place, sign in enumerate(text):
        follows = bisect_right(places, place) if sign in _OPENING else -1
        pieces.append("&lt;" if follows >= 0 and letters.startswith(read, follows) else sign)
    return "".join(pieces)


def _letters(text: str) -> tuple[str, list[int]]:
    """The letters and digits a reader makes out, without case, accents, width or script, and their places in `text`."""
    letters: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(text):
        for plain in unicodedata.normalize("NFKD", sign).casefold().translate(_LOOK_ALIKE):
            if plain.isalnum():
                letters.append(plain)
                places.append(place)
    return "".join(letters), places
