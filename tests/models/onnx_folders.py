"""Folders with a network and a tokenizer: the built-in embedder's own, and models made from it, as others have them."""

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

MINILM = Path(str(files("citewell.models") / "minilm"))

Edit = Callable[[onnx.ModelProto], None]


def minilm_in(folder: Path, edit: Edit | None = None) -> Path:
    """MiniLM's two files; where `edit` is given, with its network put through it."""
    folder.mkdir()
    (folder / "tokenizer.json").symlink_to(MINILM / "tokenizer.json")
    if edit is None:
        (folder / "model.onnx").symlink_to(MINILM / "model.onnx")
        return folder
    model = onnx.load(MINILM / "model.onnx")
    edit(model)
    onnx.save(model, folder / "model.onnx")
    return folder


def another_model(model: onnx.ModelProto) -> None:
    """A model of the same shape that has learned other words: the rows of its vocabulary in another order."""
    (words,) = [each for each in model.graph.initializer if each.dims[:1] == [30_522]]
    rows = numpy_helper.to_array(words)
    words.CopyFrom(numpy_helper.from_array(np.random.default_rng(0).permutation(rows), words.name))


def another_revision(model: onnx.ModelProto) -> None:
    """A model trained a little further: its biases and norms moved by a twentieth."""
    rng = np.random.default_rng(0)
    for each in model.graph.initializer:
        if each.data_type == TensorProto.FLOAT and list(each.dims) == [384]:
            values = numpy_helper.to_array(each)
            moved = (values * (1 + 0.05 * rng.standard_normal(values.shape))).astype(np.float32)
            each.CopyFrom(numpy_helper.from_array(moved, each.name))


def tiny_in(
    folder: Path,
    words: Mapping[str, Sequence[float]],
    inputs: Sequence[str] = ("input_ids",),
    axes: Sequence[str | int] = ("texts", "tokens", "numbers"),
) -> Path:
    """A network that looks each word's vector up, with a tokenizer that splits at white space."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder.mkdir()
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(words)}, unk_token=next(iter(words))))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))
    table = numpy_helper.from_array(np.array(list(words.values()), dtype=np.float32), "words")
    graph = helper.make_graph(
        [helper.make_node("Gather", ["words", inputs[0]], ["vectors"])],
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, axes)],
        [table],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.save(model, folder / "model.onnx")
    return folder


INPUTS = ("input_ids", "attention_mask", "token_type_ids")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def classifier_in(
    folder: Path,
    words: Mapping[str, Sequence[float]],
    config: Mapping[str, object] | None = None,
    inputs: Sequence[str] = INPUTS,
    axes: Sequence[str | int] = ("texts", "classes"),
    second_only: bool = False,
) -> Path:
    """A network that sums what each word of a pair adds to the logits, with a tokenizer for pairs.

    With `second_only`, what a word adds is times its kind: 0 in the first text of a pair, 1 in the second.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    folder.mkdir()
    nothing = [0.0] * len(next(iter(words.values())))
    rows = dict.fromkeys(SPECIAL, nothing) | dict(words)
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(rows)}, unk_token=SPECIAL[1]))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    weighing = [
        helper.make_node("Cast", ["token_type_ids"], ["kinds"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["kinds", "last"], ["weights"]),
        helper.make_node("Mul", ["each", "weights"], ["weighed"]),
    ]
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["words", inputs[0]], ["each"]),
            *(weighing if second_only else []),
            helper.make_node("ReduceSum", ["weighed" if second_only else "each", "axis"], ["logits"], keepdims=0),
        ],
        "classifier",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, axes)],
        [
            numpy_helper.from_array(np.array(list(rows.values()), dtype=np.float32), "words"),
            numpy_helper.from_array(np.array([1], dtype=np.int64), "axis"),
            numpy_helper.from_array(np.array([2], dtype=np.int64), "last"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.save(model, folder / "model.onnx")
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config))
    return folder


def masked_lm_in(
    folder: Path,
    words: Sequence[str],
    table: NDArray[np.float32],
    decoder: NDArray[np.float32],
    inputs: Sequence[str] = INPUTS[:2],
) -> Path:
    """A masked language model: to each token's row of `table` the mean of all is added, and times `decoder` these are
    the logits. Its tokenizer splits at white space and then as BERT's does, between [CLS] and [SEP]."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    folder.mkdir()
    vocabulary = {word: at for at, word in enumerate((*SPECIAL, *words))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=SPECIAL[1]))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["table", inputs[0]], ["each"]),
            helper.make_node("ReduceMean", ["each", "axis"], ["mean"], keepdims=1),
            helper.make_node("Add", ["each", "mean"], ["mixed"]),
            helper.make_node("MatMul", ["mixed", "decoder"], ["logits"]),
        ],
        "masked",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["texts", "tokens", "words"])],
        [
            numpy_helper.from_array(table, "table"),
            numpy_helper.from_array(decoder, "decoder"),
            numpy_helper.from_array(np.array([1], dtype=np.int64), "axis"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    onnx.save(model, folder / "model.onnx")
    return folder
