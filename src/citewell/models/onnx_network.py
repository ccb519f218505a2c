"""Networks of tokens as ONNX and their tokenizers, on onnxruntime: texts in, numbers for each token out; and, for a
sentence embedder, unit vectors."""

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
INPUTS = {"input_ids", "attention_mask", "token_type_ids"}


class TokenNetwork:
    """`model.onnx` and `tokenizer.json` of a folder. Loads them at the first use; safe to share between threads.

    Of a longer text only the first `max_tokens` are read. What the libraries raise for files that are none goes
    through: see `citewell.models.onnx_failures`.
    """

    def __init__(self, folder: Traversable, max_tokens: int, threads: int = 0) -> None:
        self._folder = folder
        self._max_tokens = max_tokens
        self._threads = threads or os.cpu_count() or 1

    def each(self, texts: Sequence[str], make: Callable[[str, Encoding, Vectors], T]) -> list[T]:
        """What `make` makes of each text, its tokens and their numbers, shape (tokens, numbers): one text a call of the
        network, on as many threads as there are cores.

        An int8 network scales activations over a whole batch, so in a batch a text's vector would depend on its
        company (cosine down to .987); and on a CPU a batch is no faster than its texts one by one.
        """
        encodings = self.truncator.encode_batch(list(texts))
        _ = self.session  # loaded here, before the threads would each load their own

        def run(place: int) -> T:
            return make(texts[place], encodings[place], self.run(encodings[place]))

        if len(texts) == 1:
            return [run(0)]
        # Longest first, so that no thread is left alone with a long one at the end.
        places = sorted(range(len(texts)), key=lambda place: -len(encodings[place].ids))
        with ThreadPoolExecutor(self._threads) as pool:
            made = dict(zip(places, pool.map(run, places), strict=True))
        return [made[place] for place in range(len(texts))]

    def run(self, encoding: Encoding) -> Vectors:
        """The network's first output for one text, shape (tokens, numbers)."""
        ids = np.array([encoding.ids], dtype=np.int64)
        known = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        # Not every network has all three: those like RoBERTa know no kinds of tokens.
        inputs = {each.name: known[each.name] for each in self.session.get_inputs() if each.name in known}
        # Only the first: an export may give every layer too.
        (tokens,) = self.session.run([self.session.get_outputs()[0].name], inputs)
        numbers: Vectors = np.asarray(tokens, dtype=np.float32)[0]
        return numbers

    def width(self) -> int:
        """How many numbers it gives for a token, found by running it."""
        return len(self.run(self.truncator.encode("width"))[0])

    @cached_property
    def session(self) -> InferenceSession:
        """Raises:
        ValueError: the network wants something else than tokens, or does not give a row for each token.
        """
        import onnxruntime

        options = onnxruntime.SessionOptions()
        # One thread a text and several texts at once is 1.4 times as fast as several threads on one text.
        options.intra_op_num_threads = 1
        options.log_severity_level = 4  # what fails is raised, and need not be printed too
        # By its path: the weights of a large model lie in a second file beside it.
        with as_file(self._folder / MODEL) as path:
            session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        _check_kind(session)
        return session

    @cached_property
    def truncator(self) -> Tokenizer:
        made = tokenizer((self._folder / TOKENIZER).read_text(encoding="utf-8"))
        made.enable_truncation(self._max_tokens)
        return made


class OnnxNetwork(TokenNetwork):
    """A sentence embedder: `pool` makes one vector of those of a text's tokens."""

    def __init__(self, folder: Traversable, pool: Pool, max_tokens: int, threads: int = 0) -> None:
        super().__init__(folder, max_tokens, threads)
        self._pool = pool

    def embed(self, texts: Sequence[str], dimensions: int) -> Vectors:
        """Vectors of shape (len(texts), dimensions).

        Raises:
            ValueError: a vector has another width, or cannot be scaled to length 1.
        """
        return _rows(self.each(texts, lambda _text, _encoding, tokens: self._pooled(tokens)), dimensions)

    def embed_tokens(self, texts: Sequence[str], dimensions: int, prefix: str = "") -> tuple[Vectors, list[Vectors]]:
        """What `embed` gives, and for each text the vectors of those of its tokens that are words or parts of words,
        shape (tokens, width), rows of length 1. The network reads `prefix` before each text; it has no vectors there.

        Raises:
            ValueError: a vector has another width, or cannot be scaled to length 1.
        """
        made = self.each(
            [prefix + text for text in texts],
            lambda text, encoding, tokens: (
                self._pooled(tokens),
                unit_rows(tokens[_words(text, encoding, len(prefix))]),
            ),
        )
        return _rows([vector for vector, _ in made], dimensions), [tokens for _, tokens in made]

    def query_tokens(self, query: str, prefix: str = "") -> QueryTokens:
        """Those of `embed_tokens` for one text, with the words that they are of.

        Raises:
            ValueError: a vector cannot be scaled to length 1.
        """
        whole = prefix + query
        encoding = self.truncator.encode(whole)
        vectors = self.run(encoding)
        kept = _words(whole, encoding, len(prefix))
        words = (encoding.token_to_word(place) for place in kept)
        spans = (encoding.word_to_chars(word) if word is not None else None for word in words)
        return QueryTokens(unit_rows(vectors[kept]), tuple(whole[slice(*span)] if span else "" for span in spans))

    def _pooled(self, tokens: Vectors) -> Vectors:
        """One vector for a text, of which every token is there: nothing is padded."""
        vector: Vectors = self._pool(tokens[None], np.ones((1, len(tokens)), dtype=np.int64))[0]
        return vector


def _check_kind(session: InferenceSession) -> None:
    asked = {each.name for each in session.get_inputs()}
    if "input_ids" not in asked or not asked <= INPUTS:
        raise ValueError(f"the network takes {', '.join(sorted(asked))}, not {', '.join(sorted(INPUTS))}")
    output = session.get_outputs()[0]
    if len(output.shape) != 3:
        raise ValueError(f"its first output, {output.name}, has {len(output.shape)} axes, not texts, tokens, numbers")


def _rows(vectors: Sequence[Vectors], dimensions: int) -> Vectors:
    """As one array, scaled to length 1."""
    rows = np.empty((len(vectors), dimensions), dtype=np.float32)
    for row, vector in zip(rows, vectors, strict=True):
        row[:] = vector
    return unit_rows(rows)


def _words(text: str, encoding: Encoding, begin: int) -> list[int]:
    """The places of tokens from `begin` on that are neither special nor only punctuation, which ColBERT leaves out as
    well; of a text of nothing else, all but the special ones, and of an empty text all."""
    spans = encoding.offsets
    special = encoding.special_tokens_mask
    own = [place for place, (start, _) in enumerate(spans) if not special[place] and start >= begin]
    words = [place for place in own if any(map(str.isalnum, text[slice(*spans[place])]))]
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
