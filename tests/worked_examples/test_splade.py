"""`splade`. The example has no number for FLOPS, which is what training keeps low; nothing here trains."""

from typing import Any

import numpy as np
import pytest

from citewell.models.splade import max_pool, sum_pool


def test_splade(worked: dict[str, Any]) -> None:
    example = worked["splade"]
    logits = np.array(example["logits"], np.float32)
    assert max_pool(logits) == pytest.approx(example["weights"], abs=1e-6)
    # Summed, the second token adds log(1.5) to the first word; to the others one token alone gives anything.
    expected = [example["weights"][0] + np.log(1.5), 0, *example["weights"][2:]]
    assert sum_pool(logits) == pytest.approx(expected, abs=1e-6)
