"""Texts that stand above others, made to fit: what is left out is shown by an ellipsis, or is the end."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.chunking.ruler import Ruler, Tokenise
from citewell.chunking.within import cut_at_word

ELLIPSIS = "…"


def without_end(text: str, token_spans: Tokenise, room: int) -> str:
    """The beginning of `text` that has at most `room` tokens, whole words if there are any."""
    if len(token_spans(text)) <= room:
        return text
    ruler = Ruler.of(text, token_spans)
    # Again with less: a word cut in two may count more tokens than it did whole.
    for allowed in range(room, 0, -1):
        short = text[: cut_at_word(text, 0, ruler.reach(0, allowed))].rstrip()
        if len(token_spans(short)) <= room:
            return short
    return ""


def without_middle(parts: Sequence[str], joint: str, token_spans: Tokenise, room: int) -> str:
    """The parts joined; an ellipsis stands for those from the middle that do not fit in `room` tokens.

    What is kept is, in this order, the last part, the first, the second, the one before the last, the third ... Where
    no two of them fit, it is the beginning of the last. `joint` begins and ends with white space.
    """
    whole = joint.join(parts)
    if len(token_spans(whole)) <= room:
        return whole
    between = len(token_spans(joint))
    left = room - len(token_spans(ELLIPSIS))
    head = tail = 0
    while head + tail < len(parts) - 1:
        from_end = not tail or head > tail
        part = parts[-1 - tail] if from_end else parts[head]
        left -= between + len(token_spans(part))
        if left < 0:
            break
        head, tail = (head, tail + 1) if from_end else (head + 1, tail)
    if not head:
        return without_end(parts[-1], token_spans, room)
    return joint.join((*parts[:head], ELLIPSIS, *parts[len(parts) - tail :]))
