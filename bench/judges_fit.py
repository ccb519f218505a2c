"""The five weights of the default judge, fitted to labelled answers."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from citewell.checking import aligned
from citewell.checking.alignment import Aligner
from citewell.checking.reading import read
from citewell.evaluation.judging.rated import read_rated
from citewell.models.minilm import MiniLM

WEIGHTS = {
    "BIAS": aligned.BIAS,
    "FOCUSED": aligned.FOCUSED,
    "PAIRED": aligned.PAIRED,
    "COSINE": aligned.COSINE,
    "HINGES": aligned.HINGES,
}
RIDGE = 1e-3  # on the squares of the weights but the bias, where the four sets weigh 4 together
STEPS = 50  # of Newton; a few are enough
HIGHEST = 4  # of MTRAG's ratings, of which the lowest is 1
_YES_OR_NO = re.compile(r"^(?:yes|no)(?:[,.;:]\s*|$)", re.IGNORECASE)  # the judge looks at what follows

Values = NDArray[np.float64]


def fitted(paths: dict[str, Path], embedder: MiniLM) -> Values:
    """The weights, in the order of `WEIGHTS`: each set counts alike, each answer in it, and each claim of an answer."""
    aligner, rows, targets, counts = Aligner(embedder), list[list[float]](), list[float](), list[float]()
    for path in (path for name, path in paths.items() if name.endswith("fitted")):
        answers = [answer for answer in read_rated(path) if answer.claims]
        wrong = Counter(answer.group for answer in answers if answer.supported is False)
        for answer in answers:
            target = float(bool(answer.supported)) if answer.rating is None else (answer.rating - 1) / (HIGHEST - 1)
            # Several wrong answers to one question of HaluEval weigh as one.
            share = wrong[answer.group] if answer.supported is False and path.name.startswith("halueval") else 1
            passages = read(answer.passages)
            for claim in (_YES_OR_NO.sub("", each, count=1) for each in answer.claims):
                if not claim or not passages.statements or passages.hold(claim):
                    continue  # not judged by the weights
                found = aligner.align(claim, passages.statements, answer.question)
                rows.append([1.0, found.focused, found.paired, found.cosine, float(found.hinges)])
                targets.append(target)
                counts.append(1 / share / len(answers) / len(answer.claims))
    return logistic(np.array(rows), np.array(targets), np.array(counts))


def logistic(x: Values, y: Values, counts: Values) -> Values:
    """Weights of a logistic function by Newton's method; x of shape (claims, weights), its first column 1."""
    ridge = 2 * RIDGE * np.diag([0.0] + [1.0] * (x.shape[1] - 1))
    weights = np.zeros(x.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (counts * (chance - y)) + ridge @ weights
        curve = (x.T * (counts * chance * (1 - chance))) @ x + ridge
        weights -= np.linalg.solve(curve, slope)
    return weights
