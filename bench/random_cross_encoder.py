"""A cross-encoder of MiniLM's shape with weights that nobody trained: what one costs, and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from citewell.models.minilm import __file__ as minilm

sys.path.append(str(Path(__file__).parents[1] / "scripts"))

from build_splade import Graph, Tensors

WIDTH, INNER, HEADS, PLACES, WORDS = 384, 1536, 12, 512, 30_522
EPSILON = 1e-12
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def build(folder: Path, layers: int, *, int8: bool) -> None:
    """Write `model.onnx` and `tokenizer.json` of so many layers; `int8` as `quantize_dynamic` makes them."""
    folder.mkdir(parents=True)
    (folder / "tokenizer.json").write_bytes((Path(minilm).parent / "minilm" / "tokenizer.json").read_bytes())
    path = folder / "model.onnx"
    onnx.save(_network(layers), path)
    if int8:
        from onnxruntime.quantization import QuantType, quantize_dynamic

        whole = path.rename(folder / "whole.onnx")
        quantize_dynamic(whole, path, weight_type=QuantType.QInt8)
        whole.unlink()


def _network(layers: int) -> onnx.ModelProto:
    """BertForSequenceClassification with one class, as those trained on MS MARCO have."""
    graph = Graph(_weights(layers))
    x, unseen = graph.embeddings(EPSILON), graph.unseen()
    for number in range(layers):
        x = graph.layer(x, f"bert.encoder.layer.{number}", unseen, HEADS, EPSILON)
    first = graph.node("Reshape", graph.node("Gather", x, graph.integers(0), axis=1), graph.integers(-1, WIDTH))
    pooled = graph.node("Tanh", graph.dense(first, "bert.pooler.dense"))
    graph.nodes.append(helper.make_node("Identity", [graph.dense(pooled, "classifier")], ["logits"]))
    made = helper.make_graph(
        graph.nodes,
        "BertForSequenceClassification",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in INPUTS],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["texts", 1])],
        list(graph.constants.values()),
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def _weights(layers: int) -> Tensors:
    rng, made = np.random.default_rng(0), Tensors()

    def dense(name: str, rows: int, columns: int) -> None:
        made[f"{name}.weight"] = rng.normal(0, 0.05, (rows, columns)).astype(np.float32)
        made[f"{name}.bias"] = np.zeros(rows, np.float32)

    def norm(name: str) -> None:
        made[f"{name}.LayerNorm.gamma"] = np.ones(WIDTH, np.float32)
        made[f"{name}.LayerNorm.beta"] = np.zeros(WIDTH, np.float32)

    for name, rows in (("word", WORDS), ("position", PLACES), ("token_type", 2)):
        table = rng.normal(0, 0.05, (rows, WIDTH)).astype(np.float32)
        made[f"bert.embeddings.{name}_embeddings.weight"] = table
    norm("bert.embeddings")
    for number in range(layers):
        layer = f"bert.encoder.layer.{number}"
        for name in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            dense(f"{layer}.{name}", WIDTH, WIDTH)
        dense(f"{layer}.intermediate.dense", INNER, WIDTH)
        dense(f"{layer}.output.dense", WIDTH, INNER)
        norm(f"{layer}.attention.output")
        norm(f"{layer}.output")
    dense("bert.pooler.dense", WIDTH, WIDTH)
    dense("classifier", 1, WIDTH)
    return made
