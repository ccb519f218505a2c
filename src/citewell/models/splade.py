"""A sparse encoder of one's own: a folder with `model.onnx` and `tokenizer.json` of a masked language model that was
trained as SPLADE. Its guesses for every place of a text, which word might stand there, become the weights of words.

Formal et al. 2021, "SPLADE" (arXiv:2107.05720) and "SPLADE v2" (arXiv:2109.10086).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from citewell.models.onnx_failures import ModelFolder
from citewell.models.onnx_network import MODEL, TOKENIZER, TokenNetwork
from citewell.models.sparse import SparseVector

Weights = NDArray[np.float32]


def max_pool(logits: Weights) -> Weights:
    """Weights of shape (vocabulary,) from logits of shape (tokens, vocabulary): the max pooling of SPLADE v2.

    The largest of log(1 + ReLU) is that of the largest logit, which needs no second array of their size.
    """
    weights: Weights = np.log1p(np.maximum(logits.max(axis=0), 0))
    return weights


def sum_pool(logits: Weights) -> Weights:
    """As `max_pool`, with the sum over the tokens, of the first SPLADE."""
    each = np.maximum(logits, 0)
    weights: Weights = np.log1p(each, out=each).sum(axis=0)
    return weights


# Every token counts, [CLS] and [SEP] too: the authors' own code (github.com/naver/splade, models/transformer_rep.py)
# multiplies by the attention mask, which leaves out padding alone; and here nothing is padded.
POOLS: dict[str, Callable[[Weights], Weights]] = {"max": max_pool, "sum": sum_pool}


class Splade:
    """A `SparseEncoder`. Loads its files at the first use; safe to share between threads after that.

    The network takes `input_ids` and any of `attention_mask` and `token_type_ids`; its first output has, for each
    token, a logit for each word of the tokenizer. Of a longer text only the first `max_tokens` are read, with the
    special ones. One text a call of the network, `threads` texts at once (0: as many as there are cores): the logits of
    256 tokens for 30,522 words are 31 MB, and each thread holds those of one text, and with "sum" a second array.

    Raises:
        SettingsError: at the first use: a file is missing or damaged, or the network is of another kind.
    """

    def __init__(
        self, folder: Path, *, pooling: Literal["max", "sum"] = "max", max_tokens: int = 256, threads: int = 0
    ) -> None:
        self._folder = ModelFolder("sparse encoder", folder, "models.sparse_max_tokens")
        self._pooling = pooling
        self._max_tokens = max_tokens
        self._threads = threads

    @cached_property
    def identity(self) -> str:
        """As `SparseEncoder.identity`. Weights in a second file beside `model.onnx`, as models over 2 GB have them, are
        not part of it."""
        _ = self._network  # what is wrong with the files is said before they are read again
        both = hashlib.sha256()
        for name in (MODEL, TOKENIZER):
            with (self._folder.path / name).open("rb") as file:
                hashlib.file_digest(file, lambda: both)
        return f"splade:{self._pooling}:{self._max_tokens}:{both.hexdigest()[:16]}"

    def encode_passages(self, texts: Sequence[str]) -> list[SparseVector]:
        network, pool = self._network, POOLS[self._pooling]
        with self._folder.explained():
            return network.each(texts, lambda _text, _encoding, logits: _sparse(pool(logits)))

    def encode_query(self, text: str) -> SparseVector:
        return self.encode_passages([text])[0]

    def words(self, terms: Sequence[int]) -> list[str]:
        """As the vocabulary writes them: the rest of a word that it cuts is "##ing" in BERT's. A term that it does not
        have is its number in brackets."""
        return [self._network.truncator.id_to_token(term) or f"[{term}]" for term in terms]

    @cached_property
    def _network(self) -> TokenNetwork:
        """Loaded, and seen to give one number for each word of the tokenizer."""
        network = TokenNetwork(self._folder.path, self._max_tokens, self._threads)
        given = self._folder.width(network)
        with self._folder.explained():
            known = network.truncator.get_vocab_size()
            if given != known:
                raise ValueError(f"the network gives {given} numbers for a token, and {TOKENIZER} has {known} words")
        return network


def _sparse(weights: Weights) -> SparseVector:
    """Raises:
    ValueError: a weight is no number.
    """
    if not np.isfinite(weights).all():
        raise ValueError("it gives what is no number")
    terms = np.flatnonzero(weights)
    return SparseVector(terms.astype(np.uint32), weights[terms])
