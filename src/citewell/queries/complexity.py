"""Whether a question needs many steps, by a trained linear model: its vector and what its words show.

Adaptive-RAG (Jeong et al. 2024, arXiv:2403.14403) trains a T5 for this; here it is a logistic regression on the
built-in embedder's vector of the question, fitted by bench/adaptive.py. Its weights are in complexity.json.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from citewell.errors import SettingsError
from citewell.models.embedder import Embedder, ModelIdentity, Vectors
from citewell.queries.chains import relations
from citewell.queries.decomposition_rules import LONGEST, split
from citewell.queries.rewriting.vocabulary import ASKING
from citewell.queries.rewriting.words import words_of
from citewell.queries.second_hop import is_chain

FILE = "complexity.json"
SHOWN = (
    "words", "names", "relations", "of", "possessives", "commas", "asking words", "comparing words", "parts", "chain",
)  # fmt: skip
"""What is counted in a question, in the order of `shown`."""
_COUNTED_TO = (40, 5, 3, 4, 3, 4, 3, 3, 1, 1)

_COMPARING = re.compile(
    r"\b(?:or|both|same|than|between|first|earlier|later|older|younger|longer|larger|more|most)\b", re.IGNORECASE
)
_NAMES = re.compile(r"(?<=\s)[A-Z][\w'.-]*(?:\s+[A-Z][\w'.-]*)*")
_POSSESSIVE = re.compile(r"\w['\u2019]s\b")
_OF = re.compile(r"\bof\b", re.IGNORECASE)

Features = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Weights:
    """A logistic regression: `bias`, one weight for each of `SHOWN`, one for each of the vector's dimensions.

    `trained_for` is the digest of the embedder.
    """

    trained_for: str
    bias: float
    shown: Mapping[str, float]
    vector: Sequence[float]

    @property
    def of_features(self) -> Features:
        """In the order of `features`, the bias left out."""
        return np.array([*(self.shown[name] for name in SHOWN), *self.vector])


def needs_many(embedder: Embedder, question: str) -> bool:
    """Whether more than one step of search is likelier needed than not; never for a text too long to be a question.

    Raises:
        SettingsError: the weights are for another embedder.
        ServiceError: the embedder's endpoint failed.
    """
    weights = _trained()
    if weights.trained_for != digest(embedder.identity):
        raise SettingsError(
            f'queries.route = "trained" knows the vectors of the built-in embedder only, not those of '
            f"{embedder.identity.name}.",
            remedy='Set queries.route = "rules", which needs no vectors, or "off".',
        )
    if len(question) > LONGEST:
        return False
    found = features([question], embedder.embed_queries([question]))
    return bool((found @ weights.of_features + weights.bias)[0] > 0)


def digest(identity: ModelIdentity) -> str:
    """SHA-256 of all that a user sees of an embedder, in hexadecimal."""
    return hashlib.sha256(json.dumps(asdict(identity), sort_keys=True).encode()).hexdigest()


def features(questions: Sequence[str], vectors: Vectors) -> Features:
    """Shape (questions, len(SHOWN) + dimensions), float64: what the words show, each 0 to 1, then the vector."""
    counted = np.array([shown(question) for question in questions], dtype=np.float64)
    return np.hstack([counted.reshape(len(questions), len(SHOWN)), vectors.astype(np.float64)])


def shown(question: str) -> tuple[float, ...]:
    """How much of each of `SHOWN` a question has, 0 to 1."""
    words = words_of(question)
    counts = (
        len(words),
        len(_NAMES.findall(question)),
        len(relations(question)),
        len(_OF.findall(question)),
        len(_POSSESSIVE.findall(question)),
        question.count(","),
        sum(word.low in ASKING for word in words),
        len(_COMPARING.findall(question)),
        bool(split(question)),
        is_chain(question),
    )
    return tuple(min(count, most) / most for count, most in zip(counts, _COUNTED_TO, strict=True))


@cache
def _trained() -> Weights:
    return Weights(**json.loads((files("citewell.queries") / FILE).read_text(encoding="utf-8")))
