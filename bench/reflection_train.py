"""Train the tiny model with reflection tokens, and write it as ONNX with its tokenizer.

    python bench/reflection_train.py OUT_DIR [--steps N]

Three layers of 64, on sentences that reflection_data.py makes up, fresh ones at every step. 7,000 steps took eight
minutes of one core; the same steps on another machine give nearly, not exactly, the same weights.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from random import Random

import numpy as np
import onnx
from numpy.typing import NDArray
from reflection_data import ASKED, HIGHEST, REPLY, STATED, THANKS, THINGS, UNITS, World, lesson
from reflection_network import Floats, Shape, Weights, drawn, loss_and_gradients
from reflection_onnx import network
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

from citewell.models.onnx_network import MODEL, TOKENIZER
from citewell.reflection.native import INSTRUCTION
from citewell.reflection.onnx_reflective import END
from citewell.reflection.tokens import Token

TEXTS = 64
RATE, WARM = 3e-3, 100
DECAYS = (0.9, 0.98)
UNKNOWN = "[UNK]"


def tokenizer() -> Tokenizer:
    """A token for each word and sign of the made-up world, and one for each reflection token."""
    forms = [*ASKED, *STATED, *THANKS, REPLY, *INSTRUCTION, *THINGS, *UNITS, *UNITS.values()]
    split = pre_tokenizers.Whitespace()
    plain = " ".join(forms)
    for name in ("attribute", "thing", "number", "unit"):
        plain = plain.replace(f"{{{name}}}", " ")
    words = dict.fromkeys(word for word, _ in split.pre_tokenize_str(plain))
    words |= dict.fromkeys(str(number) for number in range(1, HIGHEST + 1))
    made = Tokenizer(models.WordLevel({word: at for at, word in enumerate([UNKNOWN, *words])}, unk_token=UNKNOWN))
    made.pre_tokenizer = split
    made.add_special_tokens([AddedToken(name, special=True) for name in (END, *(token.value for token in Token))])
    return made


def batch(world: World, words: Tokenizer) -> tuple[NDArray[np.int64], Floats]:
    """Ids (texts, tokens), filled up with the end, and which of the tokens from the second on are learned."""
    texts = [_encoded(world, words) for _ in range(TEXTS)]
    longest = max(len(ids) for ids, _ in texts)
    ids = np.full((TEXTS, longest), words.token_to_id(END), np.int64)
    learned = np.zeros((TEXTS, longest), np.float32)
    for row, (own, weights) in enumerate(texts):
        ids[row, : len(own)], learned[row, : len(own)] = own, weights
    return ids, learned[:, 1:]


def _encoded(world: World, words: Tokenizer) -> tuple[list[int], list[float]]:
    question, *parts = lesson(world)
    before, after = INSTRUCTION
    ids: list[int] = []
    weights: list[float] = []
    for part, is_learned in ((before, False), question, (after, False), *parts, (END, True)):
        own = words.encode(part.value if isinstance(part, Token) else part).ids
        ids += own
        weights += [float(is_learned)] * len(own)
    return ids, weights


def trained(shape: Shape, words: Tokenizer, steps: int) -> Weights:
    """By Adam (Kingma and Ba 2015, arXiv:1412.6980), its rate warmed up and brought down to nothing by a cosine."""
    world = World(Random(1))
    weights = drawn(shape, np.random.default_rng(1))
    means = {name: np.zeros_like(value) for name, value in weights.items()}
    squares = {name: np.zeros_like(value) for name, value in weights.items()}
    begin, summed = time.process_time(), 0.0
    for step in range(1, steps + 1):
        loss, gradients = loss_and_gradients(weights, shape, *batch(world, words))
        norm = float(np.sqrt(sum(float((each**2).sum()) for each in gradients.values())))
        rate = RATE * min(step / WARM, 1) * 0.5 * (1 + np.cos(np.pi * step / steps))
        for name, gradient in gradients.items():
            clipped = gradient / max(norm, 1)
            means[name] += (1 - DECAYS[0]) * (clipped - means[name])
            squares[name] += (1 - DECAYS[1]) * (clipped**2 - squares[name])
            mean, square = (
                kept[name] / (1 - decay**step) for kept, decay in zip((means, squares), DECAYS, strict=True)
            )
            weights[name] -= np.float32(rate) * mean / (np.sqrt(square) + 1e-8)
        summed += loss
        if step % 100 == 0:
            print(f"step {step:>5}  loss {summed / 100:.4f}  {time.process_time() - begin:.0f} s", flush=True)
            summed = 0.0
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=7_000)
    options = parser.parse_args()
    words = tokenizer()
    shape = Shape(words.get_vocab_size())
    weights = trained(shape, words, options.steps)
    options.out.mkdir(parents=True, exist_ok=True)
    words.save(str(options.out / TOKENIZER))
    onnx.save(network(weights, shape), options.out / MODEL)


if __name__ == "__main__":
    main()
