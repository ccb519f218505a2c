"""Characters that do something unseen: they steer a terminal, turn the direction of a line or hide in it."""

from __future__ import annotations

import re

# Control characters but tab and line feed (C0, C1, delete), signs that turn the direction of text, line and paragraph
# separators, halves of surrogate pairs, and the invisible tag characters. Joiners stay: scripts need them.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
