"""`maxsim`."""

from typing import Any

import numpy as np
import pytest

from citewell.models.token_vectors import interaction


def test_maxsim(worked: dict[str, Any]) -> None:
    """The example sums over the query's tokens; ours is the mean."""
    example = worked["maxsim"]
    query = np.array(example["query_tokens"], np.float32)
    chunks = {name: np.array(tokens, np.float32) for name, tokens in example["chunks"].items()}
    scores = interaction(np.concatenate(list(chunks.values())) @ query.T, [len(tokens) for tokens in chunks.values()])
    assert dict(zip(chunks, scores * len(query), strict=True)) == pytest.approx(example["scores"], abs=5e-5)
