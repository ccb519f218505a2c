"""A model with reflection tokens from a folder with `model.onnx` and `tokenizer.json`, on onnxruntime.

For small models: every token is the whole text read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from citewell.errors import SettingsError
from citewell.models.onnx_failures import ModelFolder
from citewell.models.onnx_network import TOKENIZER, TokenNetwork
from citewell.models.tokens import tokenizer
from citewell.reflection.native import Context, Segment
from citewell.reflection.scoring import Probabilities
from citewell.reflection.tokens import Token

if TYPE_CHECKING:
    from tokenizers import Tokenizer

END = "</s>"


class OnnxReflective:
    """A `ReflectiveModel`. Loads its files at the first use; safe to share between threads after that.

    The network takes `input_ids`, shape (1, tokens), and perhaps an `attention_mask`; its first output is a logit for
    each word of its vocabulary behind each token. The tokenizer knows every `Token` by its name as one token, and
    `</s>` as the end. A segment ends with either, or after `most` tokens.

    Raises:
        SettingsError: at the first use: a file is missing or damaged, or the model is of another kind.
    """

    def __init__(self, folder: Path, *, max_tokens: int = 2_048, most: int = 100) -> None:
        self._folder = ModelFolder("reflective model", folder, "max_tokens")
        self._network = TokenNetwork(folder, max_tokens)
        self._max_tokens = max_tokens
        self._most = most

    def probabilities(self, context: Context, among: Sequence[Token]) -> Probabilities:
        logs = self._next(self._ids(context))
        return {token: float(np.exp(logs[self._special[token.value]])) for token in among}

    def segment(self, context: Context) -> Segment:
        ids, written, gained = self._ids(context), list[int](), 0.0
        ends = set(self._special.values())
        while len(written) < self._most and len(ids) + len(written) < self._max_tokens:
            logs = self._next([*ids, *written])
            likeliest = int(logs.argmax())
            if likeliest in ends:
                break
            written.append(likeliest)
            gained += float(logs[likeliest])
        return Segment(self._tokenizer.decode(written), gained / len(written) if written else -np.inf)

    def _next(self, ids: Sequence[int]) -> NDArray[np.float64]:
        """Log-probabilities of the next token, of the last `max_tokens` at most."""
        read = np.array([ids[-self._max_tokens :]], dtype=np.int64)
        known = {"input_ids": read, "attention_mask": np.ones_like(read), "token_type_ids": np.zeros_like(read)}
        with self._folder.explained():
            session = self._network.session
            inputs = {each.name: known[each.name] for each in session.get_inputs()}
            (logits,) = session.run([session.get_outputs()[0].name], inputs)
        last = np.asarray(logits, dtype=np.float64)[0, -1]
        below = last - last.max()
        logs: NDArray[np.float64] = below - np.log(np.exp(below).sum())
        return logs

    def _ids(self, context: Context) -> list[int]:
        """A text that holds the name of a reflection token is read without it: it must not speak for the model."""
        reserved = set(self._special.values())
        ids = list(self._tokenizer.encode("").ids)  # what a text of this model begins with
        for part in context:
            if isinstance(part, Token):
                ids.append(self._special[part.value])
            else:
                encoded = self._tokenizer.encode(part, add_special_tokens=False).ids
                ids += [id_ for id_ in encoded if id_ not in reserved]
        return ids

    @cached_property
    def _special(self) -> dict[str, int]:
        ids = {name: self._tokenizer.token_to_id(name) for name in (END, *(token.value for token in Token))}
        known = {name: id_ for name, id_ in ids.items() if id_ is not None}
        if missing := [name for name in ids if name not in known]:
            raise SettingsError(
                f"The tokenizer in {self._folder.path} lacks {', '.join(missing)}.",
                remedy="Name the folder of a model that was trained for Self-RAG.",
            )
        return known

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        with self._folder.explained():
            return tokenizer((self._folder.path / TOKENIZER).read_text(encoding="utf-8"))
