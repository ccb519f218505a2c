"""`chunk_count`: fixed windows. `semantic_split`: cuts between sentences."""

from typing import Any

import pytest

from citewell.chunking import windows
from citewell.chunking.semantic import split_after


@pytest.mark.parametrize("case", range(5))
def test_chunk_count(worked: dict[str, Any], case: int) -> None:
    example = worked["chunk_count"]["cases"][case]

    spans = windows(example["tokens"], example["size"], example["overlap"])

    assert len(spans) == example["chunks"]
    assert {number: list(spans[int(number) - 1]) for number in example["spans"]} == example["spans"]


@pytest.mark.parametrize("deviations", [1, 2])
def test_semantic_split(worked: dict[str, Any], deviations: int) -> None:
    example = worked["semantic_split"]

    assert split_after(example["distances"], deviations) == example[f"split_after_{deviations}_sigma"]
