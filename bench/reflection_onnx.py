"""The network of reflection_network.py as ONNX: `input_ids` (texts, tokens) to `logits` (texts, tokens, words).

Its weights are kept in 16 bits and computed with in 32.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper
from reflection_network import EPSILON, FAR, SLOPES, Shape, Weights

sys.path.append(str(Path(__file__).parents[1] / "scripts"))

from build_splade import Graph


def network(weights: Weights, shape: Shape) -> onnx.ModelProto:
    graph = _Graph(weights)
    words = graph.half("words")
    x, bias = graph.node("Gather", words, "input_ids"), graph.bias()
    for layer in range(shape.layers):
        x = graph.attend(x, layer, bias, shape.width)
        x = graph.feed(x, layer)
    turned = graph.node("Transpose", words, perm=(1, 0))
    graph.nodes.append(helper.make_node("MatMul", [graph.rms(x, "last"), turned], ["logits"]))
    axes = ["texts", "tokens"]
    made = helper.make_graph(
        graph.nodes,
        "Reflective",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, axes)],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [*axes, shape.words])],
        list(graph.constants.values()),
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    return model


class _Graph(Graph):
    def half(self, name: str) -> str:
        """A weight, in 16 bits in the file."""
        return self.node("Cast", self.constant(name, self.weights[name].astype(np.float16)), to=TensorProto.FLOAT)

    def number(self, value: float) -> str:
        return self.constant(f"number_{value}", np.array(value, dtype=np.float32))

    def bias(self) -> str:
        tokens = self.node("Shape", "input_ids", start=1, end=2)
        first, step = (self.constant(f"count_{n}", np.array(n, dtype=np.int64)) for n in (0, 1))
        places = self.node("Range", first, self.node("Squeeze", tokens), step)
        places = self.node("Cast", places, to=TensorProto.FLOAT)
        after, before = (self.node("Unsqueeze", places, self.integers(axis)) for axis in (1, 0))
        distance = self.node("Sub", after, before)
        slopes = self.constant("slopes", -np.array(SLOPES, dtype=np.float32)[:, None, None])
        later = self.node("Less", distance, self.number(0))
        return self.node("Where", later, self.number(FAR), self.node("Mul", distance, slopes))

    def rms(self, x: str, name: str) -> str:
        mean = self.node("ReduceMean", self.node("Mul", x, x), self.integers(-1))
        scale = self.node("Sqrt", self.node("Add", mean, self.number(EPSILON)))
        return self.node("Mul", self.node("Div", x, scale), self.half(name))

    def attend(self, x: str, layer: int, bias: str, width: int) -> str:
        heads, size = len(SLOPES), width // len(SLOPES)
        normed = self.rms(x, f"{layer}.before")

        def part(name: str, order: tuple[int, ...]) -> str:
            made = self.node("MatMul", normed, self.half(f"{layer}.{name}"))
            return self.node("Transpose", self.node("Reshape", made, self.integers(0, 0, heads, size)), perm=order)

        scores = self.node("MatMul", part("query", (0, 2, 1, 3)), part("key", (0, 2, 3, 1)))
        scores = self.node("Add", self.node("Mul", scores, self.number(size**-0.5)), bias)
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=-1), part("value", (0, 2, 1, 3)))
        whole = self.node("Reshape", self.node("Transpose", mixed, perm=(0, 2, 1, 3)), self.integers(0, 0, width))
        return self.node("Add", x, self.node("MatMul", whole, self.half(f"{layer}.out")))

    def feed(self, x: str, layer: int) -> str:
        inner = self.node("Relu", self.node("MatMul", self.rms(x, f"{layer}.between"), self.half(f"{layer}.inner")))
        return self.node("Add", x, self.node("MatMul", inner, self.half(f"{layer}.outer")))
