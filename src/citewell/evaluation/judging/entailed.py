"""A judge that is a natural language inference model: does the passage entail the claim?

The model is a folder as sequence classifiers are exported to ONNX: `model.onnx`, `tokenizer.json`, and a `config.json`
whose `id2label` names the classes. As a measure of faithfulness: Honovich et al. 2022, "TRUE" (arXiv:2204.04991).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from citewell.checking.judge import Judgement
from citewell.models.onnx_network import MODEL, TOKENIZER
from citewell.models.sequence_classifier import CONFIG, SequenceClassifier

if TYPE_CHECKING:
    from tokenizers import Encoding

VERSION = 1
"""Changes with every change of how texts become windows and logits a judgement, and the judge's name with it."""

FILES = (MODEL, TOKENIZER, CONFIG)


class EntailedJudge:
    """A `Judge` by the greatest entailment of a claim over the passages; a long one is read in windows.

    The passages are not taken together: a claim that needs two of them is entailed by none. Its files are loaded at the
    first use.

    Raises:
        SettingsError: at the first use: a file is missing or damaged, or the model is of another kind.
    """

    def __init__(self, folder: Path, threads: int = 0) -> None:
        self._folder = folder
        # The claim stays whole in each window of the passage.
        self._network = SequenceClassifier(folder, "judge's", FILES, "only_first", threads)

    @cached_property
    def name(self) -> str:
        """The folder's name and one digest of its three files: each of them changes judgements."""
        digests = b"".join(self._digest(each) for each in FILES)
        return f"nli-{VERSION}:{self._folder.name}, {hashlib.sha256(digests).hexdigest()[:16]}"

    def judge(self, claims: Sequence[str], passages: Sequence[str], question: str = "") -> list[Judgement]:  # noqa: ARG002  # the protocol's; such models are trained on statements alone
        """As `Judge.judge`; always judges."""
        return [self._one(claim, passages) for claim in claims]

    def _one(self, claim: str, passages: Sequence[str]) -> Judgement:
        rows = [self._probabilities(window) for passage in passages for window in self._windows(passage, claim)]
        if not rows:
            return Judgement(0.0, reason="there is no passage")
        entailed, against = self._classes
        best = max(float(row[entailed]) for row in rows)
        worst = max(float(row[against]) for row in rows) if against is not None else 0.0
        return Judgement(best, contradicted=worst > best, reason=f"entailed {best:.2f}, contradicted {worst:.2f}")

    def _digest(self, name: str) -> bytes:
        with self._network.explained(), (self._folder / name).open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()

    def _windows(self, passage: str, claim: str) -> list[Encoding]:
        if not passage.strip():
            return []
        (first,) = self._network.encoded([(passage, claim)])
        return [first, *first.overflowing]

    def _probabilities(self, window: Encoding) -> NDArray[np.float64]:
        logits = self._network.logits(window)
        powers = np.exp(logits - logits.max())
        shares: NDArray[np.float64] = powers / powers.sum()
        return shares

    @cached_property
    def _classes(self) -> tuple[int, int | None]:
        """The places of entailment and of contradiction; None where the model does not tell it from neutral."""
        named = {label.casefold(): place for place, label in self._network.labels.items()}
        entailed = [place for label, place in named.items() if label.startswith("entail")]
        against = [place for label, place in named.items() if label.startswith("contra")]
        if not entailed:
            raise self._network.wrong(f"has no class named entailment among {', '.join(sorted(named))}")
        return entailed[0], against[0] if against else None
