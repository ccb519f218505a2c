"""The worked sums, loaded from the copy in this folder."""

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def worked() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(Path(__file__).with_name("worked-examples.json").read_text(encoding="utf-8"))
    return loaded
