"""How much text one request may have read by a model."""

from __future__ import annotations

from collections.abc import Iterable

from citewell.serving.problems import TooLarge

MAX_CHARS = 200_000


def require_size(texts: Iterable[str]) -> None:
    """Raises TooLarge: they are too long together."""
    characters = sum(map(len, texts))
    if characters > MAX_CHARS:
        raise TooLarge(
            f"These texts have {characters:,} characters; a request may hold {MAX_CHARS:,}.",
            remedy="Send them in several requests.",
        )
