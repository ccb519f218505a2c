"""Settings tried in an evaluation: what a caller of the service may change, and what never."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from citewell.serving.overrides import Overrides
from citewell.settings import Security, Settings

ALLOWED = Settings(security=Security(web="allow", web_url="https://searx.example/search", as_groups=("staff",)))


@pytest.mark.parametrize("tried", [{}, {"generation": {"check": "rules", "check_upper": 1.0}}, {"retrieval": {}}])
def test_what_is_tried_is_not_sent_to_the_web(tried: dict[str, Any]) -> None:
    security = Overrides.model_validate(tried).over(ALLOWED).security
    assert security == ALLOWED.security.model_copy(update={"web": "deny"})


def test_no_caller_switches_the_web_on() -> None:
    with pytest.raises(ValidationError, match="security"):
        Overrides.model_validate({"security": {"web": "allow", "web_url": "https://searx.example/search"}})
