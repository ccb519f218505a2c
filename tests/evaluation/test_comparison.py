"""Two runs compared: what is paired, what is left out, which questions changed, and what a change costs."""

from __future__ import annotations

import json
import math
import tracemalloc
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from citewell.checking.judge import Failure
from citewell.errors import UsageError
from citewell.evaluation.answers import REFUSED
from citewell.evaluation.comparison import Compared, as_shape, compare, compare_all
from citewell.evaluation.measures import Measured
from citewell.evaluation.metrics import estimate
from citewell.evaluation.testset import Question
from citewell.evaluation.verdicts import Difference, Verdict

Values = Sequence[float | None]


def scored(number: int, values: dict[str, float], failed: dict[str, Failure] | None = None, **of: Any) -> Measured:
    return Measured(Question(id=f"q{number}", question=f"Question {number}?", **of), values, failed or {})


def run(name: str, values: Values, **of: Any) -> list[Measured]:
    """A run with one measure; None where a question does not have it."""
    return [scored(n, {} if value is None else {name: value}, **of) for n, value in enumerate(values)]


def of(compared: Compared, measure: str) -> Difference:
    return next(each for each in (*compared.headline, *compared.others) if each.measure == measure)


def test_by_hand() -> None:
    """Differences 1, 1, 0, -.5: mean .375; of the 8 ways to sign 1, 1 and .5, 4 are as large as 1.5."""
    before, after = run("recall@5", [0, 0, 1, 1]), run("recall@5", [1, 1, 1, 0.5])
    found = of(compare(before, after), "recall@5")
    expected = estimate([1, 1, 0, -0.5])
    assert (found.before, found.after, found.difference) == (0.5, 0.875, 0.375)
    assert (found.low, found.high) == (expected.low, expected.high)
    assert (found.p, found.questions, found.changed) == (4 / 8, 4, 3)
    assert (found.verdict, found.slice) == (Verdict.NOT_ENOUGH, "all questions")


class TestPairing:
    def test_goes_by_id_not_by_order(self) -> None:
        before = run("recall@5", [0, 0.5, 1])
        compared = compare(before, before[::-1])
        assert (of(compared, "recall@5").changed, compared.unpaired) == (0, 0)
        assert compared.verdict is Verdict.NO_DIFFERENCE

    def test_questions_of_one_run_are_counted_and_left_out(self) -> None:
        before = run("recall@5", [0, 1, 1, 1])
        compared = compare(before, [*before[1:3], scored(9, {"recall@5": 0})])
        assert (compared.questions, compared.unpaired, of(compared, "recall@5").before) == (2, 3, 1.0)

    def test_only_what_is_judged_in_both(self) -> None:
        """W3: 20 questions, of which a judge fails on 5 before and on 2 of these and another after."""
        failures = [Failure.TIME_OUT] * 3 + [Failure.REFUSAL, Failure.UNREADABLE]
        before = [
            scored(n, {"correct": 1.0}, {"faithfulness": failures[n]})
            if n < 5
            else scored(n, {"correct": 1.0, "faithfulness": 0.5})
            for n in range(20)
        ]
        after = [
            scored(n, {"correct": 1.0}, {"faithfulness": Failure.TIME_OUT})
            if n in (0, 1, 7)
            else scored(n, {"correct": 1.0, "faithfulness": 1.0})
            for n in range(20)
        ]
        compared = compare(before, after)
        faithful = of(compared, "faithfulness")
        assert (faithful.questions, faithful.not_judged, faithful.in_one) == (14, 6, 0)
        assert (faithful.before, faithful.after) == (0.5, 1.0)
        assert of(compared, "correct").questions == 20

    def test_what_does_not_apply_in_one_is_counted_apart(self) -> None:
        """An answer before, a refusal after: it has no faithfulness any more, and no judge failed."""
        before, after = run("faithfulness", [1, 1, 1, None]), run("faithfulness", [1, None, 0, None])
        found = of(compare(before, after), "faithfulness")
        assert (found.questions, found.not_judged, found.in_one) == (2, 0, 1)

    def test_a_measure_that_no_question_has_in_both_is_named(self) -> None:
        before = [scored(0, {"recall@5": 1}, {"faithfulness": Failure.TIME_OUT}), scored(1, {"recall@5": 1})]
        after = [scored(0, {"recall@5": 1, "faithfulness": 1}), scored(1, {"recall@5": 1, "correctness": 1})]
        compared = compare(before, after)
        assert compared.not_compared == ("faithfulness", "correctness")
        assert [each.measure for each in compared.headline] == ["recall@5"]

    @pytest.mark.parametrize("after", [[], run("relevance", [1.0]), [scored(9, {"recall@5": 1})]])
    def test_nothing_to_compare_is_refused(self, after: list[Measured]) -> None:
        with pytest.raises(UsageError, match="No question has a measure"):
            compare(run("recall@5", [1.0]), after)


class TestRefusals:
    def asked(self, refused: str, answerable: str = "yyyynn") -> list[Measured]:
        return [
            scored(n, {REFUSED: float(each == "r")}, answerable=kind == "y")
            for n, (each, kind) in enumerate(zip(refused, answerable, strict=True))
        ]

    def test_by_hand(self) -> None:
        """Before: 3 refused, 1 rightly, of 2. After: 2 refused, both rightly."""
        compared = compare(self.asked("rr..r."), self.asked("....rr"))
        recall, precision = of(compared, "refusal recall"), of(compared, "refusal precision")
        assert (recall.before, recall.after, recall.questions) == (1 / 2, 1.0, 2)
        assert (precision.before, precision.after, precision.questions) == (1 / 3, 1.0, 4)
        assert "refused" not in {each.measure for each in compared.others}

    def test_precision_needs_a_refusal_in_both(self) -> None:
        compared = compare(self.asked("......"), self.asked("....r."))
        assert compared.not_compared == ("refusal precision",)
        assert (of(compared, "refusal recall").before, of(compared, "refusal recall").after) == (0.0, 0.5)

    def test_neither_where_all_have_an_answer(self) -> None:
        some = self.asked("r.....", "yyyyyy")
        with_one_more = [scored(7, {"recall@5": 1}), *some]
        compared = compare(with_one_more, with_one_more)
        assert compared.not_compared == ()
        assert [each.measure for each in compared.headline] == ["recall@5", "refusal precision"]
        assert (of(compared, "refusal precision").before, of(compared, "refusal precision").after) == (0.0, 0.0)

    def test_a_planted_loss_is_caught(self) -> None:
        kinds = "y" * 10 + "n" * 10
        compared = compare(self.asked("." * 10 + "r" * 10, kinds), self.asked("." * 12 + "r" * 8, kinds))
        assert compared.verdict is Verdict.NOT_ENOUGH
        compared = compare(self.asked("." * 10 + "r" * 10, kinds), self.asked("r" * 10 + "." * 7 + "r" * 3, kinds))
        assert compared.verdict is Verdict.DROP
        assert [each.measure for each in compared.headline if each.verdict is Verdict.DROP] == [
            "refusal recall",
            "refusal precision",
        ]


class TestSlices:
    def test_a_part_that_got_worse_is_found_beside_a_whole_that_did_not(self) -> None:
        def both(codes: float) -> list[Measured]:
            return [
                scored(n, {"recall@5": codes if n < 12 else 1.0}, kind="code" if n < 12 else "prose", tags=("new",))
                for n in range(400)
            ]

        compared = compare(both(1.0), both(0.8), worth=0.02)
        whole, (code, prose) = compared.headline[0], compared.slices
        assert whole.verdict is Verdict.NO_DIFFERENCE
        assert whole.difference == pytest.approx(-0.006)
        assert (code.slice, code.questions, code.verdict) == ("code", 12, Verdict.DROP)
        assert code.before == 1.0
        assert code.after == pytest.approx(0.8)
        assert (prose.slice, prose.changed, prose.p) == ("prose", 0, 1.0)
        assert compared.verdict is Verdict.NO_DIFFERENCE
        assert compared.reason.endswith("But code is worse beyond chance: recall@5 -0.200 (p < 0.001).")

    def test_a_verdict_is_not_said_again_of_a_part(self) -> None:
        before = [scored(n, {"recall@5": 1.0}, kind="code" if n < 12 else "prose") for n in range(14)]
        after = [scored(n, {"recall@5": 0.0 if n < 12 else 1.0}, kind=before[n].question.kind) for n in range(14)]
        compared = compare(before, after)
        assert compared.slices[0].verdict is Verdict.DROP
        assert compared.reason == "worse beyond chance: recall@5 -0.857 (p < 0.001)."

    def test_groups_of_readers_are_parts_too(self) -> None:
        before = [scored(n, {"recall@5": 1.0}, groups=("fraud_team",) if n % 2 else ()) for n in range(4)]
        assert [each.slice for each in compare(before, before).slices] == ["as everyone", "as fraud_team"]


class TestChanges:
    def test_the_questions_that_gained_most_come_first(self) -> None:
        before = [
            scored(0, {"correct": 1.0, "recall@5": 1.0}),
            scored(1, {"correct": 0.0, "recall@5": 0.5, "relevance": 0.1}),
            scored(2, {"correct": 1.0, "recall@5": 0.0}),
            scored(3, {"correct": 1.0, "recall@5": 1.0, "relevance": 0.2}),
        ]
        after = [
            scored(0, {"correct": 0.0, "recall@5": 1.0}),
            scored(1, {"correct": 1.0, "recall@5": 1.0, "relevance": 0.3}),
            scored(2, {"correct": 1.0, "recall@5": 0.5}),
            scored(3, {"correct": 1.0, "recall@5": 1.0, "relevance": 0.9}),
        ]
        compared = compare(before, after)
        assert [(each.question.id, each.gain) for each in compared.changes] == [
            ("q1", 0.75),
            ("q2", 0.25),
            ("q0", -0.5),
        ]
        assert [each.question.id for each in compared.better] == ["q1", "q2"]
        assert [each.question.id for each in compared.worse] == ["q0"]
        assert compared.changes[0].values == {"correct": (0.0, 1.0), "recall@5": (0.5, 1.0)}

    def test_what_only_one_run_has_is_no_change(self) -> None:
        before, after = run("recall@5", [1, 1]), run("recall@5", [1, 1])
        after[0] = scored(0, {"recall@5": 1, "faithfulness": 0})
        assert compare(before, after).changes == ()


class TestCosts:
    def test_by_hand(self) -> None:
        """Seconds by their median, so that one slow call says little; tokens by their mean."""
        before = [
            scored(n, {"correct": 1, "seconds": s, "tokens": t})
            for n, (s, t) in enumerate([(1, 10), (2, 20), (90, 30)])
        ]
        after = [
            scored(n, {"correct": 1, "seconds": s, "tokens": t}) for n, (s, t) in enumerate([(2, 20), (4, 40), (9, 60)])
        ]
        seconds, tokens = compare(before, after).costs
        assert (seconds.name, seconds.before, seconds.after, seconds.questions) == ("seconds", 2.0, 4.0, 3)
        assert (tokens.name, tokens.before, tokens.after) == ("tokens", 20.0, 40.0)
        assert tokens.ratio == pytest.approx((2.0, 2.0, 2.0))
        assert seconds.ratio is not None
        assert seconds.ratio[0] == 2.0
        assert seconds.ratio[1] == pytest.approx(0.1)

    def test_of_many_questions_in_blocks(self) -> None:
        """2,000 resamples of 10,000 questions are 160 MB for each thing that is held of them at once."""
        rng = np.random.default_rng(0)
        before, after = (
            [scored(n, {"tokens": float(rng.random()), **({"correct": 1.0} if n == 0 else {})}) for n in range(10_000)]
            for _ in range(2)
        )
        tracemalloc.start()
        (tokens,) = compare(before, after).costs
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 200e6
        assert tokens.ratio is not None
        assert 0.9 < tokens.ratio[1] < tokens.ratio[0] < tokens.ratio[2] < 1.1

    def test_no_ratio_to_nothing(self) -> None:
        before, after = ([scored(0, {"correct": 1, "tokens": tokens})] for tokens in (0.0, 50.0))
        (tokens,) = compare(before, after).costs
        assert (tokens.before, tokens.after, tokens.ratio) == (0.0, 50.0, None)

    def test_cost_is_no_measure(self) -> None:
        before, after = ([scored(0, {"correct": 1, "cost_usd": cost})] for cost in (0.1, 0.2))
        compared = compare(before, after)
        assert compared.verdict is Verdict.NO_DIFFERENCE
        assert compared.others == ()


def test_of_many_settings_one_is_not_better_by_chance() -> None:
    """8 of 8 rose: p 2/256, which alone is beyond chance, and as one of 8 that were tried is not."""
    before, after = run("recall@5", [0] * 8), run("recall@5", [1] * 8)
    assert compare(before, after).verdict is Verdict.KEEP
    other = run("recall@5", [1] * 7 + [0])
    many = compare_all(before, [after] + [other] * 7)
    assert of(many[0], "recall@5").p_holm == pytest.approx(8 * 2 / 256)
    assert {each.verdict for each in many} == {Verdict.NOT_ENOUGH}


def test_the_same_twice_is_no_difference_in_any_part_of_the_questions() -> None:
    rng = np.random.default_rng(3)
    whole = [
        scored(n, {"recall@5": rng.random(), "correct": float(rng.random() < 0.7)}, kind=f"kind {n % 5}")
        for n in range(60)
    ]
    for _ in range(5):
        half = [whole[at] for at in rng.choice(60, size=30, replace=False)]
        compared = compare(half, half)
        assert compared.verdict is Verdict.NO_DIFFERENCE
        assert {each.p for each in (*compared.headline, *compared.slices)} == {1.0}
        assert compared.changes == ()


def test_as_json_has_only_finite_numbers() -> None:
    before = [scored(n, {"correct": n % 2, "seconds": 0.0, REFUSED: 0.0}, kind="ab"[n % 2]) for n in range(4)]
    after = [scored(n, {"correct": 1.0, "seconds": 0.1, REFUSED: 1.0}, kind="ab"[n % 2]) for n in range(4)]
    shape = json.loads(json.dumps(as_shape(compare(before, after)), allow_nan=False))
    assert shape["verdict"] == "not enough questions"
    assert shape["headline"][0]["measure"] == "correct"
    assert shape["headline"][0]["needed"] > 4
    assert shape["changes"][0] == {
        "id": "q0",
        "question": "Question 0?",
        "gain": 1.0,
        "values": {"correct": {"before": 0.0, "after": 1.0}},
    }
    assert shape["costs"] == [
        {"name": "seconds", "average": "median", "before": 0.0, "after": 0.1, "ratio": None, "questions": 4}
    ]
    assert math.isclose(shape["headline"][0]["difference"], 0.5)
