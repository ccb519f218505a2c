"""The classifier of `queries.route = "trained"`, fitted: which questions need more than one search."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from adaptive_sets import Asked, Asking
from numpy.typing import NDArray
from scipy.optimize import minimize

from citewell.evaluation.metrics import all_found
from citewell.models.embedder import Embedder
from citewell.queries.complexity import SHOWN, digest, features

RIDGE = 1e-3
"""On the squares of the weights but the bias, where each set weighs 1. Cross-validation asks for less, but its folds
share their articles, which held-out questions do not."""
K = 8
DIGITS = 3
"""Of a weight in the file: that moves no question's sum by 0.02, since the parts of a vector add up to 20 at most."""

Values = NDArray[np.float64]
Ranked = Callable[[str], Sequence[str]]
"""A question's documents, best first, by one search."""


def label(asked: Asked, ranked: Ranked | None) -> bool:
    """Whether it needs many steps, as Adaptive-RAG labels (section 3.2): not where one search finds all that is right;
    else by the kind of its set. A set of single questions is not searched: one step is the simplest there is."""
    if not asked.many or ranked is None:
        return bool(asked.many)
    return not all_found(ranked(asked.text), asked.grades, K)


def fitted(sets: Sequence[Asking], ranked: dict[str, Ranked], embedder: Embedder) -> Values:
    """The bias and the weights of `features`, from the questions to learn from. Each set counts alike."""
    rows, targets, counts = [], list[float](), list[float]()
    for each in sets:
        learnt = [asked for asked in each.asked if asked.train]
        texts = [asked.text for asked in learnt]
        rows.append(features(texts, embedder.embed_queries(texts)))
        targets += [float(label(asked, ranked.get(each.name))) for asked in learnt]
        counts += [1 / len(learnt)] * len(learnt)
    return logistic(np.vstack(rows), np.array(targets), np.array(counts))


def logistic(x: Values, y: Values, counts: Values) -> Values:
    """Bias and weights of a logistic regression; x of shape (questions, features)."""
    x = np.hstack([np.ones((len(x), 1)), x])
    ridge = np.array([0.0] + [RIDGE] * (x.shape[1] - 1))
    signs = 2 * y - 1

    def loss(weights: Values) -> tuple[float, Values]:
        margins = signs * (x @ weights)
        slope = x.T @ (-counts * signs / (1 + np.exp(margins)))
        return float(counts @ np.logaddexp(0, -margins) + ridge @ weights**2), slope + 2 * ridge * weights

    found: Values = minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x
    return found


def write(path: Path, weights: Values, embedder: Embedder) -> None:
    bias, *rest = (round(float(weight), DIGITS) for weight in weights)
    made = {
        "trained_for": digest(embedder.identity),
        "bias": bias,
        "shown": dict(zip(SHOWN, rest, strict=False)),
        "vector": rest[len(SHOWN) :],
    }
    path.write_text(json.dumps(made) + "\n", encoding="utf-8")
