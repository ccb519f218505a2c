"""A made-up world of facts for a tiny model with reflection tokens: questions, passages, answers, and what is right.

"The fee of passports is 12 pounds" is a fact of a thing, an attribute and a number. A passage states two facts; it is
relevant where one of them is asked for. Every fifth pair of a thing and an attribute is held out: no training text
asks for it or states it, though all its words occur.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from random import Random

from citewell.reflection.tokens import Token

THINGS = (
    *("passports", "visas", "permits", "licences", "cards", "loans", "accounts", "mortgages"),
    *("refunds", "tickets", "parcels", "letters", "keys", "badges", "lockers", "bicycles"),
    *("boats", "trailers", "vans", "tents", "rooms", "halls", "courses", "exams"),
)
UNITS = {
    "fee": "pounds",
    "fine": "pounds",
    "deposit": "pounds",
    "wait": "days",
    "notice": "days",
    "term": "months",
    "weight": "kilos",
    "length": "metres",
}
HIGHEST = 99
ASKED = (
    "What is the {attribute} of {thing} ?",
    "Tell me the {attribute} of {thing} .",
    "{thing} : which {attribute} ?",
)
STATED = (
    "The {attribute} of {thing} is {number} {unit} .",
    "For {thing} the {attribute} is {number} {unit} .",
    "{thing} have a {attribute} of {number} {unit} .",
)
THANKS = ("Thank you , that is all .", "Thank you .", "Good morning .", "That is all , good bye .")
REPLY = "You are welcome ."

PAIRS = tuple(product(THINGS, UNITS))
HELD_OUT = frozenset(Random(5).sample(PAIRS, len(PAIRS) // 5))


@dataclass(frozen=True, slots=True)
class Fact:
    """That the attribute of a thing is a number of its unit."""

    thing: str
    attribute: str
    number: int

    @property
    def value(self) -> str:
        return f"{self.number} {UNITS[self.attribute]}"

    def is_of(self, pair: tuple[str, str]) -> bool:
        return (self.thing, self.attribute) == pair

    def stated(self, rng: Random) -> str:
        form = rng.choice(STATED)
        return form.format(attribute=self.attribute, thing=self.thing, number=self.number, unit=UNITS[self.attribute])


@dataclass(frozen=True, slots=True)
class Passage:
    """Two facts and the text that states them."""

    facts: tuple[Fact, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about a pair, its passages, and the place of the one that answers it; None where none does."""

    question: str
    pair: tuple[str, str]
    passages: tuple[Passage, ...]
    right: int | None

    @property
    def answer(self) -> str:
        """ "" where no passage answers."""
        facts = self.passages[self.right].facts if self.right is not None else ()
        return next((fact.value for fact in facts if fact.is_of(self.pair)), "")


@dataclass(frozen=True, slots=True)
class World:
    """Makes texts of the pairs that are held out, or of the others."""

    rng: Random
    held_out: bool = False

    def pair(self) -> tuple[str, str]:
        while True:
            pair = self.rng.choice(PAIRS)
            if (pair in HELD_OUT) == self.held_out:
                return pair

    def question(self, pair: tuple[str, str]) -> str:
        return self.rng.choice(ASKED).format(thing=pair[0], attribute=pair[1])

    def passage(self, pair: tuple[str, str], *, relevant: bool) -> Passage:
        """One that states the pair beside something near, or two things that are near to it.

        Near is the thing with another attribute, or the attribute of another thing: both words of the question may
        stand in a passage that does not answer it.
        """
        facts = [self._near(pair), self._near(pair)]
        if relevant:
            facts[0] = self._fact(pair)
        self.rng.shuffle(facts)
        return Passage(tuple(facts), " ".join(fact.stated(self.rng) for fact in facts))

    def asked(self, passages: int, *, answerable: bool) -> Asked:
        pair = self.pair()
        shown = [self.passage(pair, relevant=answerable and not place) for place in range(passages)]
        first = shown[0]
        self.rng.shuffle(shown)
        return Asked(self.question(pair), pair, tuple(shown), shown.index(first) if answerable else None)

    def _near(self, pair: tuple[str, str]) -> Fact:
        thing, attribute = pair
        while True:
            other = self.rng.choice(((thing, self.rng.choice(list(UNITS))), (self.rng.choice(THINGS), attribute)))
            if other != pair and (other in HELD_OUT) <= self.held_out:
                return self._fact(other)

    def _fact(self, pair: tuple[str, str]) -> Fact:
        return Fact(*pair, self.rng.randint(1, HIGHEST))


Part = tuple[str | Token, bool]
"""A piece of a training text, and whether it is to be learned: what is asked and read is not, nor what is wrong."""


def lesson(world: World) -> Iterator[Part]:
    """One training text after the question: retrieve?, passage, relevant?, answer, supported?, useful?

    Half of the passages answer. Of a passage that does not, the model learns to take one of its facts all the same, as
    a model does that is misled; a third of the answers are made wrong, to be judged and not to be learned.
    """
    rng = world.rng
    if rng.random() < 0.1:
        yield rng.choice(THANKS), False
        yield from ((Token.NO_RETRIEVAL, True), (REPLY, True), (Token.UTILITY_5, True))
        return
    pair = world.pair()
    relevant = rng.random() < 0.5
    passage = world.passage(pair, relevant=relevant)
    told = next((fact for fact in passage.facts if fact.is_of(pair)), None) or rng.choice(passage.facts)
    said, support, use = _judged(told, passage.facts, relevant, rng)
    yield world.question(pair), False
    yield Token.RETRIEVAL, True
    yield from ((Token.PASSAGE, False), (passage.text, False), (Token.PASSAGE_END, False))
    yield (Token.RELEVANT if relevant else Token.IRRELEVANT), True
    yield said, said == told.value
    yield from ((support, True), (use, True))


def _judged(told: Fact, facts: Sequence[Fact], relevant: bool, rng: Random) -> tuple[str, Token, Token]:
    """An answer, whether its passage supports it, and of what use it is."""
    kind = rng.choice(("right", "right", "right", "right", "unit", "number"))
    said = told.value
    if kind == "unit":
        others = sorted(set(UNITS.values()) - {UNITS[told.attribute]})
        said = f"{told.number} {rng.choice(others)}"
    elif kind == "number":
        number = rng.choice([fact.number for fact in facts if fact != told] + [rng.randint(1, HIGHEST)])
        said = replace(told, number=number).value
    if not relevant:
        return said, Token.NO_SUPPORT, Token.UTILITY_1
    if said == told.value:
        return said, Token.FULLY_SUPPORTED, Token.UTILITY_5
    if kind == "unit":
        return said, Token.PARTIALLY_SUPPORTED, Token.UTILITY_3
    return said, Token.NO_SUPPORT, Token.UTILITY_2
