"""Token vectors for `fusion_rerank.py`: how near each token of a question comes to any token of a passage.

Late interaction (Khattab and Zaharia 2020, ColBERT, arXiv:2004.12832) with the built-in embedder, which was not trained
for it: the vectors that it would take the mean of, scaled to length 1, without those of [CLS] and [SEP], and of a
passage without those of punctuation.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from fusion_sets import Asked, QuestionSet
from numpy.typing import NDArray

from citewell.models.minilm import MiniLM
from citewell.models.onnx_network import OnnxNetwork

Vectors = NDArray[np.float16]


@dataclass(frozen=True, slots=True, eq=False)
class Similar:
    """Of each question (by its text) its tokens, how rare each is (idf over the passages), and for each candidate the
    highest cosine of each token to any token of the passage."""

    tokens: Mapping[str, Sequence[str]]
    idf: Mapping[str, NDArray[np.float64]]
    highest: Mapping[str, Mapping[str, NDArray[np.float32]]]

    @classmethod
    def of_all(cls, sets: Sequence[Similar]) -> Similar:
        """Those of several sets: no question and no chunk is in two."""
        return cls(
            {text: tokens for each in sets for text, tokens in each.tokens.items()},
            {text: idf for each in sets for text, idf in each.idf.items()},
            {text: highest for each in sets for text, highest in each.highest.items()},
        )


class TokenVectors:
    """The built-in network, up to its last hidden state."""

    @cached_property
    def _network(self) -> OnnxNetwork:
        return MiniLM()._network

    def of(self, text: str) -> tuple[list[str], Vectors]:
        """The tokens of a text and their vectors, shape (tokens, 384), rows of length 1."""
        encoding = self._network.truncator.encode(text)
        ids = np.array([encoding.ids], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        vectors = np.asarray(self._network.session.run(None, inputs)[0])[0][1:-1]
        unit = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)
        return encoding.tokens[1:-1], unit


def similar(questions: QuestionSet, candidates: Mapping[str, Sequence[str]], folder: Path) -> Similar:
    """For the candidates of each question, by its text; kept in `folder`."""
    kept = folder / f"{questions.name}-similar.pickle"
    if not kept.exists():
        network = TokenVectors()
        passages = _passages(questions, candidates, network, folder / f"{questions.name}-tokens.npz")
        kept.write_bytes(pickle.dumps(_similar(candidates, passages, network)))
    found = pickle.loads(kept.read_bytes())  # noqa: S301 - this program's own file
    assert isinstance(found, Similar)
    return found


def _passages(
    questions: QuestionSet, candidates: Mapping[str, Sequence[str]], network: TokenVectors, kept: Path
) -> dict[str, tuple[list[str], Vectors]]:
    """The tokens of every candidate, and their vectors without those of punctuation."""
    if not kept.exists():
        chunks = sorted({chunk for each in candidates.values() for chunk in each})
        print(f"{questions.name}: token vectors of {len(chunks)} passages", file=sys.stderr, flush=True)
        made = [network.of(questions.texts[chunk]) for chunk in chunks]
        np.savez(
            kept,
            chunks=np.array(chunks),
            lengths=np.array([len(tokens) for tokens, _ in made]),
            tokens=np.array([token for tokens, _ in made for token in tokens]),
            vectors=np.concatenate([vectors for _, vectors in made]),
        )
    with np.load(kept) as found:
        chunks, tokens, vectors = found["chunks"].tolist(), found["tokens"], found["vectors"]
        ends = np.cumsum(found["lengths"]).tolist()
    spans = zip(chunks, [0, *ends], ends, strict=False)
    of = {chunk: (tokens[start:end].tolist(), vectors[start:end]) for chunk, start, end in spans}
    return {chunk: (words, each[_words(words)]) for chunk, (words, each) in of.items()}


def _similar(
    candidates: Mapping[str, Sequence[str]], passages: Mapping[str, tuple[list[str], Vectors]], network: TokenVectors
) -> Similar:
    in_passages: dict[str, int] = {}
    for held, _ in passages.values():
        for token in set(held):
            in_passages[token] = in_passages.get(token, 0) + 1
    asked = {text: network.of(text) for text in candidates}
    tokens = {text: of for text, (of, _) in asked.items()}
    idf = {
        text: np.array([_idf(in_passages.get(token, 0), len(passages)) for token in of]) for text, of in tokens.items()
    }
    highest = {
        text: {chunk: _highest(vectors, passages[chunk][1]) for chunk in candidates[text]}
        for text, (_, vectors) in asked.items()
    }
    return Similar(tokens, idf, highest)


def _idf(held: int, of: int) -> float:
    return float(np.log(1 + (of - held + 0.5) / (held + 0.5)))


def is_word(token: str) -> bool:
    """Whether it is more than punctuation."""
    return any(map(str.isalnum, token))


def _words(tokens: Sequence[str]) -> list[int]:
    return [place for place, token in enumerate(tokens) if is_word(token)] or list(range(len(tokens)))


def _highest(question: Vectors, passage: Vectors) -> NDArray[np.float32]:
    cosines = question.astype(np.float32) @ passage.astype(np.float32).T
    highest: NDArray[np.float32] = cosines.max(axis=1)
    return highest


def by_text(asked: Iterable[Asked], candidates: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    """The candidates of each question, by its text; one asked by two readers has those of both."""
    found: dict[str, dict[str, None]] = {}
    for one, chunks in zip(asked, candidates, strict=True):
        found.setdefault(one.text, {}).update(dict.fromkeys(chunks))
    return {text: list(chunks) for text, chunks in found.items()}
