"""Texts of documents made safe to look at: what is invisible, or turns the direction of text, is shown by its name."""

from __future__ import annotations

from citewell.signs import UNSEEN


def visible(text: str) -> str:
    """The text with `⟨U+202E⟩` in the place of a character that does something unseen."""
    return UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)
