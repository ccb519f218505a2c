"""A cross-encoder on the real runtime: tiny networks with scores computed by hand, and one of the real layers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from citewell.errors import SettingsError
from citewell.models import cross_encoder
from citewell.models.cross_encoder import CrossEncoder
from citewell.models.reranker import Reranker
from tests.models.onnx_folders import classifier_in, minilm_in

WORDS = {"due": (1.0,), "dispute": (2.5,), "parking": (-4.0,)}
TWO = {"due": (0.5, 2.0), "parking": (3.0, 1.0)}
TEXTS = ["the dispute is due", "parking", "nothing of it", "due due due"]
SCORES = [3.5, -4.0, 0.0, 3.0]


def test_each_text_has_its_score_in_the_order_given(tmp_path: Path) -> None:
    reranker: Reranker = CrossEncoder(classifier_in(tmp_path / "ce", WORDS))
    scores = reranker.scores("when", TEXTS)
    assert (scores.tolist(), reranker.name) == (SCORES, "cross-encoder")
    assert scores.dtype == np.float32
    assert reranker.scores("when", []).shape == (0,)


def test_the_query_is_the_first_text_of_the_pair(tmp_path: Path) -> None:
    both = CrossEncoder(classifier_in(tmp_path / "both", WORDS, inputs=("input_ids",)))
    assert both.scores("dispute", ["due"]).tolist() == [3.5]
    second = CrossEncoder(classifier_in(tmp_path / "second", WORDS, second_only=True))
    assert second.scores("dispute", ["due"]).tolist() == [1.0]


def test_of_two_classes_the_second_is_the_relevant_one_unless_they_have_names(tmp_path: Path) -> None:
    unnamed = CrossEncoder(classifier_in(tmp_path / "unnamed", TWO))
    assert unnamed.scores("q", ["due", "parking"]).tolist() == [1.5, -2.0]
    labels = {"id2label": {"0": "Relevant", "1": "irrelevant"}}
    named = CrossEncoder(classifier_in(tmp_path / "named", TWO, labels))
    assert named.scores("q", ["due", "parking"]).tolist() == [-1.5, 2.0]
    plain = {"id2label": {"0": "LABEL_0", "1": "LABEL_1"}}
    assert CrossEncoder(classifier_in(tmp_path / "plain", TWO, plain)).scores("q", ["due"]).tolist() == [1.5]


def test_a_long_text_is_cut_and_the_query_stays_whole(tmp_path: Path) -> None:
    reranker = CrossEncoder(classifier_in(tmp_path / "ce", WORDS, {"max_position_embeddings": 16}))
    # 16 tokens: 3 special ones, 2 of the query, 11 of the text.
    assert reranker.scores("x dispute", ["x " * 10 + "due", "x " * 11 + "due"]).tolist() == [3.5, 2.5]


def test_a_query_has_half_of_the_room_at_most(tmp_path: Path) -> None:
    reranker = CrossEncoder(classifier_in(tmp_path / "ce", WORDS, {"max_position_embeddings": 16}))
    assert reranker.scores("x " * 7 + "dispute" + " x" * 600, ["due"]).tolist() == [3.5]
    assert reranker.scores("x " * 8 + "dispute" + " x" * 600, ["due"]).tolist() == [1.0]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which goes on by a second at each look."""
    seconds: list[float] = []

    class ScriptedTime:
        @staticmethod
        def monotonic() -> float:
            seconds.append(len(seconds))
            return seconds[-1]

    monkeypatch.setattr(cross_encoder, "time", ScriptedTime)
    return seconds


def test_where_time_runs_out_the_best_ones_have_been_read(tmp_path: Path, clock: list[float]) -> None:
    reranker = CrossEncoder(classifier_in(tmp_path / "ce", WORDS), threads=1)
    scores = reranker.scores("when", TEXTS, until=2)
    assert scores[:2].tolist() == SCORES[:2]
    assert np.isnan(scores[2:]).all()
    assert len(clock) == len(TEXTS)
    assert np.isnan(reranker.scores("when", TEXTS, until=0)).all()


def with_head(model: onnx.ModelProto) -> None:
    """A classifier of one class on top of the token vectors: the sum of the first one, as a head of ones gives it."""
    (out,) = model.graph.output
    model.graph.initializer.extend(
        [
            numpy_helper.from_array(np.array(0, dtype=np.int64), "first"),
            numpy_helper.from_array(np.ones((384, 1), dtype=np.float32), "ones"),
        ]
    )
    model.graph.node.extend(
        [
            helper.make_node("Gather", [out.name, "first"], ["cls"], axis=1),
            helper.make_node("MatMul", ["cls", "ones"], ["logits"]),
        ]
    )
    model.graph.output.remove(out)
    model.graph.output.append(helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["texts", 1]))


def test_a_real_network_scores_a_text_alone_as_in_company(tmp_path: Path) -> None:
    folder = minilm_in(tmp_path / "bert", with_head)
    reranker = CrossEncoder(folder, threads=2)
    texts = ["A dispute is open for 120 days.", "Parking is free. " * 60, "Code R-17", ""]
    together = reranker.scores("How long may I dispute?", texts)
    assert together.tolist() == [reranker.scores("How long may I dispute?", [text])[0] for text in texts]
    assert together[0] == pytest.approx(by_hand(folder, "How long may I dispute?", texts[0]), abs=1e-5)
    assert len(set(together.tolist())) == len(texts)


def by_hand(folder: Path, query: str, text: str) -> float:
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    parts = [tokenizer.encode(each, add_special_tokens=False).ids for each in (query, text)]
    ids = [101, *parts[0], 102, *parts[1], 102]  # [CLS] query [SEP] text [SEP]
    kinds = [0] * (len(parts[0]) + 2) + [1] * (len(parts[1]) + 1)
    fed = {"input_ids": ids, "attention_mask": [1] * len(ids), "token_type_ids": kinds}
    session = onnxruntime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
    (logits,) = session.run(None, {name: np.array([row], dtype=np.int64) for name, row in fed.items()})
    return float(logits[0, 0])


def without_network(folder: Path) -> None:
    (folder / "model.onnx").unlink()


def without_anything(folder: Path) -> None:
    for name in ("model.onnx", "tokenizer.json"):
        (folder / name).unlink()


def text_as_network(folder: Path) -> None:
    (folder / "model.onnx").write_text("version https://git-lfs.github.com/spec/v1")


def text_as_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("version https://git-lfs.github.com/spec/v1")


def text_as_config(folder: Path) -> None:
    (folder / "config.json").write_text("version https://git-lfs.github.com/spec/v1")


def no_room(folder: Path) -> None:
    (folder / "config.json").write_text('{"max_position_embeddings": -1}')


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (without_network, r"has no model\.onnx\."),
        (without_anything, r"has no model\.onnx and no tokenizer\.json\."),
        (text_as_network, "cannot be used"),
        (text_as_tokenizer, "no tokenizer"),
        (text_as_config, r"has a config\.json that is none"),
        (no_room, r"has a config\.json that is none: max_position_embeddings must be 16 or more"),
    ],
)
def test_files_that_are_missing_or_damaged(tmp_path: Path, damage: Callable[[Path], None], says: str) -> None:
    folder = classifier_in(tmp_path / "ce", WORDS)
    damage(folder)
    reranker = CrossEncoder(folder)
    with pytest.raises(SettingsError, match=says) as caught:
        reranker.scores("when", TEXTS)
    assert str(folder) in caught.value.message
    assert "model.onnx and tokenizer.json" in caught.value.remedy


def test_networks_of_another_kind(tmp_path: Path) -> None:
    three = classifier_in(tmp_path / "three", {"due": (1.0, 2.0, 3.0)})
    with pytest.raises(SettingsError, match="3 classes; one or two can rank"):
        CrossEncoder(three).scores("when", ["due"])
    pixels = classifier_in(tmp_path / "pixels", WORDS, inputs=("pixels",))
    with pytest.raises(SettingsError, match="the network takes pixels"):
        CrossEncoder(pixels).scores("when", ["due"])
    endless = classifier_in(tmp_path / "endless", {"due": (float("inf"),)})
    with pytest.raises(SettingsError, match="it gives what is no number"):
        CrossEncoder(endless).scores("when", ["due"])
    tokens = minilm_in(tmp_path / "tokens")
    with pytest.raises(SettingsError, match="its first output has 3 axes, not texts and classes"):
        CrossEncoder(tokens).scores("when", ["due"])
    counted = classifier_in(tmp_path / "counted", TWO, {"id2label": {"0": "relevant"}}, axes=("texts", 2))
    with pytest.raises(SettingsError, match=r"it has 2 classes, and config\.json names 1"):
        CrossEncoder(counted).scores("when", ["due"])


def test_signs_that_are_no_text_are_scored(tmp_path: Path) -> None:
    reranker = CrossEncoder(classifier_in(tmp_path / "ce", WORDS))
    assert reranker.scores("\ud800", ["\udfff due", "", "\x00 due"]).tolist() == [1.0, 0.0, 1.0]
