"""An answer as claims: statements that can be true or false each by itself."""

from __future__ import annotations

from citewell.chunking.sentences import sentences


def claims_of(text: str) -> tuple[str, ...]:
    """The sentences of a text, without white space around them; () for an empty one."""
    lines = (line for line in text.splitlines() if line.strip())
    return tuple(line[start:end].strip() for line in lines for start, end in sentences(line))
