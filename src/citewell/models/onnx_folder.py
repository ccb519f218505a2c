"""An embedder of one's own: a folder with `model.onnx` and `tokenizer.json`, as sentence embedders are exported."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from citewell.errors import SettingsError
from citewell.models import onnx_failures
from citewell.models.embedder import ModelIdentity, QueryTokens, TokenSpans, Vectors
from citewell.models.onnx_network import MODEL, TOKENIZER, OnnxNetwork, first_token, mean_pool
from citewell.models.tokens import TokenCounter

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

POOLS = {"mean": mean_pool, "cls": first_token}
INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
PREFIX = "onnx:"
REMEDY = "Lower models.embedder_max_tokens to what the model reads, and check that both files are of one model."


class OnnxFolder:
    """An `Embedder`. Loads its files at the first use; safe to share between threads after that.

    `max_tokens` is what the network reads, `query_prefix` and `passage_prefix` are put before each text. The network
    takes `input_ids` and any of `attention_mask` and `token_type_ids`, and its first output is a vector a token.

    Raises:
        SettingsError: at the first use: a file is missing or damaged, or the network is of another kind.
    """

    def __init__(
        self,
        folder: Path,
        *,
        pooling: Literal["mean", "cls"] = "mean",
        max_tokens: int = 256,
        query_prefix: str = "",
        passage_prefix: str = "",
        threads: int = 0,
    ) -> None:
        self._folder = folder
        self._pooling = pooling
        self._max_tokens = max_tokens
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        self._network = OnnxNetwork(folder, POOLS[pooling], max_tokens, threads)
        self._counter = TokenCounter(lambda: (folder / TOKENIZER).read_text(encoding="utf-8"))

    @cached_property
    def identity(self) -> ModelIdentity:
        width = self._width  # what is wrong with the network is said before its file is read again
        with (self._folder / MODEL).open("rb") as file:
            revision = hashlib.file_digest(file, "sha256").hexdigest()[:16]
        return ModelIdentity(
            name=f"{PREFIX}{self._folder}",
            revision=revision,
            dimensions=width,
            max_tokens=self._max_tokens - len(self.token_spans(self._passage_prefix)),
            pooling=self._pooling,
            query_prefix=self._query_prefix,
            passage_prefix=self._passage_prefix,
        )

    def token_spans(self, text: str) -> TokenSpans:
        with self._explained():
            return self._counter.spans(text)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed(self._passage_prefix, texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(self._query_prefix, texts)

    def embed_passage_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Vectors]]:
        width = self._width
        with self._explained():
            return self._network.embed_tokens([self._passage_prefix + text for text in texts], width)

    def embed_query_tokens(self, query: str) -> QueryTokens:
        with self._explained():
            return self._network.query_tokens(self._query_prefix + query)

    def _embed(self, prefix: str, texts: Sequence[str]) -> Vectors:
        width = self._width
        with self._explained():
            return self._network.embed([prefix + text for text in texts], width)

    @cached_property
    def _width(self) -> int:
        with self._explained("cannot be loaded", f"Export {MODEL} again."):
            _check_kind(self._network.session)
        with self._explained():
            return self._network.width()

    @contextmanager
    def _explained(self, fails: str = "does not take these tokens", remedy: str = REMEDY) -> Iterator[None]:
        """Say in our words what the libraries raise."""
        try:
            yield
        except onnx_failures.unreadable():
            what = onnx_failures.absent(self._folder, (MODEL, TOKENIZER))
            raise self._wrong(what, "Check the path, and the permissions of the files in it.") from None
        except onnx_failures.broken() as error:
            raise self._wrong(f"has a network that {fails}: {onnx_failures.reason(error)}", remedy) from None
        except ValueError as error:
            whole = f"Check that {MODEL} and {TOKENIZER} are whole and of one model."
            raise self._wrong(f"makes no vectors: {error}", whole) from None

    def _wrong(self, what: str, remedy: str) -> SettingsError:
        return SettingsError(f"The embedder's folder {self._folder} {what}.", remedy=remedy)


def _check_kind(session: InferenceSession) -> None:
    """Raises:
    ValueError: the network wants something else than tokens, or does not give a vector a token.
    """
    asked = {each.name for each in session.get_inputs()}
    if "input_ids" not in asked or not asked <= INPUTS:
        raise ValueError(f"the network takes {', '.join(sorted(asked))}, not {', '.join(sorted(INPUTS))}")
    output = session.get_outputs()[0]
    if len(output.shape) != 3:
        raise ValueError(f"its first output, {output.name}, has {len(output.shape)} axes, not texts, tokens, numbers")
