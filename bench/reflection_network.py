"""A small causal transformer in numpy, with its gradients by hand; reflection_onnx.py writes it as ONNX.

Vaswani et al. 2017 (arXiv:1706.03762), as decoders are built now: norms before each block (RMSNorm, arXiv:1910.07467),
no biases, positions as a penalty on distance (ALiBi, arXiv:2108.12409), one table for words read and written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Weights = dict[str, Floats]

EPSILON = 1e-5
SLOPES = (1.0, 0.25, 0.0625, 0.0)
"""Of the heads: what each token of distance costs. The last sees everything alike."""
FAR = -1e4
MATRICES = ("query", "key", "value", "out", "inner", "outer")


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of a network."""

    words: int
    layers: int = 3
    width: int = 64
    inner: int = 128


def drawn(shape: Shape, rng: np.random.Generator) -> Weights:
    """Weights before training. A block's last matrix is smaller, since all blocks add to one sum."""
    made = {"words": rng.normal(0, 0.05, (shape.words, shape.width)).astype(np.float32)}
    made["last"] = np.ones(shape.width, np.float32)
    for layer in range(shape.layers):
        for name in MATRICES:
            rows, columns = {"inner": (shape.width, shape.inner), "outer": (shape.inner, shape.width)}.get(
                name, (shape.width, shape.width)
            )
            scale = rows**-0.5 / (shape.layers if name in {"out", "outer"} else 1)
            made[f"{layer}.{name}"] = rng.normal(0, scale, (rows, columns)).astype(np.float32)
        made[f"{layer}.before"], made[f"{layer}.between"] = np.ones((2, shape.width), np.float32)
    return made


def loss_and_gradients(
    weights: Weights, shape: Shape, ids: NDArray[np.int64], learned: Floats
) -> tuple[float, Weights]:
    """Mean cross-entropy of the next token over those with a weight in `learned`, and its gradients.

    `ids` has the shape (texts, tokens), `learned` (texts, tokens - 1): place t is about predicting token t + 1.
    """
    gradients: Weights = {}
    read = ids[:, :-1]
    x = weights["words"][read]
    saved = []
    bias = _bias(read.shape[1])
    for layer in range(shape.layers):
        x, attended = _attend(weights, layer, x, bias)
        x, fed = _feed(weights, layer, x)
        saved.append((attended, fed))
    normed, norm = _normed(x, weights["last"])
    logits = normed @ weights["words"].T
    logits -= logits.max(axis=-1, keepdims=True)
    odds = np.exp(logits)
    odds /= odds.sum(axis=-1, keepdims=True)
    texts, places = np.indices(read.shape)
    share = learned / learned.sum()
    loss = float(-(share * np.log(odds[texts, places, ids[:, 1:]] + 1e-9)).sum())

    odds[texts, places, ids[:, 1:]] -= 1
    odds *= share[..., None]
    gradients["words"] = _outer(odds, normed)
    slope = _norm_back(odds @ weights["words"], norm, weights, "last", gradients)
    for layer in reversed(range(shape.layers)):
        attended, fed = saved[layer]
        slope = _feed_back(slope, fed, weights, layer, gradients)
        slope = _attend_back(slope, attended, weights, layer, gradients)
    np.add.at(gradients["words"], read, slope)
    return loss, gradients


def _bias(tokens: int) -> Floats:
    """Shape (heads, tokens, tokens): what a head takes off for distance; far below zero for what comes later."""
    distance = np.arange(tokens)[:, None] - np.arange(tokens)[None, :]
    sloped = -np.array(SLOPES, np.float32)[:, None, None] * distance
    return np.where(distance < 0, np.float32(FAR), sloped).astype(np.float32)


def _normed(x: Floats, gain: Floats) -> tuple[Floats, tuple[Floats, Floats]]:
    scale = 1 / np.sqrt((x * x).mean(axis=-1, keepdims=True) + EPSILON)
    bare = x * scale
    return bare * gain, (bare, scale)


def _norm_back(slope: Floats, saved: tuple[Floats, Floats], weights: Weights, name: str, gradients: Weights) -> Floats:
    bare, scale = saved
    gradients[name] = (slope * bare).sum(axis=(0, 1))
    own = slope * weights[name]
    back: Floats = scale * (own - bare * (own * bare).mean(axis=-1, keepdims=True))
    return back


def _outer(left: Floats, right: Floats) -> Floats:
    """Summed over texts and tokens."""
    product: Floats = left.reshape(-1, left.shape[-1]).T @ right.reshape(-1, right.shape[-1])
    return product


def _heads(x: Floats) -> Floats:
    texts, tokens, width = x.shape
    return x.reshape(texts, tokens, len(SLOPES), width // len(SLOPES)).transpose(0, 2, 1, 3)


def _whole(x: Floats) -> Floats:
    texts, heads, tokens, width = x.shape
    return x.transpose(0, 2, 1, 3).reshape(texts, tokens, heads * width)


def _attend(weights: Weights, layer: int, x: Floats, bias: Floats) -> tuple[Floats, tuple[Any, ...]]:
    normed, norm = _normed(x, weights[f"{layer}.before"])
    query, key, value = (_heads(normed @ weights[f"{layer}.{name}"]) for name in ("query", "key", "value"))
    scores = query @ key.transpose(0, 1, 3, 2) * query.shape[-1] ** -0.5 + bias
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    scores /= scores.sum(axis=-1, keepdims=True)
    mixed = _whole(scores @ value)
    return x + mixed @ weights[f"{layer}.out"], (normed, norm, query, key, value, scores, mixed)


def _attend_back(slope: Floats, saved: tuple[Any, ...], weights: Weights, layer: int, gradients: Weights) -> Floats:
    normed, norm, query, key, value, scores, mixed = saved
    gradients[f"{layer}.out"] = _outer(mixed, slope)
    mixing = _heads(slope @ weights[f"{layer}.out"].T)
    weighing = mixing @ value.transpose(0, 1, 3, 2)
    weighing = scores * (weighing - (weighing * scores).sum(axis=-1, keepdims=True)) * query.shape[-1] ** -0.5
    parts = {
        "query": _whole(weighing @ key),
        "key": _whole(weighing.transpose(0, 1, 3, 2) @ query),
        "value": _whole(scores.transpose(0, 1, 3, 2) @ mixing),
    }
    back = np.zeros_like(slope)
    for name, part in parts.items():
        gradients[f"{layer}.{name}"] = _outer(normed, part)
        back += part @ weights[f"{layer}.{name}"].T
    summed: Floats = slope + _norm_back(back, norm, weights, f"{layer}.before", gradients)
    return summed


def _feed(weights: Weights, layer: int, x: Floats) -> tuple[Floats, tuple[Any, ...]]:
    normed, norm = _normed(x, weights[f"{layer}.between"])
    inner = np.maximum(normed @ weights[f"{layer}.inner"], 0)
    return x + inner @ weights[f"{layer}.outer"], (normed, norm, inner)


def _feed_back(slope: Floats, saved: tuple[Any, ...], weights: Weights, layer: int, gradients: Weights) -> Floats:
    normed, norm, inner = saved
    gradients[f"{layer}.outer"] = _outer(inner, slope)
    back = (slope @ weights[f"{layer}.outer"].T) * (inner > 0)
    gradients[f"{layer}.inner"] = _outer(normed, back)
    summed: Floats = slope + _norm_back(
        back @ weights[f"{layer}.inner"].T, norm, weights, f"{layer}.between", gradients
    )
    return summed
