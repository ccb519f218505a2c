"""Tokens as a `tokenizer.json` cuts them: what the chunker counts in, and what a network reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from citewell.models.embedder import TokenSpans

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# A word that the vocabulary does not know is one token to the model, however long. Counted as one, a line of base64
# would become a chunk of a megabyte; it is counted as a token for every four characters instead.
UNKNOWN_CHARS_PER_TOKEN = 4


def tokenizer(definition: str) -> Tokenizer:
    """The tokenizer of a `tokenizer.json`, without the truncation and padding that it may ask for.

    Raises:
        ValueError: it is none.
    """
    from tokenizers import Tokenizer

    try:
        made = Tokenizer.from_str(definition)
    except Exception as error:  # noqa: BLE001 - the library has no class of its own for this
        raise ValueError(f"no tokenizer: {error}") from None
    made.no_truncation()
    made.no_padding()
    return made


class TokenCounter:
    """Counts the tokens of a text. `read` gives the text of a `tokenizer.json`, and is called at the first use."""

    def __init__(self, read: Callable[[], str]) -> None:
        self._read = read

    def spans(self, text: str) -> TokenSpans:
        """As `Embedder.token_spans`."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        spans = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
        unknown = np.array(encoding.ids, dtype=np.int64) == self._unknown_id
        long = unknown & (spans[:, 1] - spans[:, 0] > UNKNOWN_CHARS_PER_TOKEN)
        if not long.any():
            return spans
        pieces = [_cut(span) if is_long else span[None] for span, is_long in zip(spans, long, strict=True)]
        return np.concatenate(pieces)

    @cached_property
    def _definition(self) -> str:
        return self._read()

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return tokenizer(self._definition)

    @cached_property
    def _unknown_id(self) -> int:
        """The id of words that are not in the vocabulary; -1 where each can be spelled (BPE over bytes)."""
        model = json.loads(self._definition)["model"]
        if model.get("unk_id") is not None:  # Unigram
            return int(model["unk_id"])
        found = self._tokenizer.token_to_id(model["unk_token"]) if model.get("unk_token") else None
        return -1 if found is None else found


def built_in() -> TokenCounter:
    """The counter of the embedder in the package."""
    return TokenCounter(lambda: (files("citewell.models") / "minilm" / "tokenizer.json").read_text(encoding="utf-8"))


def _cut(span: NDArray[np.int64]) -> TokenSpans:
    starts = np.arange(span[0], span[1], UNKNOWN_CHARS_PER_TOKEN, dtype=np.int64)
    return np.stack([starts, np.minimum(starts + UNKNOWN_CHARS_PER_TOKEN, span[1])], axis=1)
