"""Untrusted text marked all through, so that a model can tell it from its orders at every word.

Datamarking as in Hines et al. 2024, "Defending Against Indirect Prompt Injection Attacks With Spotlighting" (section
4.2): a sign that no text would hold stands for every space between words. Theirs is one sign for all; ours depends on
the code of the prompt's tags, which nobody who writes a document can know, and what is marked can be unmarked to the
letter, so that quotes are still found in the document.
"""

from __future__ import annotations

import re

FIRST, COUNT = 0xE000, 6400
"""The signs for private use in Unicode's first plane: no text in any language has them."""


def mark_of(code: str) -> str:
    """The sign that stands for a space under a code of `models.fenced.code_of`, for a prompt's rules to name."""
    return _signs(code)[0]


def spotlight(text: str, code: str) -> str:
    """The text with the code's mark in the place of each space, and behind each other white space.

    Where the text itself holds the mark, by chance or as a forgery, it is written in another way.

    Raises:
        ValueError: the code is not hexadecimal.
    """
    mark, escape = _signs(code)
    plain = text.replace(escape, f"{escape}1").replace(mark, f"{escape}0")
    return re.sub(r"\s", lambda space: mark if space[0] == " " else space[0] + mark, plain)


def unmarked(text: str, code: str) -> str:
    """What `spotlight` was given; of a text that a model wrote from it, what it meant.

    Raises:
        ValueError: the code is not hexadecimal.
    """
    mark, escape = _signs(code)
    written = {f"{escape}0": mark, f"{escape}1": escape, mark: " "}
    return re.sub(rf"([^\S ]){mark}|{escape}[01]|{mark}", lambda found: found[1] or written[found[0]], text)


def _signs(code: str) -> tuple[str, str]:
    number = int(code, 16)
    return chr(FIRST + number % COUNT), chr(FIRST + (number + 1) % COUNT)
