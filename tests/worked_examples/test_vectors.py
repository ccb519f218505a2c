"""`mean_pooling` and `derived_rights`."""

from typing import Any

import numpy as np
import pytest

from citewell.models.onnx_network import mean_pool
from citewell.types import Principal, Rights


def test_mean_pooling_leaves_padding_out(worked: dict[str, Any]) -> None:
    example = worked["mean_pooling"]
    tokens = np.array(example["token_vectors"], dtype=np.float32)
    padded = np.concatenate([tokens, np.full((2, tokens.shape[1]), 9, dtype=np.float32)])
    mask = np.array([[1, 1, 1, 0, 0]], dtype=np.int64)
    assert mean_pool(padded[None], mask)[0] == pytest.approx(example["pooled"], abs=1e-6)


def test_derived_rights(worked: dict[str, Any]) -> None:
    example = worked["derived_rights"]
    derived = Rights.intersection(Rights(frozenset(groups)) for groups in example["sources"])
    assert derived.groups == frozenset(example["derived"])


def test_derived_rights_of_disjoint_sources_are_nobodys(worked: dict[str, Any]) -> None:
    example = worked["derived_rights"]["empty_case"]
    derived = Rights.intersection(Rights(frozenset(groups)) for groups in example["sources"])
    assert derived.groups == frozenset(example["derived"]) == frozenset()
    assert not derived.allows(Principal(groups=frozenset({"a", "b", "everyone"})))
