"""A language inference model as judge, on the real runtime: a tiny network that sums what each word says of a class."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from citewell.errors import SettingsError
from citewell.evaluation.judging.entailed import FILES, VERSION, EntailedJudge
from citewell.evaluation.judging.remembered import RememberedJudge
from tests.models.onnx_folders import INPUTS, classifier_in

LABELS = {"0": "CONTRADICTION", "1": "NEUTRAL", "2": "ENTAILMENT"}
# What each word adds to the logits of contradiction, neutral and entailment.
WORDS = {"yes": (0.0, 0.0, 4.0), "no": (4.0, 0.0, 0.0)}
ENTAILED = math.exp(4) / (math.exp(4) + 2)


def nli_in(
    folder: Path,
    labels: Mapping[str, str] | None = None,
    inputs: Sequence[str] = INPUTS,
    most_tokens: int = 512,
) -> Path:
    """A classifier of three classes, as they are exported."""
    config = {"id2label": labels or LABELS, "max_position_embeddings": most_tokens}
    return classifier_in(folder, WORDS, config, inputs, ("texts", 3))


def test_entailment_over_the_passages(tmp_path: Path) -> None:
    judge = EntailedJudge(nli_in(tmp_path / "nli"))
    yes, no, neutral = (judge.judge(["claim"], passages)[0] for passages in (["x", "yes"], ["no"], ["x"]))
    assert yes.support == pytest.approx(ENTAILED)
    assert no.support == pytest.approx((1 - ENTAILED) / 2)
    assert neutral.support == pytest.approx(1 / 3)
    assert [one.contradicted for one in (yes, no, neutral)] == [False, True, False]


def test_a_claim_is_read_with_its_passage(tmp_path: Path) -> None:
    judge = EntailedJudge(nli_in(tmp_path / "nli", inputs=("input_ids",)))
    first, second = judge.judge(["yes", "claim"], ["x"])
    assert first.support == pytest.approx(ENTAILED)
    assert second.support == pytest.approx(1 / 3)


def test_a_long_passage_is_read_to_its_end_in_windows(tmp_path: Path) -> None:
    judge = EntailedJudge(nli_in(tmp_path / "nli", most_tokens=16))
    (one,) = judge.judge(["claim"], ["x " * 300 + "yes"])
    assert one.support == pytest.approx(ENTAILED)


def test_a_claim_longer_than_a_window_leaves_room_for_the_passage(tmp_path: Path) -> None:
    judge = EntailedJudge(nli_in(tmp_path / "nli", most_tokens=16))
    (one,) = judge.judge(["claim " * 300], ["x x x yes"])
    assert one.support == pytest.approx(ENTAILED)


def test_classes_are_found_by_name(tmp_path: Path) -> None:
    two = {"0": "not_entailment", "1": "other", "2": "entailment"}
    (one,) = EntailedJudge(nli_in(tmp_path / "nli", labels=two)).judge(["claim"], ["no"])
    assert one.support == pytest.approx((1 - ENTAILED) / 2)
    assert not one.contradicted


def test_without_passages_nothing_is_entailed(tmp_path: Path) -> None:
    judge = EntailedJudge(nli_in(tmp_path / "nli"))
    assert [one.support for one in judge.judge(["yes"], ["", " "])] == [0]


@pytest.mark.parametrize("name", FILES)
def test_the_name_changes_with_each_file(tmp_path: Path, name: str) -> None:
    folder = nli_in(tmp_path / "nli")
    one = EntailedJudge(folder).name
    assert one.startswith(f"nli-{VERSION}:nli, ")
    assert EntailedJudge(folder).name == one
    (folder / name).write_bytes((folder / name).read_bytes() + b" ")
    assert EntailedJudge(folder).name != one


def test_what_is_remembered_is_not_taken_for_that_of_other_classes(tmp_path: Path) -> None:
    folder, kept = nli_in(tmp_path / "nli"), tmp_path / "judgements.jsonl"
    (before,) = RememberedJudge(EntailedJudge(folder), kept).judge(["claim"], ["yes"])
    turned = dict(zip(LABELS, reversed(LABELS.values()), strict=True))
    (folder / "config.json").write_text(json.dumps({"id2label": turned}))
    (after,) = RememberedJudge(EntailedJudge(folder), kept).judge(["claim"], ["yes"])
    assert before.support == pytest.approx(ENTAILED)
    assert after.support == pytest.approx((1 - ENTAILED) / 2)


def test_hostile_text_is_judged(tmp_path: Path) -> None:
    judge = EntailedJudge(nli_in(tmp_path / "nli"))
    assert [one.support is not None for one in judge.judge(["\ud800", "", "\x00"], ["\udfff yes"])] == [True] * 3


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_missing_or_damaged_file_is_named(tmp_path: Path, name: str) -> None:
    folder = nli_in(tmp_path / "nli")
    (folder / name).write_bytes(b"\x00{")
    with pytest.raises(SettingsError, match=r"judge's folder .*nli"):
        EntailedJudge(folder).judge(["claim"], ["x"])
    (folder / name).unlink()
    with pytest.raises(SettingsError, match=f"has no {name}"):
        EntailedJudge(folder).judge(["claim"], ["x"])


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    named = nli_in(tmp_path / "named", labels={"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"})
    with pytest.raises(SettingsError, match="no class named entailment among label_0, label_1, label_2"):
        EntailedJudge(named).judge(["claim"], ["x"])
    few = nli_in(tmp_path / "few", labels={"0": "entailment", "1": "neutral"})
    with pytest.raises(SettingsError, match=r"it has 3 classes, and config\.json names 2"):
        EntailedJudge(few).judge(["claim"], ["x"])
    pixels = nli_in(tmp_path / "pixels", inputs=("pixels",))
    with pytest.raises(SettingsError, match="the network takes pixels"):
        EntailedJudge(pixels).judge(["claim"], ["x"])
