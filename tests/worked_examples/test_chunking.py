"""`chunk_count`: fixed windows."""

from typing import Any

import pytest

from citewell.chunking import windows


@pytest.mark.parametrize("case", range(5))
def test_chunk_count(worked: dict[str, Any], case: int) -> None:
    example = worked["chunk_count"]["cases"][case]

    spans = windows(example["tokens"], example["size"], example["overlap"])

    assert len(spans) == example["chunks"]
    assert {number: list(spans[int(number) - 1]) for number in example["spans"]} == example["spans"]
