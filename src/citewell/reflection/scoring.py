"""The score of a candidate from the probabilities of its reflection tokens.

Asai et al. 2023 (arXiv:2310.11511), section 3.3 and appendix A.3: of each group G of tokens a score s(G) from the
probabilities of its tokens, scaled to a sum of 1; S(Critique) is the sum of w(G) s(G); and a segment's score is
S(Critique) plus the probability of its text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from citewell.reflection.tokens import IS_RELEVANT, IS_SUPPORTED, IS_USEFUL, RETRIEVE, Token

IN_PART = 0.5
"""What "partially supported" is worth, where "fully" is worth 1."""

USES = (-1.0, -0.5, 0.0, 0.5, 1.0)
"""What the five grades of use are worth."""

Probabilities = Mapping[Token, float]
"""Those of the tokens of a group as the next token. They need not sum to 1: the model may write anything there."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Of the three scores; as published."""

    relevant: float = 1.0
    supported: float = 1.0
    useful: float = 0.5


@dataclass(frozen=True, slots=True)
class Scores:
    """Of one candidate: `relevant` and `supported` from 0 to 1, `useful` from -1 to 1."""

    relevant: float
    supported: float
    useful: float

    def critique(self, weights: Weights) -> float:
        """S(Critique)."""
        return weights.relevant * self.relevant + weights.supported * self.supported + weights.useful * self.useful


def scores(relevant: Probabilities, supported: Probabilities, useful: Probabilities) -> Scores:
    """From the probabilities of the three groups, each at its place in the text."""
    of_support = scaled(supported, IS_SUPPORTED)
    return Scores(
        relevant=scaled(relevant, IS_RELEVANT)[Token.RELEVANT],
        supported=of_support[Token.FULLY_SUPPORTED] + IN_PART * of_support[Token.PARTIALLY_SUPPORTED],
        useful=sum(worth * share for worth, share in zip(USES, scaled(useful, IS_USEFUL).values(), strict=True)),
    )


def wants_passages(retrieve: Probabilities, above: float) -> bool:
    """Whether the share of "retrieve" of it and "do not" is above a threshold (adaptive retrieval; published: 0.2)."""
    return scaled(retrieve, RETRIEVE)[Token.RETRIEVAL] > above


def scaled(found: Probabilities, group: Sequence[Token]) -> dict[Token, float]:
    """The shares of a group's tokens, in the group's order; alike where the model gives none of them any chance.

    Raises:
        ValueError: a probability is below 0 or none (NaN).
    """
    chances = [found.get(token, 0.0) for token in group]
    if not all(chance >= 0 for chance in chances):
        raise ValueError(f"probabilities of reflection tokens must be 0 or more, not {chances}")
    whole = sum(chances)
    return {token: chance / whole if whole else 1 / len(group) for token, chance in zip(group, chances, strict=True)}
