"""A linear model on the same texts, beside the rules: is what it finds more, at the same false alarms?

Regularised least squares, in numpy, on hashed n-grams (of 3 to 5 letters and of 1 to 2 words, each row of length
1) or on the embedder's vectors. Every score is of a model that saw no text of that kind: for attacks, their category is
left out (kind not seen), or a fifth of all (kind seen); harmless texts are left out in fifths, the texts of
injections_own.py always. Harmless are the benign traps, questions of SQuAD 2.0, and single
sentences, since a planted instruction is one.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from injections_own import ATTACKS, HARMLESS
from numpy.typing import NDArray

from citewell.models.embedder import Embedder
from citewell.security.scan import scan

FEATURES = 4096
RIDGE = 0.3
FOLDS = 5
ALARMS = (0.002, 0.01, 0.05)

Matrix = NDArray[np.float32]


def hashed(texts: Sequence[str]) -> Matrix:
    made = np.zeros((len(texts), FEATURES), np.float32)
    for row, text in zip(made, texts, strict=True):
        words = re.findall(r"\w+", text.casefold())
        line = f" {' '.join(words)} "
        grams = [line[at : at + n] for n in (3, 4, 5) for at in range(len(line) - n + 1)]
        grams += words + [f"{one}|{two}" for one, two in pairwise(words)]
        for gram in grams:
            row[zlib.crc32(gram.encode()) % FEATURES] += 1
        row /= np.linalg.norm(row) or 1
    return made


def left_out(rows: Matrix, labels: NDArray[np.bool_], groups: Sequence[str]) -> NDArray[np.float64]:
    """The score of each row by a model that saw none of its group: regularised least squares, both classes weighing
    the same. One inverse serves all groups (Rifkin and Lippert 2007, section 3.2, for groups)."""
    targets = np.where(labels, 1 / labels.mean(), -1 / (~labels).mean())
    inverse = np.linalg.inv(rows @ rows.T + 1.0 + RIDGE * np.eye(len(rows)))
    coefficients = inverse @ targets
    scores = np.zeros(len(rows))
    for group in dict.fromkeys(groups):
        own = np.flatnonzero([each == group for each in groups])
        scores[own] = targets[own] - np.linalg.solve(inverse[np.ix_(own, own)], coefficients[own])
    return scores


@dataclass(frozen=True, slots=True)
class Tried:
    """Texts that are asked about, in one order: attacks, traps, those that no rule was written for."""

    said: list[str]
    attack: NDArray[np.bool_]
    trap: NDArray[np.bool_]
    later: NDArray[np.bool_]
    found: NDArray[np.bool_]

    def row(self, scores: NDArray[np.float64], also: NDArray[np.bool_]) -> str:
        """Columns: the attacks found with so many false alarms, the later ones, and the traps among the alarms."""
        columns = []
        for alarm in ALARMS:
            found = (scores > np.quantile(scores[~self.attack], 1 - alarm)) | also
            shares = (
                f"{found[self.attack & ~self.later].mean():.1%}, later {found[self.attack & self.later].mean():.1%}"
            )
            columns.append(f"{shares}, traps {found[self.trap].sum()} of {self.trap.sum()}")
        return " | ".join(columns)


def compared(texts: Sequence[tuple[str, str, bool]], harmless: Sequence[str], embedder: Embedder) -> list[str]:
    """Lines of a table: the share of attacks found by models, and by models or rules, at a share of false alarms.

    `texts` are attacks and traps with their kind; the false alarms are those in `harmless` and the traps together.
    """
    said = [text for text, _, _ in texts] + [*ATTACKS, *HARMLESS] + list(harmless)
    own, rest = len(ATTACKS) + len(HARMLESS), len(harmless)
    malicious = [bad for _, _, bad in texts]
    tried = Tried(
        said,
        np.array(malicious + [True] * len(ATTACKS) + [False] * (len(HARMLESS) + rest)),
        np.array([not bad for bad in malicious] + [False] * (own + rest)),
        np.array([False] * len(texts) + [True] * own + [False] * rest),
        np.array([bool(scan(text)) for text in said]),
    )
    folds = ["later" if later else f"fold {place % FOLDS}" for place, later in enumerate(tried.later)]
    kinds = [kind if bad else fold for (_, kind, bad), fold in zip(texts, folds, strict=False)] + folds[len(texts) :]
    rows = {"n-grams": hashed(said), "embedder": np.asarray(embedder.embed_passages(said), np.float32)}
    none = np.full(len(said), -1.0)
    alarms = " | ".join(f"{alarm:.1%} false alarms" for alarm in ALARMS)
    lines = [
        f"rules: false alarms {tried.found[~tried.attack].sum()} of {(~tried.attack).sum()}",
        f"\n| by | {alarms} |\n{'| --- ' * (len(ALARMS) + 1)}|",
        f"| rules | {tried.row(none, tried.found)} |",
    ]
    for name, made in rows.items():
        for seen, groups in (("kind not seen", kinds), ("kind seen", folds)):
            scores = left_out(made, tried.attack, groups)
            lines.append(f"| {name}, {seen} | {tried.row(scores, np.zeros_like(tried.found))} |")
            lines.append(f"| {name} or rules, {seen} | {tried.row(scores, tried.found)} |")
    return lines
