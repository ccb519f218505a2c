"""The default embedder: all-MiniLM-L6-v2, int8, on onnxruntime. Its files are in the package; nothing is fetched.

Model: Wang et al. 2020, "MiniLM" (arXiv:2002.10957), trained as a sentence embedder by Reimers and Gurevych 2019
(arXiv:1908.10084): mean of the token vectors, scaled to length 1.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from citewell.models.embedder import ModelIdentity, TokenSpans, Vectors

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

MAX_TOKENS = 256
# A word that the vocabulary does not know is one token to the model, however long. Counted as one, a line of base64
# would become a chunk of a megabyte; it is counted as a token for every four characters instead.
UNKNOWN_CHARS_PER_TOKEN = 4

IDENTITY = ModelIdentity(
    name="all-MiniLM-L6-v2-int8",
    revision="9e80251537633bab",  # SHA-256 of model.onnx, first 16 digits
    dimensions=384,
    max_tokens=MAX_TOKENS,
    pooling="mean",
    query_prefix="",
    passage_prefix="",
)


class MiniLM:
    """An `Embedder`. Loads its files at the first use; safe to share between threads after that."""

    def __init__(self, threads: int = 0) -> None:
        self._threads = threads or os.cpu_count() or 1

    @property
    def identity(self) -> ModelIdentity:
        return IDENTITY

    def token_spans(self, text: str) -> TokenSpans:
        encoding = self._counter.encode(text, add_special_tokens=False)
        spans = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
        unknown = np.array(encoding.ids, dtype=np.int64) == self._unknown_id
        long = unknown & (spans[:, 1] - spans[:, 0] > UNKNOWN_CHARS_PER_TOKEN)
        if not long.any():
            return spans
        pieces = [_cut(span) if is_long else span[None] for span, is_long in zip(spans, long, strict=True)]
        return np.concatenate(pieces)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        """One text a call of the network, on as many threads as there are cores.

        The int8 network scales activations over a whole batch, so in a batch a text's vector would depend on its
        company (cosine down to .987); and on a CPU a batch is no faster than its texts one by one.
        """
        vectors = np.empty((len(texts), IDENTITY.dimensions), dtype=np.float32)
        encodings = self._truncator.encode_batch(list(texts))
        session = self._session  # loaded here, before the threads would each load their own

        def fill(place: int) -> None:
            vectors[place] = _vector(session, encodings[place])

        # Longest first, so that no thread is left alone with a long one at the end.
        places = sorted(range(len(texts)), key=lambda place: -len(encodings[place].ids))
        if len(places) == 1:
            fill(0)
        else:
            with ThreadPoolExecutor(self._threads) as pool:
                list(pool.map(fill, places))
        return vectors

    @cached_property
    def _session(self) -> InferenceSession:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        # One thread a text and several texts at once is 1.4 times as fast as several threads on one text.
        options.intra_op_num_threads = 1
        model = files("citewell.models") / "minilm" / "model.onnx"
        return onnxruntime.InferenceSession(model.read_bytes(), options, providers=["CPUExecutionProvider"])

    @cached_property
    def _truncator(self) -> Tokenizer:
        tokenizer = _tokenizer()
        tokenizer.enable_truncation(MAX_TOKENS)
        return tokenizer

    @cached_property
    def _counter(self) -> Tokenizer:
        return _tokenizer()

    @cached_property
    def _unknown_id(self) -> int:
        return self._counter.get_vocab()["[UNK]"]


def _vector(session: InferenceSession, encoding: Encoding) -> Vectors:
    ids = np.array([encoding.ids], dtype=np.int64)
    mask = np.ones_like(ids)
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    mean = mean_pool(np.asarray(session.run(None, inputs)[0]), mask)[0]
    unit: Vectors = mean / np.linalg.norm(mean)
    return unit


def mean_pool(token_vectors: NDArray[np.float32], mask: NDArray[np.int64]) -> Vectors:
    """Mean over the tokens that `mask` (texts, tokens) marks with 1, of vectors (texts, tokens, dimensions).

    Every text has at least one such token: the tokenizer adds two.
    """
    weights = mask[:, :, None].astype(np.float32)
    means: Vectors = (token_vectors * weights).sum(axis=1) / weights.sum(axis=1)
    return means


def _tokenizer() -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str((files("citewell.models") / "minilm" / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _cut(span: NDArray[np.int64]) -> TokenSpans:
    starts = np.arange(span[0], span[1], UNKNOWN_CHARS_PER_TOKEN, dtype=np.int64)
    return np.stack([starts, np.minimum(starts + UNKNOWN_CHARS_PER_TOKEN, span[1])], axis=1)
