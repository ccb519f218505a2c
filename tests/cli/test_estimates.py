"""An estimate and what could not be judged, as cells."""

from citewell.checking.judge import Failure
from citewell.cli.estimates import figures, not_judged
from citewell.evaluation.metrics import Estimate


def test_an_estimate_is_three_cells() -> None:
    assert figures(Estimate(0.5, 0.25, 0.7504, 1_234)) == ("0.500", "0.250 to 0.750", "1,234")
    assert figures(None) == ("-", "", "0")


def test_failures_are_counted_by_name() -> None:
    assert not_judged({Failure.TIME_OUT: 3, Failure.REFUSAL: 1}) == "4: 3 time-out, 1 refusal"
    assert not_judged({}) == ""
