"""What anybody can do who has no key."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.serving import guard
from citewell.serving.app import create_app
from tests.serving.conftest import settings_at
from tests.serving.served import serving


def test_refusals_do_not_fill_the_audit_log(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "REFUSALS", 3)
    with serving(create_app(built / "index", settings_at(tmp_path))) as served:
        nobody, log = served.client(), served.service.state.folder / "audit.jsonl"
        for _ in range(8):
            assert nobody.get("/v1/documents").status_code == 401
        assert log.read_text().count('"refused"') == 3
        monkeypatch.setattr(guard, "MINUTE_S", 0.0)
        assert nobody.get("/v1/documents").status_code == 401
        assert "Unauthenticated and 5 before" in log.read_text().splitlines()[-1]
        assert served.client("root", "admin").get("/metrics").text.count('status="401"')
