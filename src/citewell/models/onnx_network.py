"""A sentence embedder as an ONNX network and its tokenizer, on onnxruntime: texts in, unit vectors out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib.resources import as_file
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from citewell.models.embedder import QueryTokens, Vectors, unit_rows
from citewell.models.tokens import tokenizer

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

Pool = Callable[[NDArray[np.float32], NDArray[np.int64]], Vectors]
"""From token vectors (texts, tokens, dimensions) and a mask (texts, tokens) to vectors (texts, dimensions)."""

T = TypeVar("T")

MODEL, TOKENIZER = "model.onnx", "tokenizer.json"


class OnnxNetwork:
    """`model.onnx` and `tokenizer.json` of a folder. Loads them at the first use; safe to share between threads.

    What the libraries raise for files that are none goes through: see `citewell.models.onnx_folder`.
    """

    def __init__(self, folder: Traversable, pool: Pool, max_tokens: int, threads: int = 0) -> None:
        self._folder = folder
        self._pool = pool
        self._max_tokens = max_tokens
        self._threads = threads or os.cpu_count() or 1

    def embed(self, texts: Sequence[str], dimensions: int) -> Vectors:
        """Vectors of shape (len(texts), dimensions).

        Raises:
            ValueError: a vector has another width, or cannot be scaled to length 1.
        """
        return _rows([vector for vector, _ in self._each(texts, lambda _, __: None)], dimensions)

    def embed_tokens(self, texts: Sequence[str], dimensions: int) -> tuple[Vectors, list[Vectors]]:
        """What `embed` gives, and for each text the vectors of those of its tokens that are words or parts of words,
        shape (tokens, width), rows of length 1.

        Raises:
            ValueError: a vector has another width, or cannot be scaled to length 1.
        """
        made = self._each(texts, lambda encoding, tokens: unit_rows(tokens[_words(encoding)]))
        return _rows([vector for vector, _ in made], dimensions), [tokens for _, tokens in made]

    def query_tokens(self, query: str) -> QueryTokens:
        """Those of `embed_tokens` for one text, with the words that they are of.

        Raises:
            ValueError: a vector cannot be scaled to length 1.
        """
        encoding = self._truncator.encode(query)
        _, vectors = self._run(self.session, encoding)
        kept = _words(encoding)
        words = (encoding.token_to_word(place) for place in kept)
        spans = (encoding.word_to_chars(word) if word is not None else None for word in words)
        return QueryTokens(unit_rows(vectors[kept]), tuple(query[slice(*span)] if span else "" for span in spans))

    def width(self) -> int:
        """The numbers of a vector, found by making one."""
        return len(self._run(self.session, self._truncator.encode("width"))[0])

    def _each(self, texts: Sequence[str], keep: Callable[[Encoding, Vectors], T]) -> list[tuple[Vectors, T]]:
        """The vector of each text, and what is to be kept of those of its tokens: one text a call of the network, on as
        many threads as there are cores.

        An int8 network scales activations over a whole batch, so in a batch a text's vector would depend on its
        company (cosine down to .987); and on a CPU a batch is no faster than its texts one by one.
        """
        encodings = self._truncator.encode_batch(list(texts))
        session = self.session  # loaded here, before the threads would each load their own

        def run(place: int) -> tuple[Vectors, T]:
            vector, tokens = self._run(session, encodings[place])
            return vector, keep(encodings[place], tokens)

        if len(texts) == 1:
            return [run(0)]
        # Longest first, so that no thread is left alone with a long one at the end.
        places = sorted(range(len(texts)), key=lambda place: -len(encodings[place].ids))
        with ThreadPoolExecutor(self._threads) as pool:
            made = dict(zip(places, pool.map(run, places), strict=True))
        return [made[place] for place in range(len(texts))]

    @cached_property
    def session(self) -> InferenceSession:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        # One thread a text and several texts at once is 1.4 times as fast as several threads on one text.
        options.intra_op_num_threads = 1
        options.log_severity_level = 4  # what fails is raised, and need not be printed too
        # By its path: the weights of a large model lie in a second file beside it.
        with as_file(self._folder / MODEL) as path:
            return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    @cached_property
    def _truncator(self) -> Tokenizer:
        made = tokenizer((self._folder / TOKENIZER).read_text(encoding="utf-8"))
        made.enable_truncation(self._max_tokens)
        return made

    def _run(self, session: InferenceSession, encoding: Encoding) -> tuple[Vectors, Vectors]:
        """The vector of a text, and those of its tokens."""
        ids = np.array([encoding.ids], dtype=np.int64)
        mask = np.ones_like(ids)
        known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        # Not every network has all three: those like RoBERTa know no kinds of tokens.
        inputs = {each.name: known[each.name] for each in session.get_inputs() if each.name in known}
        tokens = np.asarray(session.run(None, inputs)[0])
        return self._pool(tokens, mask)[0], tokens[0]


def _rows(vectors: Sequence[Vectors], dimensions: int) -> Vectors:
    """As one array, scaled to length 1."""
    rows = np.empty((len(vectors), dimensions), dtype=np.float32)
    for row, vector in zip(rows, vectors, strict=True):
        row[:] = vector
    return unit_rows(rows)


def _words(encoding: Encoding) -> list[int]:
    """The places of tokens that are neither special nor only punctuation, which ColBERT leaves out as well; of a text
    of nothing else, all but the special ones, and of an empty text all."""
    own = [place for place, special in enumerate(encoding.special_tokens_mask) if not special]
    words = [place for place in own if any(map(str.isalnum, encoding.tokens[place]))]
    return words or own or list(range(len(encoding.ids)))


def mean_pool(token_vectors: NDArray[np.float32], mask: NDArray[np.int64]) -> Vectors:
    """Mean over the tokens that `mask` (texts, tokens) marks with 1, of vectors (texts, tokens, dimensions).

    Every text has at least one such token: the tokenizer adds two.
    """
    weights = mask[:, :, None].astype(np.float32)
    means: Vectors = (token_vectors * weights).sum(axis=1) / weights.sum(axis=1)
    return means


def first_token(token_vectors: NDArray[np.float32], _mask: NDArray[np.int64]) -> Vectors:
    """The vector of the first token (CLS), as BERT was trained to stand for the whole (Devlin et al. 2019,
    arXiv:1810.04805)."""
    return token_vectors[:, 0]
