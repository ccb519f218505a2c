"""Does the score of Self-RAG's reflection tokens pick the right passage, and none where none is right?

    python bench/reflection.py --model DIR [--json]

DIR is what reflection_train.py wrote, or tests/reflection/tiny. Questions are made up (reflection_data.py), about pairs
of a thing and an attribute that no training text had; each has five passages in a random order, and half of the
questions have none that answers. One set of candidates is chosen from in several ways. Intervals are Wilson's, 95 %.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

import machine
from reflection_data import THANKS, Asked, World
from shares import Share

from citewell.reflection.native import Candidate, Choosing, Generated, best, generated
from citewell.reflection.onnx_reflective import OnnxReflective
from citewell.reflection.scoring import Weights

QUESTIONS, PASSAGES, SEED = 300, 5, 7

Choose = Callable[[Sequence[Candidate]], Candidate | None]
WAYS: dict[str, Choose] = {
    "the first passage": lambda found: found[0],
    "the likeliest text": lambda found: best(found, Choosing(weights=Weights(0, 0, 0), hard=False)),
    "scores": lambda found: best(found, Choosing(hard=False)),
    "scores, hard": lambda found: best(found, Choosing()),
    "scores without the text's likelihood, hard": lambda found: max(
        (each for each in found if each.is_relevant and each.is_supported),
        key=lambda each: each.scores.critique(Weights()),
        default=None,
    ),
}


@dataclass(frozen=True, slots=True)
class Row:
    """What one way of choosing does."""

    way: str
    right_passage: Share
    right_answer: Share
    abstained: Share


def row(way: str, answerable: Sequence[tuple[Asked, Generated]], others: Sequence[Generated]) -> Row:
    choose = WAYS[way]
    chosen = [(asked, choose(found.candidates)) for asked, found in answerable]
    return Row(
        way,
        Share.of_all("right passage", [kept is not None and kept.place == asked.right for asked, kept in chosen]),
        Share.of_all(
            "right answer", [kept is not None and kept.segment.text == asked.answer for asked, kept in chosen]
        ),
        Share.of_all("abstained where none answers", [choose(found.candidates) is None for found in others]),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    model, world, always = (
        OnnxReflective(options.model),
        World(Random(SEED), held_out=True),
        Choosing(retrieve_above=None),
    )

    def asked(answerable: bool) -> list[tuple[Asked, Generated]]:
        made = [world.asked(PASSAGES, answerable=answerable) for _ in range(QUESTIONS)]
        return [(each, generated(each.question, [p.text for p in each.passages], model, always)) for each in made]

    answerable, others = asked(True), [found for _, found in asked(False)]
    rows = [row(way, answerable, others) for way in WAYS]
    retrieved = [generated(each.question, (), model, Choosing()).retrieved for each, _ in answerable]
    thanked = [not generated(each, (), model, Choosing()).retrieved for each in THANKS]
    adaptive = Share.of_all("questions that are searched for", retrieved), Share.of_all("thanks that are not", thanked)
    if options.json:
        found = {
            "machine": machine.describe(),
            "rows": [asdict(each) for each in rows],
            "adaptive": [*map(asdict, adaptive)],
        }
        print(json.dumps(found, allow_nan=False))
        return
    print(machine.header())
    print(f"{'chosen by':<44} {'right passage':<36} {'right answer':<36} abstained where none answers")
    for each in rows:
        print(f"{each.way:<44} {each.right_passage!s:<36} {each.right_answer!s:<36} {each.abstained}")
    for share in adaptive:
        print(f"{share.name}: {share}")


if __name__ == "__main__":
    main()
