"""A judge that is a natural language inference model: does the passage entail the claim?

The model is a folder as sequence classifiers are exported to ONNX: `model.onnx`, `tokenizer.json`, and a `config.json`
whose `id2label` names the classes. As a measure of faithfulness: Honovich et al. 2022, "TRUE" (arXiv:2204.04991).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from citewell.errors import SettingsError
from citewell.evaluation.judging.judge import Judgement
from citewell.evaluation.judging.wording import whole
from citewell.models.onnx_network import MODEL, TOKENIZER
from citewell.models.tokens import tokenizer
from citewell.stores import files

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

VERSION = 1
"""Changes with every change of how texts become windows and logits a judgement, and the judge's name with it."""

CONFIG = "config.json"
FILES = (MODEL, TOKENIZER, CONFIG)
MOST_TOKENS = 512
OVERLAP = 64
"""Tokens that two windows of a long passage share."""

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class _Config(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id2label: Mapping[int, str]
    max_position_embeddings: int = MOST_TOKENS


class EntailedJudge:
    """A `Judge` by the greatest entailment of a claim over the passages; a long one is read in windows.

    The passages are not taken together: a claim that needs two of them is entailed by none. Its files are loaded at the
    first use.

    Raises:
        SettingsError: at the first use: a file is missing or damaged, or the model is of another kind.
    """

    def __init__(self, folder: Path, threads: int = 0) -> None:
        self._folder = folder
        self._threads = threads

    @cached_property
    def name(self) -> str:
        """The folder's name and one digest of its three files: each of them changes judgements."""
        digests = b"".join(self._digest(each) for each in FILES)
        return f"nli-{VERSION}:{self._folder.name}, {hashlib.sha256(digests).hexdigest()[:16]}"

    def judge(self, claims: Sequence[str], passages: Sequence[str], question: str = "") -> list[Judgement]:  # noqa: ARG002  # the protocol's; such models are trained on statements alone
        """As `Judge.judge`; always judges."""
        return [self._one(claim, passages) for claim in claims]

    def _one(self, claim: str, passages: Sequence[str]) -> Judgement:
        rows = [
            self._probabilities(window)
            for passage in passages
            for window in self._windows(whole(passage), whole(claim))
        ]
        if not rows:
            return Judgement(0.0, reason="there is no passage")
        entailed, against = self._classes
        best = max(float(row[entailed]) for row in rows)
        worst = max(float(row[against]) for row in rows) if against is not None else 0.0
        return Judgement(best, contradicted=worst > best, reason=f"entailed {best:.2f}, contradicted {worst:.2f}")

    def _digest(self, name: str) -> bytes:
        with self._explained(), (self._folder / name).open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()

    def _windows(self, passage: str, claim: str) -> list[Encoding]:
        if not passage.strip():
            return []
        with self._explained():
            # The claim stays whole in each window; of one that fills it, the half that leaves room for the passage.
            spans = self._plain.encode(claim, add_special_tokens=False).offsets[: self._most_tokens // 2]
            first = self._pairing.encode(passage, claim[: spans[-1][1]] if spans else claim)
            return [first, *first.overflowing]

    def _probabilities(self, window: Encoding) -> NDArray[np.float64]:
        ids = np.array([window.ids], dtype=np.int64)
        kinds = np.array([window.type_ids], dtype=np.int64)
        known = dict(zip(INPUTS, (ids, np.ones_like(ids), kinds), strict=True))
        with self._explained():
            inputs = {each.name: known[each.name] for each in self._session.get_inputs()}
            logits = np.asarray(self._session.run(None, inputs)[0], dtype=np.float64)[0]
        powers = np.exp(logits - logits.max())
        shares: NDArray[np.float64] = powers / powers.sum()
        return shares

    @cached_property
    def _config(self) -> _Config:
        with self._explained():
            data = (self._folder / CONFIG).read_bytes()
        try:
            return _Config.model_validate_json(data)
        except ValidationError as error:
            raise self._wrong(f"has a {CONFIG} that names no classes: {files.complaint(error)}") from None

    @cached_property
    def _classes(self) -> tuple[int, int | None]:
        """The places of entailment and of contradiction; None where the model does not tell it from neutral."""
        named = {label.casefold(): place for place, label in self._config.id2label.items()}
        entailed = [place for label, place in named.items() if label.startswith("entail")]
        against = [place for label, place in named.items() if label.startswith("contra")]
        if not entailed:
            raise self._wrong(f"has no class named entailment among {', '.join(sorted(named))}")
        return entailed[0], against[0] if against else None

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
        made.enable_truncation(self._most_tokens, stride=overlap, strategy="only_first")
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
        if isinstance(output[1], int) and output[1] != len(self._config.id2label):
            raise ValueError(f"it has {output[1]} classes, and {CONFIG} names {len(self._config.id2label)}")
        return session

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say in our words what the libraries raise."""
        from onnxruntime.capi import onnxruntime_pybind11_state as kinds

        broken = (kinds.Fail, kinds.InvalidArgument, kinds.InvalidGraph, kinds.InvalidProtobuf, kinds.NotImplemented)
        try:
            yield
        except (OSError, kinds.NoSuchFile):
            missing = [each for each in FILES if not (self._folder / each).is_file()]
            raise self._wrong(f"has no {' and no '.join(missing)}" if missing else "cannot be read") from None
        except (*broken, kinds.RuntimeException, ValueError) as error:
            raise self._wrong(f"cannot be used: {' '.join(str(error).split())[-200:]}") from None

    def _wrong(self, what: str) -> SettingsError:
        return SettingsError(
            f"The judge's folder {self._folder} {what}.",
            remedy=f"Export a sequence classifier as {MODEL}, {TOKENIZER} and {CONFIG} into it.",
        )
