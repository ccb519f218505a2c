"""A sentence embedder as an ONNX network and its tokenizer, on onnxruntime: texts in, unit vectors out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib.resources import as_file
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from citewell.models.embedder import Vectors, unit_rows
from citewell.models.tokens import tokenizer

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

Pool = Callable[[NDArray[np.float32], NDArray[np.int64]], Vectors]
"""From token vectors (texts, tokens, dimensions) and a mask (texts, tokens) to vectors (texts, dimensions)."""

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
        """Vectors of shape (len(texts), dimensions): one text a call of the network, on as many threads as there are
        cores.

        An int8 network scales activations over a whole batch, so in a batch a text's vector would depend on its
        company (cosine down to .987); and on a CPU a batch is no faster than its texts one by one.

        Raises:
            ValueError: a vector has another width, or cannot be scaled to length 1.
        """
        vectors = np.empty((len(texts), dimensions), dtype=np.float32)
        encodings = self._truncator.encode_batch(list(texts))
        session = self.session  # loaded here, before the threads would each load their own

        def fill(place: int) -> None:
            vectors[place] = self._vector(session, encodings[place])

        # Longest first, so that no thread is left alone with a long one at the end.
        places = sorted(range(len(texts)), key=lambda place: -len(encodings[place].ids))
        if len(places) == 1:
            fill(0)
        else:
            with ThreadPoolExecutor(self._threads) as pool:
                list(pool.map(fill, places))
        return unit_rows(vectors)

    def width(self) -> int:
        """The numbers of a vector, found by making one."""
        return len(self._vector(self.session, self._truncator.encode("width")))

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

    def _vector(self, session: InferenceSession, encoding: Encoding) -> Vectors:
        ids = np.array([encoding.ids], dtype=np.int64)
        mask = np.ones_like(ids)
        known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        # Not every network has all three: those like RoBERTa know no kinds of tokens.
        inputs = {each.name: known[each.name] for each in session.get_inputs() if each.name in known}
        vector: Vectors = self._pool(np.asarray(session.run(None, inputs)[0]), mask)[0]
        return vector


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
