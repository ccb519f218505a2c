"""A network that reads two texts at once and gives a number for each class, as sequence classifiers are exported to
ONNX: `model.onnx`, `tokenizer.json` and, where the classes have names, `config.json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from citewell.complaints import explained
from citewell.errors import SettingsError
from citewell.models import onnx_failures
from citewell.models.onnx_network import MODEL, TOKENIZER
from citewell.models.tokens import tokenizer

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

CONFIG = "config.json"
LEAST_TOKENS, MOST_TOKENS = 16, 512
OVERLAP = 64
"""Tokens that two windows of a long text share."""

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class _Config(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id2label: Mapping[int, str] = {}
    max_position_embeddings: int = Field(MOST_TOKENS, ge=LEAST_TOKENS)


class SequenceClassifier:
    """Pairs of texts to logits. Loads its files at the first use; safe to share between threads after that.

    `whose` folder it is stands in errors, and `files` are those that must be in it. Of a pair that is too long, the
    text that `shortens` names is cut; the other one stays whole up to half of what the network reads.

    Raises:
        SettingsError: at the first use: a file is missing or damaged, or the network is of another kind.
    """

    def __init__(
        self,
        folder: Path,
        whose: str,
        files: Sequence[str],
        shortens: Literal["only_first", "only_second"],
        threads: int,
    ) -> None:
        self._folder = folder
        self._whose = whose
        self._files = files
        self._shortens = shortens
        self._threads = threads

    @property
    def labels(self) -> Mapping[int, str]:
        """The names of the classes by their places; none where no file says."""
        return self._config.id2label

    def load(self) -> None:
        """Load the network now, before several threads would each load their own."""
        with self.explained():
            _ = self._session

    def encoded(self, pairs: Sequence[tuple[str, str]]) -> list[Encoding]:
        """The pairs as the network reads them. What did not fit is in each one's `overflowing`, in windows."""
        first = self._shortens == "only_first"
        with self.explained():
            kept = {text: self._half(text) for text in {pair[first] for pair in pairs}}
            fitting = [(_text(a), kept[b]) if first else (kept[a], _text(b)) for a, b in pairs]
            return list(self._pairing.encode_batch(fitting))

    def logits(self, encoding: Encoding) -> NDArray[np.float64]:
        """The network's numbers for one pair, shape (classes,).

        One pair a call: an int8 network scales activations over a whole batch, so that a pair's numbers would depend
        on its company.
        """
        ids = np.array([encoding.ids], dtype=np.int64)
        kinds = np.array([encoding.type_ids], dtype=np.int64)
        known = dict(zip(INPUTS, (ids, np.ones_like(ids), kinds), strict=True))
        with self.explained():
            inputs = {each.name: known[each.name] for each in self._session.get_inputs()}
            row: NDArray[np.float64] = np.asarray(self._session.run(None, inputs)[0], dtype=np.float64)[0]
            if not np.isfinite(row).all():
                raise ValueError("it gives what is no number")
        return row

    def wrong(self, what: str) -> SettingsError:
        """The error that says `what` about the folder."""
        names = f"{', '.join(self._files[:-1])} and {self._files[-1]}"
        return SettingsError(
            f"The {self._whose} folder {self._folder} {what}.",
            remedy=f"Export a sequence classifier as {names} into it.",
        )

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Say in our words what the libraries raise."""
        try:
            yield
        except onnx_failures.unreadable():
            raise self.wrong(onnx_failures.absent(self._folder, self._files)) from None
        except onnx_failures.broken() as error:
            raise self.wrong(f"cannot be used: {onnx_failures.reason(error)}") from None
        except ValueError as error:
            raise self.wrong(f"cannot be used: {onnx_failures.reason(error)}") from None

    def _half(self, text: str) -> str:
        """The text, or as much of it as leaves half of what the network reads to the other one."""
        text = _text(text)
        spans = self._plain.encode(text, add_special_tokens=False).offsets[: self._most_tokens // 2]
        return text[: spans[-1][1]] if spans else text

    @cached_property
    def _config(self) -> _Config:
        if CONFIG not in self._files and not (self._folder / CONFIG).is_file():
            return _Config()
        with self.explained():
            data = (self._folder / CONFIG).read_bytes()
        try:
            return _Config.model_validate_json(data)
        except ValidationError as error:
            raise self.wrong(f"has a {CONFIG} that is none: {explained(error)}") from None

    @cached_property
    def _most_tokens(self) -> int:
        return min(self._config.max_position_embeddings, MOST_TOKENS)

    @cached_property
    def _plain(self) -> Tokenizer:
        return tokenizer((self._folder / TOKENIZER).read_text(encoding="utf-8"))

    @cached_property
    def _pairing(self) -> Tokenizer:
        made = tokenizer((self._folder / TOKENIZER).read_text(encoding="utf-8"))
        overlap = min(OVERLAP, self._most_tokens // 8)
        made.enable_truncation(self._most_tokens, stride=overlap, strategy=self._shortens)
        return made

    @cached_property
    def _session(self) -> InferenceSession:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.log_severity_level = 4  # what fails is raised, and need not be printed too
        session = onnxruntime.InferenceSession(self._folder / MODEL, options, providers=["CPUExecutionProvider"])
        output = session.get_outputs()[0].shape
        asked = {each.name for each in session.get_inputs()}
        if "input_ids" not in asked or not asked <= set(INPUTS):
            raise ValueError(f"the network takes {', '.join(sorted(asked))}, not {', '.join(INPUTS)}")
        if len(output) != 2:
            raise ValueError(f"its first output has {len(output)} axes, not texts and classes")
        if self.labels and isinstance(output[1], int) and output[1] != len(self.labels):
            raise ValueError(f"it has {output[1]} classes, and {CONFIG} names {len(self.labels)}")
        return session


def _text(text: str) -> str:
    """With a question mark for each half of a surrogate pair, which no tokenizer takes."""
    return text.encode("utf-8", "replace").decode()
