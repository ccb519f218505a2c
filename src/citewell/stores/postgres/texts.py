"""Texts as the server can hold them. Its `text` has no NUL and no lone surrogate; Python's strings have both."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from uuid import UUID

# NUL needs a word of other signs. A word's first sign stands nowhere else, and its others only within words: so the
# order of texts stays what it was, and one text is found in another exactly where it was before.
_WORDS = {0: "\1\2\2", 1: "\1\2\3", 2: "\1\3\2", 3: "\1\3\3"}


def escaped(text: str) -> str:
    """The text without NUL, for a column that is compared and searched. Ids have none, and are stored as they are."""
    return text.translate(_WORDS)


def possible(names: Iterable[str]) -> list[str]:
    """Those of the names that can be in the store at all."""
    return [name for name in names if "\0" not in name and encodable(name)]


def encodable(text: str) -> bool:
    """Whether it has no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def fingerprint(text: str) -> UUID:
    """BLAKE2b of a text, 16 bytes. A token is stored as one: any text is then as short, and none of it can be read."""
    return UUID(bytes=hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest())
