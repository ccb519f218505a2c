"""The line above a chunk's text when it is embedded: where the passage stands."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.chunking.ruler import Ruler, Tokenise
from citewell.chunking.within import cut_within

BETWEEN_HEADINGS = " › "


def prefix(title: str, headings: Sequence[str], token_spans: Tokenise, max_tokens: int) -> str:
    """`title › heading › heading` and a line end, in at most `max_tokens` tokens; "" where there is nothing to say.

    Too long, it loses the outer headings first, then the title, then the end of the innermost heading.
    """
    names = [name for name in (" ".join(name.split()) for name in (title, *headings)) if name]
    while len(names) > 1 and len(token_spans(BETWEEN_HEADINGS.join(names))) > max_tokens:
        del names[1 if len(names) > 2 else 0]
    line = _shortened(BETWEEN_HEADINGS.join(names), token_spans, max_tokens)
    return f"{line}\n" if line else ""


def _shortened(line: str, token_spans: Tokenise, max_tokens: int) -> str:
    if len(token_spans(line)) <= max_tokens:
        return line
    ruler = Ruler.of(line, token_spans)
    # Again with less: a word cut in two may count more tokens than it did whole.
    for room in range(max_tokens, 0, -1):
        short = line[: cut_within(line, 0, ruler.reach(0, room))].rstrip()
        if len(token_spans(short)) <= max_tokens:
            return short
    return ""
