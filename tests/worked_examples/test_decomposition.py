"""`decomposition`: one question of four, their lists joined. (Its prompt is in `test_cost`.)"""

from datetime import date
from typing import Any

from citewell.queries.decomposition import parts
from citewell.queries.joining import joined

QUESTION = (
    "For a payment declined with code R-17, how many days does the customer have to dispute it, "
    "and what chargeback fee applies to a business card, under the 2025 and the 2026 manuals?"
)
TODAY = date(2026, 10, 20)


def test_the_question_has_four_parts_each_asked_as_of_its_manual() -> None:
    found = parts(QUESTION, TODAY)
    assert [part.as_of for part in found] == [date(2025, 12, 31), TODAY] * 2
    assert ["dispute" in part.text for part in found] == [True, True, False, False]
    assert ["chargeback fee" in part.text for part in found] == [False, False, True, True]
    assert all("R-17" in part.text for part in found)


def test_their_lists_are_joined_and_each_chunk_counts_once(worked: dict[str, Any]) -> None:
    example = worked["decomposition"]
    lists: list[list[str]] = example["lists"]
    found = joined(lists, key=str)
    assert sum(map(len, lists)) == example["retrieved"]
    assert len(found) == len(set(found)) == example["unique"]
    assert found[:4] == ("2025/4.2", "2026/4.2", "2025/4.5", "2026/4.5")
