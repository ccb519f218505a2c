"""`rrf`."""

from typing import Any

import pytest

from citewell.retrieval.fusion import reciprocal_rank_fusion


@pytest.mark.parametrize("case", [0, 1])
def test_rrf(worked: dict[str, Any], case: int) -> None:
    example = worked["rrf"][case]
    ranks: dict[str, list[int | None]] = example["ranks"]
    lists = {f"list {number}": _list(ranks, number) for number in range(2)}
    fused = [item for item in reciprocal_rank_fusion(lists, example["k"]) if item.id in ranks]
    assert [item.id for item in fused] == example["order"]
    assert {item.id: item.score for item in fused} == pytest.approx(example["scores"], abs=5e-7)
    assert {item.id: [item.ranks.get(name) for name in lists] for item in fused} == ranks


def _list(ranks: dict[str, list[int | None]], number: int) -> list[str]:
    """The list that gives these ranks; what the example does not name fills the gaps."""
    placed = {rank: id_ for id_, of in ranks.items() if (rank := of[number]) is not None}
    return [placed.get(rank, f"unnamed {number}.{rank}") for rank in range(1, max(placed) + 1)]
