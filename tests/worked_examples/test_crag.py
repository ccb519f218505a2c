"""`crag`: which of the three branches scores lead to."""

from typing import Any

from citewell.checking.grading import branch


def test_the_branch_of_each_case(worked: dict[str, Any]) -> None:
    example = worked["crag"]
    found = [branch(case["scores"], example["upper"], example["lower"]) for case in example["cases"]]
    assert found == [case["action"] for case in example["cases"]]
